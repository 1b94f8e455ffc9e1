"""Sentences about the steps of learning, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.steps.tables import LEVEL, tests_of
from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, each, listing, significance_text

NONE = (
    "No run here has these trainings, which the default run leaves out: list a corpus under `steps: corpora:` in "
    "params.yaml, and run `python -m studies.pipeline.run steps`."
)


@about(NONE)
def changes(data: pd.DataFrame, tests: pd.DataFrame) -> Sentences:
    """Describe `tables.steps` and `tables.step_tests`: trainings better than the base, worse, and neither."""
    for place, runs in each(data, "place"):
        base = runs["base"].iloc[0]
        by_figure = {figure: tests_of(tests, str(place), figure) for figure in ("LAS", "UAS")}
        for figure, rows in by_figure.items():
            if len(rows):
                yield f"On {place}, {figure} against {base}: {significance_text(rows, LEVEL)}. {ONE_SEED}", rows
        if by_figure["UAS"].empty:
            yield f"On {place} there is nothing to compare with {base}."
        elif unchanged := list(
            by_figure["UAS"].index[(by_figure["UAS"][["only it", "only the base"]] == 0).all(axis=1)]
        ):
            yield (
                f"Trainings with the same right heads as {base}, word for word: {listing(unchanged)}.",
                by_figure["UAS"],
            )


@about(
    "No run here has trainings with another pruning: see the runs with a threshold under `steps:` in params.yaml, list "
    "a corpus there, and run `python -m studies.pipeline.run steps`."
)
def pruned(data: pd.DataFrame) -> Sentences:
    """Describe `tables.step_arcs`: the effect of a threshold in pruning, in parsing alone and in training as well."""
    for place, rows in each(data, "place"):
        base = rows[rows["threshold"] == 0].iloc[0]
        for learnt, use in ((False, "in parsing alone"), (True, "in training and parsing")):
            for row in rows[(rows["threshold"] > 0) & (rows["learnt"] == learnt)].to_dict("records"):
                yield (
                    f"On {place}, a threshold of {row['threshold']:g} {use} leaves {row['heads_a_word']:.1f} of "
                    f"{base['heads_a_word']:.1f} heads per word and changes UAS on dev by "
                    f"{row['UAS'] - base['UAS']:+.2f}.",
                    rows,
                )
    yield f"{ONE_SEED} {UNTESTED}"
