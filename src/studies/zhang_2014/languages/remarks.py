"""Sentences about parsers that sample on many treebanks, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import (
    Sentences,
    about,
    difference,
    seeds_in_words,
    significance_counts,
    span,
    who_is_better,
    wins,
)
from studies.zhang_2014.comparison.remarks import SIDES

NO_LANGUAGES = "The reference run has no such part yet (`make reference`)."


@about(NO_LANGUAGES)
def languages(means: pd.DataFrame, gained: pd.DataFrame, table: pd.DataFrame) -> Sentences:
    """Describe the gain of the first pair, count the gains of all pairs, and attribute errors to search or model.

    means   `tables.means`; its first row is the pair that the first sentence describes
    gained  `tables.gains`
    table   `tables.accuracy`
    """
    pair, mean = means.index[0], means.iloc[0]
    rows = gained.xs(pair, level="pair")
    first, _, second = pair.partition(" minus ")
    verdicts = {(1, 0): "significantly above zero", (0, 1): "significantly below zero", (0, 0): "not significant"}
    yield (
        f"UAS of {first} minus UAS of {second}, mean of {mean['languages']:.0f} languages "
        f"({mean['treebanks']:.0f} treebanks): {difference(mean)} (95 % interval, random effects of languages; "
        f"{seeds_in_words(rows['seeds'])}). The mean difference is {verdicts[wins(means.iloc[:1])]}, and {first} is "
        f"ahead in {mean['ahead']:.0f} of {mean['languages']:.0f} languages.",
        means,
    )
    by_interval = who_is_better(means[["difference", "low", "high"]], *SIDES, ("in", "pairs"))
    yield (
        f"In the mean over languages, {by_interval} (95 % intervals). Treebank by treebank "
        f"(95 % intervals), {significance_counts(gained, *SIDES)}",
        gained,
    )
    errors = table["search errors, %"].droplevel("language")
    yield (
        "An error is due to the search if the gold tree scores more than the returned tree: in "
        f"{span(errors, '{:.1f} %')} of the sentences of a treebank. The other errors are due to the model, which "
        "scores a wrong tree above the gold tree, or to a gold tree that no search can reach, because its arcs cross "
        "or were pruned.",
        table,
    )
