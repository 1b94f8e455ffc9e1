"""Sentences about the tables of transition-based parsing, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

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
    data = data[(data["share"] == 100) & (data["missing"] == "")] if len(data) else data
    if not len(data):
        return Remarks((HOW,))
    said = []
    for (run, corpus), of in data.groupby(["run", "corpus"], sort=False):
        best, fast = of.loc[of["las"].idxmax()], of.loc[of["train_cpu_s"].idxmin()]
        said.append(
            f"On {corpus} ({run}) {best['learner']} with {best['features']} labels most words rightly, "
            f"{best['las']:.2f} LAS ({best['uas']:.2f} UAS), after {best['train_cpu_s']:.0f} CPU s of training; "
            f"{fast['learner']} with {fast['features']} trains in {fast['train_cpu_s']:.1f} s and reaches "
            f"{fast['las']:.2f}."
        )
        for learner, its in of.groupby("learner", sort=False):
            first, last = its.iloc[0], its.iloc[-1]
            said.append(
                f"{learner}: {last['las'] - first['las']:+.2f} LAS from {first['features']} to {last['features']}."
            )
    return Remarks(tuple(said))


def parsers(data: pd.DataFrame) -> Remarks:
    """About `tables.classifiers.parsers`."""
    if data["not installed"].astype(bool).any():
        return Remarks(("A row without figures needs a package: make classifiers, and run its stages again.",))
    return Remarks(()) if len(data) else Remarks(("No row of params.yaml parses by transitions.",))


def mended(data: pd.DataFrame, corpus: str) -> Remarks:
    """About `tables.classifiers.mended`."""
    return Remarks(
        tuple(
            f"On {corpus}, of {row['errors of greedy']:.0f} words that the greedy parser attaches wrongly, {name} "
            f"attaches {row['of these mended, %']:.1f} % rightly, and makes {row['new errors']:.0f} errors of its own."
            for name, row in data.iterrows()
        )
    )


def linear(data: pd.DataFrame) -> Remarks:
    """About a table of times by length: how the time grows from the shortest to the longest."""
    short, long = data.iloc[0], data.iloc[-1]
    words = data.index[-1] / data.index[0]
    return Remarks(
        tuple(
            f"{name}: {words:.0f} times the words take {long[name] / short[name]:.1f} times the time."
            for name in data.columns
        )
    )
