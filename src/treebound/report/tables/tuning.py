"""The published search against the tuned one, on the same scores and the same sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from treebound.core.errors import InputError
from treebound.report.collect import Results
from treebound.report.tables.rows import configurations, corpora_of


def tunings(results: Sequence[Results], wanted: Sequence[str] = ()) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both configurations over the sentences that both decoded, in every run that keeps results by sentence.

    Returns (summary, sentences). Summary: one row a corpus (its name says the run) and configuration: sentences,
    certified, means of dp_calls, nodes and seconds, the largest dp_calls, uas, and `worse`: the sentences whose tree
    scores less than the other configuration's. Sentences: corpus, and DP calls of published and tuned.
    """
    keep = corpora_of(results, wanted)
    rows: list[dict] = []
    dots = []
    for r in results:
        if not r.has_sentences:
            continue
        pair = configurations(r.params)
        for corpus in keep[r.name]:
            name = f"{corpus}, {r.name}"
            found = {
                key: r.sentences(corpus, run).join(r.timed_sentences(corpus, run)[["seconds"]])
                for key, run in pair.items()
            }
            common = found["published"].index.intersection(found["tuned"].index)
            if common.empty:
                raise InputError(f"{name}: the two configurations share no sentence", path="params.yaml")
            found = {key: data.loc[common] for key, data in found.items()}
            for key, other in (("published", "tuned"), ("tuned", "published")):
                rows.append({"corpus": name, "decoder": key, **_summary(found[key], found[other])})
            dots.append(pd.DataFrame({"corpus": name} | {key: data["dp_calls"] for key, data in found.items()}))
    if not rows:
        raise InputError("no run keeps its results by sentence", path="results/predictions", hint="run `dvc repro`")
    return pd.DataFrame(rows), pd.concat(dots, ignore_index=True)


def _summary(data: pd.DataFrame, other: pd.DataFrame) -> dict[str, float]:
    return {
        "sentences": len(data),
        "certified": int((data["status"] == "optimal").sum()),
        "worse": int((data["value"] < other["value"]).sum()),
        "dp_calls": data["dp_calls"].mean(),
        "most_dp_calls": int(data["dp_calls"].max()),
        "nodes": data["nodes"].mean(),
        "seconds": data["seconds"].mean(),
        "uas": 100 * data["correct"].sum() / max(data["scored"].sum(), 1),
    }


def tuning_table(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary of `tunings` with one row for the ratio of each pair. Index (corpus, configuration)."""
    rows = []
    for corpus, data in summary.groupby("corpus", sort=False):
        pair = data.set_index("decoder")
        for name in ("published", "tuned"):
            row = pair.loc[name]
            rows.append(
                {
                    "corpus": corpus,
                    "configuration": name,
                    "sentences": int(row["sentences"]),
                    "proved optimal": int(row["certified"]),
                    "DP calls": row["dp_calls"],
                    "most DP calls": int(row["most_dp_calls"]),
                    "nodes": row["nodes"],
                    "ms": 1e3 * row["seconds"],
                    "UAS": row["uas"],
                }
            )
        work = pair[["dp_calls", "most_dp_calls", "nodes", "seconds"]]
        ratio = work.loc["published"] / work.loc["tuned"]
        times = {"DP calls": ratio["dp_calls"], "most DP calls": ratio["most_dp_calls"], "nodes": ratio["nodes"]}
        ratios = {column: f"{value:.1f} ×" for column, value in (times | {"ms": ratio["seconds"]}).items()}
        rows.append(dict.fromkeys(rows[-1], "") | {"corpus": corpus, "configuration": "published / tuned"} | ratios)
    return pd.DataFrame(rows).set_index(["corpus", "configuration"])
