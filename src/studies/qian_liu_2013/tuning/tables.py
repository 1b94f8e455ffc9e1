"""Tables that compare the published search with the tuned search, on the same scores and the same sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site import frames, ratios
from studies.site.collect import Results
from studies.site.rows import AT, at, configurations, corpora_of
from treebound.core.errors import InputError


def tunings(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the work of the published configuration and of every tuned one on the same scores and sentences.

    There is one row for each corpus (its name contains the run) and decoder, with the published configuration first.
    Columns: sentences, `of` (size of the test set), certified, dp_calls, nodes and seconds (means per sentence), uas,
    las. A corpus is left out if its configurations decoded different numbers of sentences, since the published
    configuration can be limited to a part. Raises InputError if no corpus remains.
    """
    keep = corpora_of(results, wanted)
    rows = []
    for r in results:
        decoded, seconds = frames.decode(r).set_index(AT), frames.benchmark(r).set_index(AT)["cpu_s"]
        whole = frames.convert(r).query("split == 'test'").set_index("corpus")["sentences"]
        for corpus in keep[r.name]:
            for run in configurations(r.params):
                metrics = decoded.loc[at(corpus, run)]
                n = metrics["sentences"]
                rows.append(
                    {
                        "corpus": r.place(corpus),
                        "decoder": run.decoder,
                        "sentences": int(n),
                        "of": int(r.params.limit("test") or whole[corpus]),
                        "certified": int(metrics["certified"]),
                        "dp_calls": metrics["dp_calls"] / n,
                        "nodes": metrics["nodes"] / n,
                        "seconds": seconds[at(corpus, run)] / n,
                        "uas": metrics["uas"],
                        "las": metrics["las"],
                    }
                )
    data = pd.DataFrame(rows)
    comparable = data.groupby("corpus", sort=False)["sentences"].transform("nunique") == 1
    if not comparable.any():
        raise InputError("in no corpus did the configurations decode the same sentences", path="params.yaml")
    return data[comparable].reset_index(drop=True)


def tuning_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `tunings`, and for each tuned row the published search's work divided by the row's work."""
    names = {"dp_calls": "DP calls", "nodes": "nodes", "ms": "ms"}
    data = data.assign(ms=1e3 * data["seconds"])
    columns = {
        ("", "proved optimal"): data["certified"],
        ("", "UAS"): data["uas"],
    }
    if data["las"].notna().any():
        columns["", "LAS"] = data["las"]
    first = data.groupby("corpus", sort=False)[list(names)].transform("first")  # the published search
    tuned = data["corpus"].duplicated()
    for column, name in names.items():
        columns["per sentence", name] = data[column]
    for column, name in names.items():
        columns["times less than published", name] = (first[column] / data[column]).where(tuned)
    index = pd.MultiIndex.from_arrays([data["corpus"], data["decoder"]], names=["corpus", "configuration"])
    return pd.DataFrame(columns).set_axis(index)


def tuned_sentences(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the DP calls of every sentence under the published configuration and the first tuned one.

    Columns: corpus; one for each decoder; proved (by both configurations); same (both trees have the same score). There
    are no rows for a reference that is committed without its sentences.
    """
    published, tuned = configurations(results.params)[:2]
    parts = []
    if not results.keeps_sentences:
        return pd.DataFrame(columns=["corpus", published.decoder, tuned.decoder, "proved", "same"])
    for corpus in corpora_of([results], wanted)[results.name]:
        a, b = frames.sentences(results, corpus, published), frames.sentences(results, corpus, tuned)
        proved = (a["status"] == "optimal") & (b["status"] == "optimal")
        calls = {published.decoder: a["dp_calls"], tuned.decoder: b["dp_calls"]}
        parts.append(pd.DataFrame({"corpus": corpus, **calls, "proved": proved, "same": a["value"] == b["value"]}))
    return pd.concat(parts, ignore_index=True)


def call_ratios(data: pd.DataFrame) -> pd.DataFrame:
    """Return how many times the DP calls of the tuned search the published search needs, by corpus. May have no rows.

    data  result of `tuned_sentences`

    Rows: corpora. Columns: sentences; DP calls per sentence of both searches; the ratio of the means; the ends of the
    95 % interval of the ratio (low, high; `site.ratios.of_means`).
    """
    published, tuned = data.columns[1:3]
    rows = {}
    for corpus, sentences in data.groupby("corpus", sort=False):
        calls = [sentences[name].astype(float) for name in (published, tuned)]
        rows[corpus] = {"sentences": len(sentences), published: calls[0].mean(), tuned: calls[1].mean()}
        rows[corpus] |= ratios.of_means([(calls[0], calls[1])])._asdict()
    columns = ["sentences", published, tuned, "value", "low", "high"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename(columns={"value": "ratio"}).rename_axis("corpus")
