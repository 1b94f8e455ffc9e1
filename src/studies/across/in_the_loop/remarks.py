"""Sentences about training with an approximate decoder in the loop, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.qian_liu_2013.steps.tables import LEVEL
from studies.site.sentences import ONE_SEED, Said, about, difference, each, told

NONE = (
    "No run here trains with approximate decoders, which the default run leaves out: list a corpus under `steps: "
    "corpora:` in params.yaml, and run `python -m studies.pipeline.run in-the-loop`."
)


@about(NONE)
def repaired(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.trainings` and `contrasts`: does the learner repair the search, or suffer from it?"""
    for place, table in each(data, ""):
        contrasts = dict(each(tests.xs(place, level="place"), "contrast"))
        yield _answer(str(place), table.drop(EXACT), contrasts), table
        for name, what in (
            (
                "parsed with it",
                "with the same decoder, models trained with it against the one trained exactly",
            ),
            ("parsed exactly", "exactly, models that were trained with an approximate decoder against that one"),
            ("against exact throughout", "with the decoder they were trained with, against exact throughout"),
        ):
            yield f"On {place}, parsed {what}: UAS {told(contrasts[name], LEVEL)}.", contrasts[name]
    yield ONE_SEED


def _answer(place: str, table: pd.DataFrame, contrasts: dict[str, pd.DataFrame]) -> str:
    own, exactly, whole = contrasts.values()
    better, worse = _sure(own, 1), _sure(own, -1)
    verdict = "neither" if len(better) == len(worse) else "repairs" if len(better) > len(worse) else "suffers"
    said = {
        "repairs": f"On {place} the learner repairs errors of the search",
        "suffers": f"On {place} the learner suffers from errors of the search",
        "neither": f"On {place} the learner neither repairs errors of the search nor suffers from them",
    }[verdict]
    mean = table.mean()
    errors = (mean[trained, "search errors, %"] for trained in ("trained exactly", "trained with it"))
    best = whole["difference"].idxmax()
    return (
        f"{said}: of {len(own)} approximate decoders {len(better)} parse significantly better with a model that was "
        f"trained with them than with one trained exactly, {len(worse)} worse; search errors go from "
        f"{' to '.join(f'{share:.1f} %' for share in errors)} of the sentences (means). Parsed exactly, "
        f"{len(_sure(exactly, -1))} of these models are significantly worse than the one trained exactly, "
        f"{len(_sure(exactly, 1))} better; nearest to training and parsing exactly, or above it, comes {best}, UAS "
        f"{difference(whole.loc[best])}."
    )


def _sure(rows: pd.DataFrame, sign: int) -> pd.DataFrame:
    return rows[(rows["p"] < LEVEL) & (sign * rows["difference"] > 0)]
