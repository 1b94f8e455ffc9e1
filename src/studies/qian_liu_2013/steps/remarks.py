"""Sentences about the steps of learning, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.steps.tables import LEVEL, tests_of
from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, each, from_to, listing, significance_text, span

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
    """Describe `tables.thresholds`: the heads that thresholds in pruning leave, and their effect on UAS."""
    change = data["UAS change"].set_axis([f"{threshold:g} {use}" for _, use, threshold in data.index])
    share = 100 * data["heads per word"] / data["heads per word, base"]
    places = listing(dict.fromkeys(data.index.get_level_values("corpus and run")))
    yield (
        f"On the development set of {places}, a threshold leaves {from_to(share)} % of the heads "
        f"that the base keeps, and changes UAS by {span(change, '{:+.2f}')}.",
        data,
    )
    yield f"{ONE_SEED} {UNTESTED}"
