"""The published search against the tuned one, on the same scores and the same sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import AT, at, configurations, corpora_of
from treebound.core.errors import InputError


def tunings(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Work of the published configuration and of every tuned one, which all decoded the same scores and sentences.

    One row a corpus (its name says the run) and decoder, published first: sentences, `of` the test set, certified,
    dp_calls, nodes and seconds (means of a sentence), uas, las. A corpus in which they decoded different numbers of
    sentences (the published configuration can be given a part) is left out; InputError where that leaves nothing.
    """
    keep = corpora_of(results, wanted)
    rows = []
    for r in results:
        decoded, seconds = frames.decode(r).set_index(AT), frames.benchmark(r).set_index(AT)["cpu_s"]
        whole = frames.convert(r).query("split == 'test'").set_index("corpus")["sentences"]
        for corpus in keep[r.name]:
            for run in configurations(r.params):
                found = decoded.loc[at(corpus, run)]
                n = found["sentences"]
                rows.append(
                    {
                        "corpus": f"{corpus}, {r.name}",
                        "decoder": run.decoder,
                        "sentences": int(n),
                        "of": int(r.params.limit("test") or whole[corpus]),
                        "certified": int(found["certified"]),
                        "dp_calls": found["dp_calls"] / n,
                        "nodes": found["nodes"] / n,
                        "seconds": seconds[at(corpus, run)] / n,
                        "uas": found["uas"],
                        "las": found["las"],
                    }
                )
    data = pd.DataFrame(rows)
    same = data.groupby("corpus", sort=False)["sentences"].transform("nunique") == 1
    if not same.any():
        raise InputError("in no corpus did the configurations decode the same sentences", path="params.yaml")
    return data[same].reset_index(drop=True)


def tuning_table(data: pd.DataFrame) -> pd.DataFrame:
    """`tunings` and, for each tuned row, the published figure divided by its own."""
    names = {"dp_calls": "DP calls", "nodes": "nodes", "ms": "ms"}
    data = data.assign(ms=1e3 * data["seconds"])
    out = {
        ("", "sentences"): data["sentences"],
        ("", "proved optimal"): data["certified"],
        ("", "UAS"): data["uas"],
    }
    if data["las"].notna().any():
        out["", "LAS"] = data["las"]
    first = data.groupby("corpus", sort=False)[list(names)].transform("first")  # published
    tuned = data["corpus"].duplicated()
    for column, name in names.items():
        out["per sentence", name] = data[column]
    for column, name in names.items():
        out["published / this", name] = (first[column] / data[column]).where(tuned)
    index = pd.MultiIndex.from_arrays([data["corpus"], data["decoder"]], names=["corpus", "configuration"])
    return pd.DataFrame(out).set_axis(index)


def tuned_sentences(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """DP calls of every sentence under the published configuration and the first tuned one, and whether both agree.

    Columns corpus, one a decoder, proved (by both) and same (the trees have the same score). No rows of a reference
    that is committed without its sentences.
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
