"""Stage: time every row of a corpus on one core. Runs alone, never beside another stage.

Measured from features to heads; reading files, loading the model and compiling are left out. Each row is parsed
several times after a warm-up; medians are reported with the lowest and highest repeat.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from treebound.core.parse import Parse
from treebound.evaluation import timing
from treebound.experiments import stage
from treebound.experiments.decode import parser, sentences
from treebound.experiments.params import Params, Run

#: last sentence length of each bin of the curves
BINS = (10, 20, 30, 40, 50, 60)
WARM_UP = 5


def measure(params: Params, corpus: str, run: Run) -> tuple[dict, pd.DataFrame]:
    """A row of the benchmark and its seconds a sentence (median over repeats)."""
    test, parse = sentences(params, corpus, run), parser(params, corpus, run).parse
    parse(test.select(np.arange(min(WARM_UP, len(test)))))
    found: list[list[Parse]] = []
    runs = timing.measure(
        lambda: found.append(parse(test)), repeats=params.benchmark.repeats, seconds=params.benchmark.seconds
    )
    parses = found[-1]
    table = pd.DataFrame(
        {
            "sentence": range(len(test)),
            "n": test.lengths,
            "seconds": np.median([[sum(p.seconds.values()) for p in repeat] for repeat in found], axis=0),
            "dp_calls": [p.work.get("dp_calls", 0) for p in parses],
            "nodes": [p.work.get("nodes", 0) for p in parses],
        }
    )
    row = {
        "model": run.model,
        "learner": run.learner,
        "decoder": run.decoder,
        "k": str(run.k),
        "words": test.words,
        "sentences": len(test),
        **timing.speed(runs, test.words),
        "dp_calls": int(table["dp_calls"].sum()),
        "nodes": int(table["nodes"].sum()),
        "certified": sum(p.certified for p in parses),
        "by_length": by_length(table),
    }
    for name in ("k", "decoder", "learner", "model"):
        table.insert(0, name, row[name])
    return row, table


def by_length(table: pd.DataFrame) -> list[dict]:
    """Mean seconds and DP calls of the sentences of each length bin; empty bins are left out."""
    edges = (0, *BINS, max(int(table["n"].max()), BINS[-1] + 1))
    out = []
    for lo, hi in itertools.pairwise(edges):
        some = table[(table["n"] > lo) & (table["n"] <= hi)]
        if len(some):
            means = {"mean_s": float(some["seconds"].mean()), "mean_dp_calls": float(some["dp_calls"].mean())}
            out.append({"lo": lo + 1, "hi": hi, "sentences": len(some), **means})
    return out


def run(params: Params, corpus: str) -> None:
    """Write the benchmark of a corpus and its seconds a sentence."""
    results = [measure(params, corpus, row) for row in params.decode]
    tables = pd.concat([table for _, table in results], ignore_index=True)
    stage.write(stage.PREDICTIONS / corpus / "benchmark.csv", tables.to_csv(index=False, lineterminator="\n"))
    stage.write_json(stage.METRICS / "benchmark" / f"{corpus}.json", [row for row, _ in results])


if __name__ == "__main__":
    stage.main(run)
