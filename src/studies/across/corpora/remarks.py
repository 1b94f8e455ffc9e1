"""Generated sentences about the corpora, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, span


@about()
def conversion(data: pd.DataFrame) -> Sentences:
    """Describe the sizes and the non-projectivity of the corpora.

    data: rows of `frames.convert` of one or several runs.
    """
    by_split = {split: rows.drop_duplicates("corpus").set_index("corpus") for split, rows in data.groupby("split")}
    crossing = 100 * by_split["test"]["nonprojective_sentences"] / by_split["test"]["sentences"]
    yield (
        f"The {len(crossing)} corpora have training sets of {span(by_split['train']['tokens'], '{:,}')} tokens. In "
        f"{span(crossing, '{:.1f} %')} of their test sentences, arcs of the gold tree cross, so that no projective "
        "parser can find the whole gold tree."
    )
