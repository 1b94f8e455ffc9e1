"""Settings of the search for parameters of classifiers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section


@dataclass(frozen=True, config=STRICT)
class ClassifierSearch(Section):
    """Parameters of learners, chosen on dev by successive halving; see
    `hall_2006.classifiers.search`, and `Classifiers.check`.

    features  the feature model of all points
    grids     learner -> parameter -> its values; a point is one value of each
    first     share of the training set (%) that the first round has; each later one has three times as much, for the
              best third of its points
    sentences  of training and, `dev`, of the development set, evenly spaced; none: all
    """

    corpora: tuple[Name, ...] = ()
    features: str = "F5"
    grids: dict[Name, dict[Name, tuple[int | FiniteFloat, ...]]] = Field(default_factory=dict)
    first: Annotated[int, Field(ge=1, le=100)] = 12
    sentences: Positive | None = None
    dev: Positive | None = None
