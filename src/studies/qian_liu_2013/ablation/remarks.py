"""Sentences about configurations of the search, computed from the table's own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, how_many_corpora, span


@about()
def ablation(data: pd.DataFrame, ranking: pd.DataFrame) -> Said:
    """About `tables.ablations` and `tables.ablation_ranking`."""
    first, others = data["configuration"].iloc[0], ranking.drop(data["configuration"].iloc[0])
    yield (
        f"The other configurations take {span(others['ms'])} times the time of {first} and {span(others['DP calls'])} "
        f"times its calls (geometric means over {how_many_corpora(data['corpus'].unique())} of "
        f"{data['sentences'].max()} sentences each at most, one run, without a test).",
        ranking,
    )
    left = data[data["proved"] < 100].set_index(["configuration", "corpus"])["proved"]
    yield (
        f"A limit on calls left configurations without proof of {span(100 - left, '{:.1f} %')} of the sentences: they "
        "would have needed more than is counted."
        if len(left)
        else "Every configuration proves every tree optimal."
    )
