"""Sentences about what each step of learning brings, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.steps.tables import LEVEL, tests_of
from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, told

NONE = (
    "No run here has these trainings, which the default run leaves out: list a corpus under `steps: corpora:` in "
    "params.yaml, and run `python -m studies.pipeline.run steps`."
)


@about(NONE)
def changes(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.steps` and `tables.step_tests`: what is better than the base, what is worse, and neither."""
    for place, runs in each(data, "place"):
        base = runs["base"].iloc[0]
        found = {figure: tests_of(tests, str(place), figure) for figure in ("LAS", "UAS")}
        for figure, rows in found.items():
            if len(rows):
                yield f"On {place}, {figure} against {base}: {told(rows, LEVEL)}. {ONE_SEED}", rows
        if found["UAS"].empty:
            yield f"On {place} there is nothing to compare with {base}."
        elif same := list(found["UAS"].index[(found["UAS"][["only it", "only the base"]] == 0).all(axis=1)]):
            yield f"The right heads are those of {base}, word for word: {listing(same)}.", found["UAS"]


@about(
    "No run here has trainings that prune otherwise: see the runs with a threshold under `steps:` in params.yaml, list "
    "a corpus there, and run `python -m studies.pipeline.run steps`."
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
