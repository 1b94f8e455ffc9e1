"""Settings of the search for parameters of classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, FiniteFloat
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section
from studies.hall_2006.classifiers.settings import Classifiers

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class ClassifierSearch(Section):
    """Parameters of learners, chosen on dev by successive halving; see `measure`.

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

    def check(self, params: Params) -> None:
        """Raise ValueError where a corpus is not compared, or a grid is that of no learner."""
        compared = params.section(Classifiers)
        for what, names, known in (
            ("corpora", self.corpora, compared.corpora),
            ("grids", self.grids if self.corpora else (), compared.learners),
        ):
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"{what}: {unknown[0]} is not among those of classifiers")
