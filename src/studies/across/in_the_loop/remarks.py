"""Generated sentences about training with an approximate decoder in the loop, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.qian_liu_2013.steps.tables import LEVEL
from studies.site.sentences import ONE_SEED, Sentences, about, difference, each, significance_text

NONE = (
    "No run on this page trains with approximate decoders, which the default run leaves out. List a corpus under "
    "`steps: corpora:` in params.yaml, and run `python -m studies.pipeline.run in-the-loop`."
)


@about(NONE)
def repaired(data: pd.DataFrame, tests: pd.DataFrame) -> Sentences:
    """Tell whether training with an approximate decoder makes parsing with this decoder better or worse.

    data: `tables.trainings`; tests: `tables.contrasts`.
    """
    for place, table in each(data, ""):
        contrasts = dict(each(tests.xs(place, level="place"), "contrast"))
        yield _answer(str(place), table.drop(EXACT), contrasts), table
        for name, comparison in (
            (
                "parsed with it",
                "both parsed with the approximate decoder, UAS of its own model minus UAS of the exact model",
            ),
            (
                "parsed exactly",
                "both parsed exactly, UAS of models trained with an approximate decoder minus UAS of the exact model",
            ),
            (
                "against exact throughout",
                "UAS of training and parsing with an approximate decoder minus UAS of training and parsing exactly",
            ),
        ):
            yield f"On {place}, {comparison}: {significance_text(contrasts[name], LEVEL)}.", contrasts[name]
    yield ONE_SEED


def _answer(place: str, table: pd.DataFrame, contrasts: dict[str, pd.DataFrame]) -> str:
    """Return the summary for one corpus and run: significant differences, search errors, and the best decoder."""
    own, exactly, throughout = contrasts.values()
    better, worse = _sure(own, 1), _sure(own, -1)
    verdict = "neither" if len(better) == len(worse) else "repairs" if len(better) > len(worse) else "suffers"
    opening = {
        "repairs": f"On {place}, the learner repairs errors of the search",
        "suffers": f"On {place}, the learner suffers from errors of the search",
        "neither": f"On {place}, the learner neither repairs errors of the search nor suffers from them",
    }[verdict]
    mean = table.mean()
    errors = (mean[trained, "search errors, %"] for trained in ("trained exactly", "trained with it"))
    best = throughout["difference"].idxmax()
    return (
        f"{opening}: {len(better)} of {len(own)} approximate decoders parse significantly better with a model that was "
        f"trained with them than with the model trained exactly, and {len(worse)} parse significantly worse. Mean "
        f"search errors change from {' to '.join(f'{share:.1f} %' for share in errors)} of the sentences. Parsed "
        f"exactly, {len(_sure(exactly, -1))} models trained approximately are significantly worse than the model "
        f"trained exactly, and {len(_sure(exactly, 1))} are significantly better. Compared with training and parsing "
        f"exactly, the best decoder is {best}, UAS {difference(throughout.loc[best])}."
    )


def _sure(rows: pd.DataFrame, sign: int) -> pd.DataFrame:
    """Return the rows whose difference is significant and has the given sign."""
    return rows[(rows["p"] < LEVEL) & (sign * rows["difference"] > 0)]
