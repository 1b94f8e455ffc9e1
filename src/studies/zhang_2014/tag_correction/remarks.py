"""Sentences about corrected tags, computed from the table's own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about
from studies.zhang_2014.tag_correction.tables import OURS

NO_TAGS = (
    "No run here chooses tags with trees, which the default run leaves out: list corpora under `tag_correction:` in "
    "params.yaml."
)


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Said:
    """What choosing tags with trees gains: `tables.tag_correction`."""
    for (run, corpus, method), row in table.iterrows():
        tags, heads = row["corrected, %"] - row["tags, %"], row["UAS corrected"] - row["UAS"]
        yield (
            f"On {corpus} ({run}{_how(method)}) {row['mended']:.0f} tags are mended and {row['spoilt']:.0f} spoilt, "
            f"{tags:+.2f} points (p {row['p, tags']:.2g}); UAS {heads:+.2f} ({row['gain from']:+.2f} to "
            f"{row['to']:+.2f}){_right(row)}.",
            row,
        )


def _how(method: str) -> str:
    return "" if method == OURS else f", {method}"


def _right(row: pd.Series) -> str:
    """Return what right tags gain, where a parser of right tags was trained."""
    gain = row["UAS, right tags"] - row["UAS"]
    return "" if pd.isna(gain) else f", of {gain:+.2f} with right tags"
