"""Sentences about what each step of learning brings, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, span, told, unproved
from treebound.report.tables.steps import LEVEL, tests_of

NONE = (
    "No run here has these trainings, which the default run leaves out: list a corpus under `steps: corpora:` in "
    "params.yaml, and run `python -m treebound.experiments.run steps`."
)
#: points that an epoch must add to the best before it, so that it counts as a gain
GAIN = 0.1


@about(NONE)
def changes(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.steps` and `tables.step_tests`: what is better than the base, what is worse, and neither."""
    for place, runs in each(data, "place"):
        base = runs["base"].iloc[0]
        found = {figure: tests_of(tests, str(place), figure) for figure in ("LAS", "UAS")}
        for figure, rows in found.items():
            if len(rows):
                yield f"On {place}, {figure} against {base}: {told(rows, LEVEL, short=True)}. {ONE_SEED}", rows
        if found["UAS"].empty:
            yield f"On {place} there is nothing to compare with {base}."
        elif same := list(found["UAS"].index[(found["UAS"][["only it", "only the base"]] == 0).all(axis=1)]):
            yield f"The right heads are those of {base}, word for word: {listing(same)}.", found["UAS"]


@about(NONE)
def epochs(data: pd.DataFrame) -> Said:
    """About `tables.step_epochs`: when the longest training of each place stops getting better."""
    for place, rows in each(data, "place"):
        figure = "LAS" if rows["LAS"].notna().any() else "UAS"
        curves = {name: curve.set_index("epoch")[figure] for name, curve in each(rows, "training")}
        name = max(curves, key=lambda training: len(curves[training]))
        curve = curves[name]
        gained = curve - curve.cummax().shift(fill_value=float("-inf"))
        yield (
            f"On {place} {name} has {curve.iloc[0]:.2f} {figure} after one epoch and its best, {curve.max():.2f}, "
            f"after {curve.idxmax()} of {len(curve)}; the last epoch to add {GAIN:g} points to the best before it is "
            f"number {gained.index[gained >= GAIN][-1]}. {ONE_SEED}",
            curve,
        )


@about(NONE)
def training(data: pd.DataFrame) -> Said:
    """About `tables.step_training`: how much of the search in training was exact."""
    for place, cut in each(data["training, last epoch", "cut off, %"], str(data.index.names[0])):
        yield f"On {place} a limit cut off {span(cut, '{:.1f} %')} of the searches in the last epoch.", cut
    yield unproved(data["dev", "proved optimal, %"], "dev")


@about(
    "No run here has trainings that prune otherwise: see the runs with a threshold under `steps:` in params.yaml, list "
    "a corpus there, and run `python -m treebound.experiments.run steps`."
)
def pruned(data: pd.DataFrame) -> Said:
    """About `tables.step_arcs`: what pruning by a threshold loses, in parsing alone and when it was learnt with."""
    for place, rows in each(data, "place"):
        base = rows[rows["threshold"] == 0].iloc[0]
        for learnt, how in ((False, "in parsing alone"), (True, "in training, too")):
            for row in rows[(rows["threshold"] > 0) & (rows["learnt"] == learnt)].to_dict("records"):
                yield (
                    f"On {place} a threshold of {row['threshold']:g} {how} leaves {row['heads_a_word']:.1f} heads a "
                    f"word of {base['heads_a_word']:.1f}, at {row['UAS'] - base['UAS']:+.2f} UAS on dev.",
                    rows,
                )
    yield f"{ONE_SEED} {UNTESTED}"
