"""Sentences about the tables of approximations, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.across.approximations.made_up import MADE_UP
from studies.across.approximations.tables import FASTER, SAME
from studies.site.sentences import Said, about, each, listing, share, span
from studies.site.show import NOTHING

HOW = "No run here compares approximations: run `python -m studies.pipeline.run approximations`."
CROSSING = (
    "The models were learnt with projective trees alone: where arcs may cross, their best tree can be a worse one than "
    "that of a search that gives up early, and UAS that such a search gains is no merit of the search."
)
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
    corpora = listing(dict.fromkeys(name for names in table["corpora"] for name in names.split(", ")))
    yield (
        f"Approximations that are at least {FASTER:g} times as fast as {EXACT} and as accurate, to {SAME} points of "
        f"UAS, on test sentences of {corpora} together: {_how_many(won[~invented])}. {more}{ONE_RUN}"
    )
    if "non-projective" in table.index.get_level_values("space")[~table.index.get_level_values("model").isin(MADE_UP)]:
        yield CROSSING
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
    faster = rows[rows["times as fast"] >= FASTER].sort_values("best tree, %" if made_up else "UAS", ascending=False)
    chosen, said = (best.head(3), " and as good") if len(best) else (faster.head(1), ", none as good")
    listed = listing(
        f"{name} ({row['times as fast']:.1f} times as fast, {'' if made_up else f'{row.UAS:+.2f} UAS, '}the best tree "
        f"of {row['best tree, %']:.1f} %)"
        for name, row in chosen.iterrows()
    )
    sentences, proved = int(rows["sentences"].max()), int(rows["proved"].max())
    lengths = "sentences as long as test sentences of" if made_up else "test sentences of"
    scores = f"{model} scores" if made_up else f"the scores of {model}"
    fewer = f"{len(best) or len(faster)} of {len(rows)} approximations are faster"
    return (
        f"With {scores}, {space} trees, {sentences} {lengths} {rows['corpora'].iloc[0]}, of which {EXACT} proves "
        f"{proved}: {fewer}{f'{said}: {listed}' if len(chosen) else ''}."
    )


@about(HOW)
def made_up(table: pd.DataFrame) -> Said:
    """About `tables.made_up`: where exact search stops being the fastest."""
    for (model, space), rows in each(table, ["model", "space"]):
        yield _proofs(str(model), str(space), rows), rows
        beaten = rows[rows["as good and faster"] != NOTHING]
        where = f"With {model} scores, {space} trees, {EXACT}"
        if beaten.empty:
            longest = rows.index[-1]
            most = f", the longest of over {longest} words" if longest else ""
            yield f"{where} stays the fastest of those that find as many best trees in all lengths{most}.", rows
            continue
        low, row = beaten.index[0], beaten.iloc[0]
        yield (
            f"{where} stops being the fastest in sentences {_bin(rows.index, low)}: "
            f"{row['as good and faster']} finds as many best trees in {row['sentences']:.0f} sentences "
            f"{row['times as fast']:.1f} times as fast.",
            rows,
        )
    yield ONE_RUN


def _proofs(model: str, space: str, rows: pd.DataFrame) -> str:
    """Count what the exact search proves with invented scores, in all and by length."""
    counts = (rows["proved, %"] * rows["sentences"] / 100).round().astype(int)
    total, of = int(counts.sum()), int(rows["sentences"].sum())
    parts = listing(
        f"{count} of {sentences:.0f} {_bin(rows.index, low)}"
        for (low, count), sentences in zip(counts.items(), rows["sentences"], strict=True)
    )
    return f"With {model} scores, {space} trees, {EXACT} proves {share(total, of)} sentences within its limit: {parts}."


def _bin(lows: pd.Index, low: int) -> str:
    """Name a bin of lengths by the words of its sentences."""
    following = min((end for end in lows if end > low), default=0)
    if not following:
        return f"over {low} words" if low else "of any length"
    return f"of {low + 1} to {following} words"
