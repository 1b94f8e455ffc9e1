"""Settings of the stage `integer-programs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Above, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class IntegerPrograms(Section):
    """Branch and bound beside integer programs on the scores of `models`; see `measure`.

    sentences  how many of the test split
    seconds    that a program has for one
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 30
    seconds: Above = 5.0

    def check(self, params: Params) -> None:
        """Raise ValueError where no row trains a model of these."""
        params.check_trained(*self.models)
