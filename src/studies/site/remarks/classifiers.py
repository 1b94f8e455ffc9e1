"""Sentences about the tables of transition-based parsing, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, Said, about, each, listing, ranked, share, span

HOW = (
    "No run here compares classifiers, which the default run leaves out: list corpora under `classifiers:` in "
    "params.yaml (after `make classifiers`)."
)
NOT_KEPT = "No run here has {} of parsers by transitions: run `python -m studies.pipeline.run`."


@about(HOW)
def accuracy(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.classifiers.summed`: who is ahead, and at what cost; tests: `tables.classifiers.significance`."""
    whole = data[(data["share"] == 100) & (data["missing"] == "")]
    for (run, corpus), of in each(whole, ["run", "corpus"]):
        best = of.loc[of["las"].idxmax()]
        won = tests[tests["better"] == best["learner"]].index
        pairs = [key[3:] for key in won if key[:3] == (run, corpus, best["features"])]
        ahead = [learner for pair in pairs for learner in pair if learner != best["learner"]]
        seconds = of[of["features"] == best["features"]].set_index("learner")["train_cpu_s"]
        yield (
            f"On {corpus} {best['learner']} with {best['features']} labels most words rightly, {best['las']:.2f} LAS; "
            f"its heads are better than those of {listing(ahead, 'nobody')} with the same "
            f"features (McNemar's test, p < 0.01). Training with {best['features']} takes "
            f"{span(seconds, '{:,.0f} CPU s')} ({run}; one training each).",
            of,
        )


@about("No row of params.yaml parses by transitions.")
def parsers(data: pd.DataFrame) -> Said:
    """About `tables.classifiers.parsers`."""
    for (run, corpus), of in each(data, ["run", "corpus"]):
        yield f"UAS on {corpus} ({run}): {ranked(of['UAS'].astype(float))}", of


@about(NOT_KEPT.format("the sentences"))
def mended(data: pd.DataFrame, corpus: str) -> Said:
    """About `tables.classifiers.mended`."""
    for name, row in data.iterrows():
        of = int(row["errors of greedy"])
        yield (
            f"On {corpus} {name} mends {share(round(of * row['of these mended, %'] / 100), of)} words that the greedy "
            f"parser attaches wrongly (95 % interval over words), and makes {row['new errors']:.0f} errors of its own. "
            f"{ONE_SEED}",
            row,
        )


@about(NOT_KEPT.format("a model"))
def linear(data: pd.DataFrame) -> Said:
    """About a table of times by length: how the time grows from the shortest to the longest."""
    words, growth = data.index[-1] / data.index[0], data.iloc[-1] / data.iloc[0]
    yield f"{words:.0f} times the words take {span(growth, '{:.1f}')} times the time."
