"""Stage: time the rows of a corpus, on one core. Runs alone, never beside another stage.

Measured from features to heads; reading files, loading the model and compiling are left out. Each row is parsed
several times after a warm-up; medians are reported with the lowest and highest repeat.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.params import Params, Row
from studies.common.paths import model_file
from studies.pipeline.decode import sentences
from studies.pipeline.trainers import trainer
from treebound.core.errors import InputError
from treebound.metrics import timing

#: last sentence length of each bin of the curves
BINS = (10, 20, 30, 40, 50, 60)
WARM_UP = 5


def measure(params: Params, corpus: str, row: Row) -> tuple[dict[str, Any], pd.DataFrame]:
    """A row of the benchmark and its seconds a sentence (median over repeats); none of a system that tells none."""
    test = sentences(params, corpus, row)
    loaded = trainer(row.system).load(params, corpus, row, model_file(corpus, row.trained))
    loaded.parse(test.select(np.arange(min(WARM_UP, len(test)))))
    found: list[Any] = []
    runs = timing.measure(
        lambda: found.append(loaded.parse(test)), repeats=params.benchmark.repeats, seconds=params.benchmark.seconds
    )
    out = {**row.key, "words": test.words, "sentences": len(test), **timing.speed(runs, test.words)}
    work = [loaded.work(repeat) for repeat in found]
    table = pd.DataFrame({"row": row.name, "sentence": range(len(test)), "n": test.lengths, **work[-1]})
    if work[-1]:
        table["seconds"] = np.median([repeat["seconds"] for repeat in work], axis=0)
        out |= {name: int(table[name].sum()) for name in ("dp_calls", "nodes", "certified")}
        out["by_length"] = by_length(table)
    return out, table


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
    rows = [row for row in params.rows_of(corpus) if row.benchmarked]
    if not rows:
        raise InputError(f"no row is timed on {corpus}", hint="give rows `timed: true`")
    results = [measure(params, corpus, row) for row in rows]
    tables = pd.concat([table for _, table in results], ignore_index=True)
    where = stage.PREDICTIONS / corpus / "benchmark.csv"
    stage.write(where, tables.to_csv(index=False, lineterminator="\n"))
    stage.write_metrics(stage.METRICS / "benchmark" / f"{corpus}.json", [row for row, _ in results])


if __name__ == "__main__":
    stage.main(run)
