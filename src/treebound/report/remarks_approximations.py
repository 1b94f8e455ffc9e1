"""Sentences about the tables of approximations, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.experiments.approximations import EXACT
from treebound.experiments.made_up import MADE_UP
from treebound.report.show import Remarks
from treebound.report.tables.approximations import FASTER, SAME, sums

HOW = "No run here compares approximations: run `python -m treebound.experiments.run approximations`."


def answer(table: pd.DataFrame) -> Remarks:
    """About `tables.approximations.worth`: which approximation, if any, is worth it."""
    if table.empty:
        return Remarks((HOW,))
    groups = table.groupby(level=["model", "space"], sort=False)
    return Remarks(tuple(_answer(str(key[0]), str(key[1]), rows.droplevel(["model", "space"])) for key, rows in groups))


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


def search_errors(data: pd.DataFrame) -> Remarks:
    """About `tables.approximations.errors`: who loses the gold tree by searching badly."""
    if data.empty:
        return Remarks((HOW,))
    mean = data.groupby(level="solver", sort=False)["search errors, %"].mean()
    exact = mean.get(EXACT, 0.0)
    most = mean.drop(EXACT, errors="ignore").sort_values()
    said = f"{EXACT.capitalize()} loses {exact:.1f} % of the sentences to a search that misses a better gold tree"
    if len(most):
        said += f", {most.index[0]} {most.iloc[0]:.1f} % and {most.index[-1]} {most.iloc[-1]:.1f} %"
    return Remarks((said + ": the other wrong trees are what the model wants.",))


def made_up(data: pd.DataFrame) -> Remarks:
    """About `tables.approximations.contest`: where exact search stops being the fastest on made-up scores."""
    some = data[data["model"].isin(MADE_UP)] if len(data) else data
    if some.empty:
        return Remarks((HOW,))
    said = []
    for (model, space), rows in some.groupby(["model", "space"], sort=False):
        table = sums(rows, ["longer_than"])
        for low in table.index.unique("longer_than"):
            of = table.loc[low]
            exact = of.loc[EXACT]
            rivals = of.drop(EXACT)
            rivals = rivals[
                (rivals["proved"] < exact["proved"]) | (exact["proved"] == 0)
            ]  # else they are the same search
            rivals = rivals[(rivals["best"] >= exact["best"]) & (FASTER * rivals["seconds"] < exact["seconds"])]
            if len(rivals):
                name = rivals["seconds"].idxmin()
                said.append(
                    f"On {model} scores, {space}, {EXACT} stops being the fastest at over {low} words: {name} finds as "
                    f"many best trees ({rivals.loc[name, 'best']:.0f} of {exact['sentences']:.0f}) "
                    f"{exact['seconds'] / rivals.loc[name, 'seconds']:.1f} times as fast; {EXACT} proves "
                    f"{exact['proved']:.0f} of them."
                )
                break
        else:
            said.append(f"On {model} scores, {space}, no decoder that finds as many best trees is faster than {EXACT}.")
    return Remarks(tuple(said))
