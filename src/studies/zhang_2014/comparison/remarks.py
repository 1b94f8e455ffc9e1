"""Sentences about parsers that sample, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.collect import title
from studies.site.sentences import (
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    each,
    from_to,
    how_many_corpora,
    seeds_in_words,
    significance_counts,
    span,
    who_is_better,
)
from studies.site.show import Remarks

SIDES = ("the first parser is", "the second")  #: the two parsers of a pair in the sentences that count many pairs


def gains(compared: pd.DataFrame, table: pd.DataFrame) -> Remarks:
    """Describe which parser of a pair is more accurate, by the 95 % interval of the difference.

    compared  `tables.compared`; if it is empty, because no run stores its sentences, the accuracies are described
    table     `tables.accuracy`
    """
    return _gains(compared) if len(compared) else accuracies(table)


@about("No run here has a parser that samples: see rows with `system: sampling` under `decode:` in params.yaml.")
def accuracies(table: pd.DataFrame) -> Sentences:
    """Name the most accurate sampling parsers. table: `tables.accuracy`."""
    sampled = table.filter(like="sampling").dropna(how="all").drop(index="mean", level="corpus", errors="ignore")
    best = sampled.astype(float).idxmax(axis=1)
    values = sampled.astype(float).max(axis=1)
    labels = [f"{parser}, {corpus}, {run}" for (run, corpus), parser in best.items()]
    yield (
        f"The most accurate parser that samples has a UAS of {span(values.set_axis(labels))}. {ONE_SEED} {UNTESTED}",
        sampled,
    )


@about()
def _gains(data: pd.DataFrame) -> Sentences:
    """Describe the first pair of rows in each run, and count the significant differences of all pairs.

    The tables of the page list the differences corpus by corpus.
    """
    for run, rows in each(data, "run"):
        first = rows.index.get_level_values("pair")[0]
        pair = rows.xs(first, level="pair")
        sides = first.split(" minus ")
        better = who_is_better(pair, f"The parser {sides[0]} is", sides[1], ("on", "corpora"))
        yield (
            f"UAS of {' minus UAS of '.join(sides)} ({title(run)}): {span(pair['difference'], '{:+.2f}')}. {better} "
            f"(95 % intervals; {seeds_in_words(pair['seeds'])}).",
            pair,
        )
    for run, rows in each(data, "run"):
        pairs = rows.index.get_level_values("pair").nunique()
        yield f"In all {pairs} pairs of parsers ({title(run)}), {significance_counts(rows, *SIDES)}", rows


@about()
def proofs(shares: pd.Series) -> Sentences:
    """Say which share of the trees of exact search is proved to be optimal. shares: `tables.proved`."""
    for parser, rows in each(shares, "parser"):
        corpora = how_many_corpora(rows.index.unique("corpus"))
        yield f"Of the trees of {parser}, {from_to(rows, '{:.1f}')} % are proved to be optimal ({corpora}).", rows
