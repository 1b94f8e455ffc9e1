"""Sentences about parsers that sample, generated from the data of the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site.collect import Results
from studies.site.sentences import Sentences, about, each, ranked, seeds_in_words, significance_text, span
from studies.site.show import Remarks
from studies.zhang_2014.comparison import tables

LEVEL = 0.01  #: significance level that the sentences about gains use


def gains(results: Sequence[Results]) -> Remarks:
    """Describe which parser of a pair is more accurate, with McNemar's test over words.

    If no run stores its sentences, describe the accuracies alone.
    """
    data = pd.concat({r.name: tables.gains(r, tables.PAIRS) for r in results}, names=["run"])
    return _gains(data) if len(data) else accuracies(tables.accuracy(results))


@about("No run here has a parser that samples: see rows with `system: sampling` under `decode:` in params.yaml.")
def accuracies(table: pd.DataFrame) -> Sentences:
    """Describe `tables.accuracy`: the UAS of every parser, the highest first."""
    sampled = table[table.filter(like="sampling").notna().any(axis=1)]
    for (run, corpus), row in sampled.drop(index="mean", level="corpus", errors="ignore").iterrows():
        yield f"UAS on {corpus} ({run}): {ranked(row)}", row


@about()
def _gains(data: pd.DataFrame) -> Sentences:
    """Describe the differences of each pair of rows in each run."""
    for (run, row, other), rows in each(data, ["run", "row", "other"]):
        yield (
            f"UAS of {row} against {other} ({run}; 95 % intervals of a bootstrap over sentences and McNemar's p; "
            f"words: {span(rows['words'], '{:,.0f}')}; {seeds_in_words(rows['seeds'])}): "
            f"{significance_text(rows, LEVEL)}.",
            rows,
        )
