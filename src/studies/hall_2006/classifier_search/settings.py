"""Settings of the search for the parameters of classifiers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section


@dataclass(frozen=True, config=STRICT)
class ClassifierSearch(Section):
    """Search for the parameters of learners on dev by successive halving; see `hall_2006.classifiers.search`.

    corpora    corpora of the search; they must be corpora of `classifiers`
    features   the feature model with which all parameters are tried
    grids      learner -> parameter -> its values; a point has one value of each parameter
    first      share of the training set in the first round, in %; each later round trains the best third of the points
               on three times as many sentences
    sentences  number of training sentences, evenly spaced; null means all
    dev        number of development sentences, evenly spaced; null means all
    """

    corpora: tuple[Name, ...] = ()
    features: str = "F5"
    grids: dict[Name, dict[Name, tuple[int | FiniteFloat, ...]]] = Field(default_factory=dict)
    first: Annotated[int, Field(ge=1, le=100)] = 12
    sentences: Positive | None = None
    dev: Positive | None = None
