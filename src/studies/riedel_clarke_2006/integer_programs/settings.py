"""Settings of the stage `integer-programs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Above, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class IntegerPrograms(Section):
    """Settings that compare branch and bound with integer programs on the scores of `models`. See `measure`.

    models     names of the models that score the sentences
    k          number of candidate heads per word
    sentences  number of sentences from the test split
    seconds    time limit of an integer program for each sentence
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 30
    seconds: Above = 5.0

    def check(self, params: Params) -> None:
        """Raise ValueError if one of the models is not trained by any row of the results."""
        params.check_trained(*self.models)
