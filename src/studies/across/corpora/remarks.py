"""Sentences about the corpora, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, span


@about()
def conversion(data: pd.DataFrame) -> Said:
    """About `frames.convert` of one or several runs."""
    of = {split: rows.drop_duplicates("corpus").set_index("corpus") for split, rows in data.groupby("split")}
    crossing = 100 * of["test"]["nonprojective_sentences"] / of["test"]["sentences"]
    yield (
        f"{len(crossing)} corpora with training sets of {span(of['train']['tokens'], '{:,}')} tokens; in "
        f"{span(crossing, '{:.1f} %')} of their test sentences arcs of the gold tree cross, so that no projective "
        "parser gets those entirely right."
    )
