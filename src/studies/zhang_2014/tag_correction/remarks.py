"""Sentences about corrected tags, generated from the data of the table."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about
from studies.zhang_2014.tag_correction.tables import OURS

NO_TAGS = (
    "No run here chooses tags together with trees, which the default run leaves out: list corpora under "
    "`tag_correction:` in params.yaml."
)


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Sentences:
    """Describe `tables.tag_correction`: the gains of choosing tags together with trees."""
    for (run, corpus, method), row in table.iterrows():
        tags, heads = row["corrected, %"] - row["tags, %"], row["UAS corrected"] - row["UAS"]
        yield (
            f"On {corpus} ({run}{_how(method)}) {row['mended']:.0f} tags are corrected and {row['spoilt']:.0f} "
            f"become wrong: tag accuracy changes by {tags:+.2f} (p = {row['p, tags']:.2g}), UAS {heads:+.2f} "
            f"({row['gain from']:+.2f} to "
            f"{row['to']:+.2f}){_right(row)}.",
            row,
        )


def _how(method: str) -> str:
    """Name the method of correction if it is not the method of this project. Otherwise the text is empty."""
    return "" if method == OURS else f", {method}"


def _right(row: pd.Series) -> str:
    """Describe the gain of gold tags, if a parser with gold tags was trained."""
    gain = row["UAS, right tags"] - row["UAS"]
    return "" if pd.isna(gain) else f"; gold tags would change UAS by {gain:+.2f}"
