"""Sentences about parsers by transitions, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, Said, about, each, ranked, share, span

NOT_KEPT = "No run here has {} of parsers by transitions: run `python -m studies.pipeline.run`."


@about("No row of params.yaml parses by transitions.")
def parsers(data: pd.DataFrame) -> Said:
    """About `tables.parsers`."""
    for (run, corpus), of in each(data, ["run", "corpus"]):
        yield f"UAS on {corpus} ({run}): {ranked(of['UAS'].astype(float))}", of


@about(NOT_KEPT.format("the sentences"))
def mended(data: pd.DataFrame, corpus: str) -> Said:
    """About `tables.mended`."""
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
