"""Sentences about the tables of approximations, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.across.approximations.made_up import MADE_UP
from studies.across.approximations.tables import SAME
from studies.site.sentences import Said, about, each, listing, span
from studies.site.show import NOTHING

HOW = "No run here compares approximations: run `python -m studies.pipeline.run approximations`."
ONE_RUN = "One run, not tested, with one seed where a decoder draws: speeds that are close may change places."


@about(HOW)
def answer(table: pd.DataFrame) -> Said:
    """About `tables.worth`: which approximation, if any, is worth it."""
    won = table.groupby(level=["model", "space"], sort=False)["worth it"].agg(["sum", "size"])
    invented = won.index.get_level_values("model").isin(MADE_UP)
    more = (
        f"With made-up scores, where finding as many best trees counts as accurate: {_how_many(won[invented])}. "
        if invented.any()
        else ""
    )
    yield (
        f"Approximations that are faster than {EXACT} and as accurate, to {SAME} points of UAS: "
        f"{_how_many(won[~invented])}. {more}{ONE_RUN}"
    )
    for (model, space), rows in each(table, ["model", "space"]):
        yield _answer(str(model), str(space), rows), rows


def _how_many(won: pd.DataFrame) -> str:
    """In each space, of so many approximations."""
    return listing(
        f"{span(rows['sum'], '{:.0f}') if rows['sum'].nunique() > 1 else rows['sum'].iloc[0]} of {rows['size'].max()} "
        f"in {space} trees"
        for space, rows in won.groupby(level="space", sort=False)
    )


def _answer(model: str, space: str, rows: pd.DataFrame) -> str:
    """The fastest three that are as good, or of those that are faster the best."""
    made_up = model in MADE_UP
    best = rows[rows["worth it"]].sort_values("times as fast", ascending=False)
    faster = rows[rows["times as fast"] > 1.0].sort_values("best tree, %" if made_up else "UAS", ascending=False)
    chosen, said = (best.head(3), " and as good") if len(best) else (faster.head(1), ", none as good")
    listed = listing(
        f"{name} ({row['times as fast']:.1f} times as fast, {'' if made_up else f'{row.UAS:+.2f} UAS, '}the best tree "
        f"of {row['best tree, %']:.1f} %)"
        for name, row in chosen.iterrows()
    )
    return (
        f"On {int(rows['sentences'].max())} sentences with {model}, {space}, {len(best) or len(faster)} of {len(rows)} "
        f"approximations are faster than {EXACT}{f'{said}: {listed}' if len(chosen) else ''}."
    )


@about(HOW)
def made_up(table: pd.DataFrame) -> Said:
    """About `tables.made_up`: where exact search stops being the fastest."""
    for (model, space), rows in each(table, ["model", "space"]):
        beaten = rows[rows["as good and faster"] != NOTHING]
        where = f"On {model} scores, {space}, {EXACT}"
        if beaten.empty:
            longest = rows.index[-1]
            most = f", the longest of over {longest} words" if longest else ""
            yield f"{where} stays the fastest of those that find as many best trees in all lengths{most}.", rows
            continue
        low, row = beaten.index[0], beaten.iloc[0]
        yield (
            f"{where} stops being the fastest at over {low} words: {row['as good and faster']} finds as many best "
            f"trees in {row['sentences']:.0f} sentences {row['times as fast']:.1f} times as fast; {EXACT} proves "
            f"{row['proved, %']:.0f} % of them.",
            rows,
        )
    yield ONE_RUN
