"""Stage: time the rows of a corpus on one core.

The stage never runs at the same time as another stage. The time is measured from features to heads, without reading
files, loading the model and compiling. The sentences are parsed several times for each row, after a warm-up. The
medians are reported with the lowest and the highest value of the repeats.
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

#: largest sentence length of each bin of the curves
BINS = (10, 20, 30, 40, 50, 60)
WARM_UP = 5


def measure(params: Params, corpus: str, row: Row) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the benchmark of a row, and a table with the seconds per sentence (median over repeats).

    The table has no column of seconds if the system does not time single sentences.
    """
    test = sentences(params, corpus, row)
    loaded = trainer(row.system).load(params, corpus, row, model_file(corpus, row.trained))
    loaded.parse(test.select(np.arange(min(WARM_UP, len(test)))))
    results: list[Any] = []
    runs = timing.measure(
        lambda: results.append(loaded.parse(test)), repeats=params.benchmark.repeats, seconds=params.benchmark.seconds
    )
    metrics = {**row.key, "words": test.words, "sentences": len(test), **timing.speed(runs, test.words)}
    work = [loaded.work(repeat) for repeat in results]
    table = pd.DataFrame({"row": row.name, "sentence": range(len(test)), "n": test.lengths, **work[-1]})
    if work[-1]:
        table["seconds"] = np.median([repeat["seconds"] for repeat in work], axis=0)
        metrics |= {name: int(table[name].sum()) for name in ("dp_calls", "nodes", "certified")}
        metrics["by_length"] = by_length(table)
    return metrics, table


def by_length(table: pd.DataFrame) -> list[dict]:
    """Return mean seconds and dynamic-program calls for each bin of sentence lengths; empty bins are left out."""
    edges = (0, *BINS, max(int(table["n"].max()), BINS[-1] + 1))
    bins = []
    for lo, hi in itertools.pairwise(edges):
        in_bin = table[(table["n"] > lo) & (table["n"] <= hi)]
        if len(in_bin):
            means = {"mean_s": float(in_bin["seconds"].mean()), "mean_dp_calls": float(in_bin["dp_calls"].mean())}
            bins.append({"lo": lo + 1, "hi": hi, "sentences": len(in_bin), **means})
    return bins


def run(params: Params, corpus: str) -> None:
    """Write the benchmark of a corpus and the seconds per sentence. Raises InputError if no row is timed."""
    rows = [row for row in params.rows_of(corpus) if row.benchmarked]
    if not rows:
        raise InputError(f"no row is timed on {corpus}", hint="set `timed: true` for a row in params.yaml")
    results = [measure(params, corpus, row) for row in rows]
    tables = pd.concat([table for _, table in results], ignore_index=True)
    path = stage.PREDICTIONS / corpus / "benchmark.csv"
    stage.write(path, tables.to_csv(index=False, lineterminator="\n"))
    stage.write_metrics(stage.METRICS / "benchmark" / f"{corpus}.json", [row for row, _ in results])


if __name__ == "__main__":
    stage.main(run)
