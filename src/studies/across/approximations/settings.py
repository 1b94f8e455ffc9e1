"""Settings of the stage `approximations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Above, Count, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Approximations(Section):
    """Settings for comparing all decoders on the scores of trained models and on synthetic scores; see `measure`.

    models     names of the trained models
    k          number of candidate heads per word
    sentences  number of test sentences, evenly spaced
    synthetic  number of sentences with synthetic scores; they have the lengths of the first test sentences
    longest    largest length of the sentences with synthetic scores, in words
    calls      limit of branch and bound, in dynamic-program calls per sentence
    seconds    time limit of a linear program, in seconds
    """

    models: tuple[str, ...] = ()
    k: Positive = 10
    sentences: Positive = 30
    synthetic: Count = 10
    longest: Positive = 30
    calls: Positive = 2000
    seconds: Above = 5.0

    def check(self, params: Params) -> None:
        """Raise ValueError unless every model belongs to a row of the results that all corpora have."""
        params.check_trained(*self.models)
