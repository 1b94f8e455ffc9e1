"""Generated sentences about training with an approximate decoder in the loop, computed from the data of the tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.qian_liu_2013.steps.tables import LEVEL
from studies.site.sentences import ONE_SEED, Sentences, about, difference, each, listing

NONE = (
    "No run on this page trains with approximate decoders, which the default run leaves out. List a corpus under "
    "`steps: corpora:` in params.yaml, and run `python -m studies.pipeline.run in-the-loop`."
)


@about(NONE)
def repaired(data: pd.DataFrame, tests: pd.DataFrame, sizes: Mapping[str, int]) -> Sentences:
    """Tell whether training with an approximate decoder makes parsing with this decoder better or worse.

    data: `tables.trainings`; tests: `tables.contrasts`; sizes: `tables.sizes`.
    """
    for place, table in each(data, ""):
        contrasts = dict(each(tests.xs(place, level="place"), "contrast"))
        yield _answer(str(place), contrasts), table
        yield _errors(table.drop(EXACT), contrasts["against exact throughout"]), table
    listed = listing(f"{size:,} sentences of {place}" for place, size in sizes.items())
    yield f"The models were trained on {listed}. {ONE_SEED}"


def _answer(place: str, contrasts: dict[str, pd.DataFrame]) -> str:
    """State for one corpus and run whether models parse better with the decoder of their training.

    place      names of the corpus and the run
    contrasts  name of a contrast -> its rows of `tables.contrasts`
    """
    own = contrasts["parsed with it"]
    better, worse = _sure(own, 1), _sure(own, -1)
    verdict = "neither" if len(better) == len(worse) else "repairs" if len(better) > len(worse) else "suffers"
    opening = {
        "repairs": f"On {place}, the learner repairs errors of the search",
        "suffers": f"On {place}, the learner suffers from errors of the search",
        "neither": f"On {place}, the learner neither repairs errors of the search nor suffers from them",
    }[verdict]
    return (
        f"{opening}: {len(better)} of {len(own)} approximate decoders parse significantly better with a model that was "
        f"trained with them than with the model trained exactly, and {len(worse)} parse significantly worse."
    )


def _errors(table: pd.DataFrame, throughout: pd.DataFrame) -> str:
    """Describe the search errors of exactly and approximately trained models, and name the best decoder.

    table       rows of `tables.trainings` for the approximate decoders
    throughout  rows of `tables.contrasts` that compare one decoder in training and parsing with exact search in both
    """
    mean = table.mean()
    errors = (mean[trained, "search errors, %"] for trained in ("trained exactly", "trained with it"))
    best = throughout["difference"].idxmax()
    return (
        f"With training in the loop, mean search errors change from {' to '.join(f'{x:.1f} %' for x in errors)} of the "
        f"sentences. Compared with training and parsing exactly, the best decoder is {best}, UAS "
        f"{difference(throughout.loc[best])}."
    )


def _sure(rows: pd.DataFrame, sign: int) -> pd.DataFrame:
    """Return the rows whose difference is significant and has the given sign."""
    return rows[(rows["p"] < LEVEL) & (sign * rows["difference"] > 0)]
