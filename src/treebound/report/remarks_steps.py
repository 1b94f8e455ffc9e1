"""Sentences about what each step of learning brings, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.show import Remarks, by_chance
from treebound.report.tables.steps import LEVEL, tests_of

NONE = (
    "No run here has these trainings, which the default run leaves out: list a corpus under `steps: corpora:` in "
    "params.yaml, and run `python -m treebound.experiments.run steps`."
)
#: points that an epoch must add to the best before it, so that it counts as a gain
GAIN = 0.1


def changes(data: pd.DataFrame, tests: pd.DataFrame) -> Remarks:
    """About `tables.steps` and `tables.step_tests`: what is better than the base, what is worse, and neither."""
    if data.empty:
        return Remarks((NONE,))
    said = []
    for place, runs in data.groupby("place", sort=False):
        base, helped = runs["base"].iloc[0], False
        by_figure = {figure: tests_of(tests, str(place), figure) for figure in ("LAS", "UAS")}
        for figure, rows in by_figure.items():
            if rows.empty:
                continue
            clear = rows[rows["p"] < LEVEL]
            better, worse = (clear[clear["difference"] * sign > 0] for sign in (1, -1))
            helped |= len(better) > 0
            unclear = rows.drop(index=clear.index)
            said.append(
                f"On {place}, by {figure}, {len(better)} of {len(rows)} trainings are significantly better than {base} "
                f"at {100 * LEVEL:g} %: {_listed(better)}; worse: {_listed(worse)}; not told from chance: "
                f"{_listed(unclear)}."
            )
        rows = by_figure["UAS"]
        if rows.empty:
            said.append(f"On {place} there is nothing to compare with {base}.")
        elif not helped:
            said.append(f"Nothing that was tried is significantly better than {base} on {place}.")
        if same := list(rows.index[(rows["only it"] == 0) & (rows["only the base"] == 0)]):
            said.append(f"The right heads are those of {base}, word for word: {', '.join(same)}.")
        if absent := list(runs["name"][~runs["applies"].astype(bool)]):
            said.append(f"Nothing to change on {place}: {', '.join(absent)}.")
    if len(tests) > 1:
        said.append(
            f"Of these {len(tests)} tests {by_chance(len(tests), LEVEL)} would pass {100 * LEVEL:g} % by "
            "chance alone; each difference is that of one training with one seed."
        )
    return Remarks(tuple(said))


def _listed(rows: pd.DataFrame) -> str:
    """Names with their differences, the largest first; or that there are none."""
    ordered = rows.loc[rows["difference"].abs().sort_values(ascending=False, kind="stable").index]
    return ", ".join(f"{name} ({value:+.2f})" for name, value in ordered["difference"].items()) or "none"


def epochs(data: pd.DataFrame) -> Remarks:
    """About `tables.step_epochs`: when the longest training of each place stops getting better."""
    if data.empty:
        return Remarks((NONE,))
    said = []
    for place, rows in data.groupby("place", sort=False):
        figure = "LAS" if rows["LAS"].notna().any() else "UAS"
        curves = {name: curve.set_index("epoch")[figure] for name, curve in rows.groupby("training", sort=False)}
        name = max(curves, key=lambda training: len(curves[training]))
        curve = curves[name]
        gained = curve - curve.cummax().shift(fill_value=float("-inf"))
        text = (
            f"On {place} {name} has {curve.iloc[0]:.2f} {figure} after one epoch and its best, {curve.max():.2f}, "
            f"after {curve.idxmax()} of {len(curve)}; the last epoch to add {GAIN:g} points to the best before it is "
            f"number {gained.index[gained >= GAIN][-1]}."
        )
        base = curves.get(rows["base"].iloc[0])
        if base is not None and len(base) < len(curve):
            more = curve.max() - curve.loc[: len(base)].max()
            text += f" The epochs after the {len(base)} of {rows['base'].iloc[0]} add {more:+.2f}."
        said.append(text)
    return Remarks(tuple(said))


def training(data: pd.DataFrame) -> Remarks:
    """About `tables.step_training`: how much of the search in training was exact."""
    if data.empty:
        return Remarks((NONE,))
    said = []
    for place, rows in data.groupby(level=0, sort=False):
        cut = rows.droplevel(0)["training, last epoch", "cut off, %"]
        if cut.max() == 0:
            said.append(f"On {place} no limit cut off any search in the last epoch.")
            continue
        nowhere = ", ".join(cut.index[cut == 0]) or "no training"
        said.append(
            f"On {place} a limit cut off {cut.iloc[0]:.2f} % of the searches in the last epoch of {cut.index[0]}; it "
            f"cut off most in {cut.idxmax()} ({cut.max():.1f} %), and nothing in {nowhere}."
        )
    unproved = data["dev", "proved optimal, %"]
    said.append(
        "Every tree of dev is proved optimal."
        if (unproved == 100).all()
        else f"Of dev as little as {unproved.min():.1f} % is proved optimal ({unproved.idxmin()[1]})."
    )
    return Remarks(tuple(said))
