"""Settings of the stage `score-time`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class ScoreTime(Section):
    """Settings that compare sampling decoders with proved optima on the scores of models. See `measure`.

    models     names of models. The first is measured over projective and non-projective trees, the others over
               projective trees alone
    sentences  number of sentences from the test split, evenly spaced
    patience   budgets; with the budget b, a search ends after b runs in a row without a better tree
    seeds      number of seeds: 1, 2 and so on
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 100
    patience: Annotated[tuple[Positive, ...], Field(min_length=1)] = (1, 4, 16)
    seeds: Positive = 1

    @property
    def model(self) -> str:
        """Return the first model, or "" if there is none."""
        return next(iter(self.models), "")

    def check(self, params: Params) -> None:
        """Raise ValueError if one of the models is not trained by any row of the results."""
        params.check_trained(*self.models)
