"""Sentences about configurations of the search, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site import ratios
from studies.site.sentences import Sentences, about, how_many_corpora, span


@about()
def ablation(data: pd.DataFrame, ranking: pd.DataFrame) -> Sentences:
    """Describe `tables.ablations` and `tables.ablation_ranking`: the work and the proofs of the configurations."""
    first, others = data["configuration"].iloc[0], ranking.drop(data["configuration"].iloc[0])
    tested = "95 % intervals of calls by a bootstrap over sentences" if "low" in ranking else "without a test"
    yield (
        f"The other configurations take {span(others['ms'])} times the time of {first} and {_calls(others)} times its "
        f"calls (geometric means over {how_many_corpora(data['corpus'].unique())} of {data['sentences'].max()} "
        f"sentences each at most, one run, {tested}).",
        ranking,
    )
    incomplete = data[data["proved"] < 100].set_index(["configuration", "corpus"])["proved"]
    yield (
        f"A limit on calls left {span(100 - incomplete, '{:.1f} %')} of the sentences without proof. Without the "
        "limit their work would be larger."
        if len(incomplete)
        else "Every configuration proves every tree optimal."
    )


def _calls(ranking: pd.DataFrame) -> str:
    """Describe the smallest and the largest ratio of calls, with their intervals if `ranking` has them."""
    return ratios.span(ranking, "DP calls", "{:.2f}") if "low" in ranking else span(ranking["DP calls"])
