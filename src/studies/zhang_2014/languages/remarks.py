"""Sentences about parsers that sample on many treebanks, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, difference, each, seeds_in_words, span, told
from studies.zhang_2014.comparison.remarks import LEVEL

NO_LANGUAGES = "The reference run has no such part yet (`make reference`)."


@about(NO_LANGUAGES)
def languages(means: pd.DataFrame, gained: pd.DataFrame, table: pd.DataFrame) -> Said:
    """About the tables of `tables.languages`: who is ahead, and whether search or model is to blame where it is not."""
    for pair, mean in means.iterrows():
        of = gained[gained.index.get_level_values("pair") == pair]
        yield (
            f"UAS of {pair.replace(' less ', ' less that of ')}, mean of {mean['languages']:.0f} languages "
            f"({mean['treebanks']:.0f} treebanks): {difference(mean)} (95 % interval, random effects of "
            f"languages; {seeds_in_words(of['seeds'])}); ahead in {mean['ahead']:.0f}.",
            means,
        )
    for pair, of in each(gained, "pair"):
        yield f"{pair}, treebank by treebank (McNemar's p): {told(of.droplevel('language'), LEVEL)}.", of
    errors = table["search errors, %"].droplevel("language")
    yield (
        f"Search is to blame where the right tree scores more than the one found: in {span(errors, '{:.1f} %')} of the "
        "sentences of a treebank. In all others that are wrong the model itself scores a wrong tree above the right.",
        table,
    )
