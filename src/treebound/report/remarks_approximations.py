"""Sentences about the tables of approximations, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.experiments.approximations import EXACT
from treebound.experiments.made_up import MADE_UP
from treebound.report.sentences import UNTESTED, Said, about, each, span
from treebound.report.show import NOTHING
from treebound.report.tables.approximations import SAME

HOW = "No run here compares approximations: run `python -m treebound.experiments.run approximations`."
ONE_RUN = "One run, with one seed where a decoder draws: speeds that are close may change places."


@about(HOW)
def answer(table: pd.DataFrame) -> Said:
    """About `tables.approximations.worth`: which approximation, if any, is worth it."""
    for (model, space), rows in each(table, ["model", "space"]):
        yield _answer(str(model), str(space), rows), rows
    yield f"{UNTESTED} {ONE_RUN}"


def _answer(model: str, space: str, rows: pd.DataFrame) -> str:
    made_up = model in MADE_UP
    equal = "the same trees" if made_up else f"the same accuracy (to {SAME} points of UAS)"
    chosen = rows[rows["worth it"]].sort_values("times as fast", ascending=False)
    size = int(rows["sentences"].max())
    where = f"On {size} sentences with {model}{' scores' if made_up else ''}, {space}"
    if len(chosen):
        listed = "; ".join(f"{name} {_times(row, made_up)}" for name, row in chosen.head(3).iterrows())
        verb = "is" if len(chosen) == 1 else "are"
        return f"{where}, {len(chosen)} of {len(rows)} approximations {verb} faster than {EXACT} at {equal}: {listed}."
    faster = rows[rows["times as fast"] > 1.0]
    if faster.empty:
        return f"{where}, none of {len(rows)} approximations is as fast as {EXACT}."
    column = "best tree, %" if made_up else "UAS"
    best = faster.sort_values(column).iloc[-1]
    return (
        f"{where}, none of {len(rows)} approximations is faster than {EXACT} at {equal}: of the {len(faster)} that are "
        f"faster, {best.name} comes nearest {_times(best, made_up)}."
    )


def _times(row: pd.Series, made_up: bool) -> str:
    uas = "" if made_up else f"{row['UAS']:+.2f} UAS, "
    return f"({row['times as fast']:.1f} times as fast, {uas}the best tree of {row['best tree, %']:.1f} %)"


@about(HOW)
def search_errors(data: pd.DataFrame) -> Said:
    """About `tables.approximations.errors`: who loses the gold tree by searching badly."""
    of = data.groupby(level="solver", sort=False)
    mean = of["search errors, %"].mean()
    others = mean.drop(EXACT)
    rest = f"; the others: {span(others, '{:.1f} %')}" if len(others) else ""
    yield (
        f"Sentences whose gold tree scores more than the tree found (mean of models, corpora and spaces with "
        f"{of['sentences'].sum().max():,d} sentences in all): {EXACT} {mean[EXACT]:.1f} %{rest}. In the other wrong "
        f"trees the model wants a wrong one. {UNTESTED}"
    )


@about(HOW)
def made_up(table: pd.DataFrame) -> Said:
    """About `tables.approximations.made_up`: where exact search stops being the fastest."""
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
