"""Sentences about the tables of transition-based parsing, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.sentences import ONE_SEED, Said, about, each
from treebound.report.show import Remarks

HOW = (
    "No run here compares classifiers, which the default run leaves out: list corpora under `classifiers:` in "
    "params.yaml (after `make classifiers`)."
)
NO_SENTENCES = Remarks(
    ("No run here has the sentences of parsers by transitions: run `python -m treebound.experiments.run`.",)
)
NO_MODEL = Remarks(("No run here has a model of a parser by transitions: run `python -m treebound.experiments.run`.",))


def accuracy(data: pd.DataFrame) -> Remarks:
    """About `tables.classifiers.summed`: who is ahead, and at what cost."""
    return _accuracy(data[(data["share"] == 100) & (data["missing"] == "")] if len(data) else data)


@about(HOW)
def _accuracy(data: pd.DataFrame) -> Said:
    for (run, corpus), of in each(data, ["run", "corpus"]):
        best, fast = of.loc[of["las"].idxmax()], of.loc[of["train_cpu_s"].idxmin()]
        yield (
            f"On {corpus} ({run}) {best['learner']} with {best['features']} labels most words rightly, "
            f"{best['las']:.2f} LAS ({best['uas']:.2f} UAS), after {best['train_cpu_s']:.0f} CPU s of training; "
            f"{fast['learner']} with {fast['features']} trains in {fast['train_cpu_s']:.1f} s and reaches "
            f"{fast['las']:.2f}.",
            of,
        )
        for learner, its in each(of, "learner"):
            first, last = its.iloc[0], its.iloc[-1]
            gain = last["las"] - first["las"]
            yield f"{learner}: {gain:+.2f} LAS from {first['features']} to {last['features']}.", its
    yield f"{ONE_SEED} McNemar's test is in the table of heads."


def parsers(data: pd.DataFrame) -> Remarks:
    """About `tables.classifiers.parsers`."""
    if data["not installed"].astype(bool).any():
        return Remarks(("A row without figures needs a package: make classifiers, and run its stages again.",))
    return Remarks(()) if len(data) else Remarks(("No row of params.yaml parses by transitions.",))


@about()
def mended(data: pd.DataFrame, corpus: str) -> Said:
    """About `tables.classifiers.mended`."""
    for name, row in data.iterrows():
        yield (
            f"On {corpus}, of {row['errors of greedy']:.0f} words that the greedy parser attaches wrongly, {name} "
            f"attaches {row['of these mended, %']:.1f} % rightly, and makes {row['new errors']:.0f} errors of its own.",
            row,
        )


@about()
def linear(data: pd.DataFrame) -> Said:
    """About a table of times by length: how the time grows from the shortest to the longest."""
    words, growth = data.index[-1] / data.index[0], data.iloc[-1] / data.iloc[0]
    for name in data.columns:
        yield f"{name}: {words:.0f} times the words take {growth[name]:.1f} times the time."
