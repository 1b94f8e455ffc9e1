"""Sentences about parsers that sample on many treebanks, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, difference, each, seeds_in_words, significance_text, span
from studies.zhang_2014.comparison.remarks import LEVEL

NO_LANGUAGES = "The reference run has no such part yet (`make reference`)."


@about(NO_LANGUAGES)
def languages(means: pd.DataFrame, gained: pd.DataFrame, table: pd.DataFrame) -> Sentences:
    """Describe the tables of `tables.languages`: the gains of each pair, and whether search or model causes errors."""
    for pair, mean in means.iterrows():
        rows = gained[gained.index.get_level_values("pair") == pair]
        yield (
            f"UAS of {pair.replace(' less ', ' minus UAS of ')}, mean of {mean['languages']:.0f} languages "
            f"({mean['treebanks']:.0f} treebanks): {difference(mean)} (95 % interval, random effects of "
            f"languages; {seeds_in_words(rows['seeds'])}); ahead in {mean['ahead']:.0f}.",
            means,
        )
    for pair, rows in each(gained, "pair"):
        yield (
            f"{pair}, treebank by treebank (McNemar's p): {significance_text(rows.droplevel('language'), LEVEL)}.",
            rows,
        )
    errors = table["search errors, %"].droplevel("language")
    yield (
        "An error is due to the search if the gold tree scores more than the returned tree: in "
        f"{span(errors, '{:.1f} %')} of the sentences of a treebank. All other errors are due to the model, which "
        "scores a wrong tree above the gold tree.",
        table,
    )
