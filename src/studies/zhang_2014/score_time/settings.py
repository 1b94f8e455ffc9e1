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
    """Sampling decoders beside proved optima on the scores of models; see `measure`.

    models     the first over projective and non-projective trees, the others over projective trees alone
    sentences  of the test split, evenly spaced
    patience   budgets: runs in a row that find nothing better, after which a search ends
    seeds      number of seeds: 1, 2 and so on
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 100
    patience: Annotated[tuple[Positive, ...], Field(min_length=1)] = (1, 4, 16)
    seeds: Positive = 1

    @property
    def model(self) -> str:
        """The first model; empty: none."""
        return next(iter(self.models), "")

    def check(self, params: Params) -> None:
        """Raise ValueError where no row trains a model of these."""
        params.check_trained(*self.models)
