"""Settings of the stage `approximations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Above, Count, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Approximations(Section):
    """Every decoder on the scores of `models`, and on made-up ones; see `measure`.

    sentences  how many of the test split
    made_up    of how many of them, in order, the lengths are those of made-up scores; longest: in words
    calls      dynamic programs that branch and bound has for a sentence
    seconds    that a linear program has
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 30
    made_up: Count = 10
    longest: Positive = 30
    calls: Positive = 2000
    seconds: Above = 5.0

    def check(self, params: Params) -> None:
        """Raise ValueError where no row trains a model of these."""
        params.check_trained(*self.models)
