"""Sentences about corrected tags, computed from the table's own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about

NO_TAGS = (
    "No run here chooses tags with trees, which the default run leaves out: list corpora under `tag_correction:` in "
    "params.yaml."
)


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Said:
    """What choosing tags with trees gains: `tables.tag_correction`."""
    for (run, corpus), row in table.iterrows():
        tags, heads = row["corrected, %"] - row["tags, %"], row["UAS corrected"] - row["UAS"]
        yield (
            f"On {corpus} ({run}) {row['mended']:.0f} tags are mended and {row['spoilt']:.0f} spoilt, {tags:+.2f} "
            f"points (p {row['p, tags']:.2g}); UAS {heads:+.2f} ({row['gain from']:+.2f} to {row['to']:+.2f}), of "
            f"{row['UAS, right tags'] - row['UAS']:+.2f} with right tags.",
            row,
        )
