"""Settings of the stages `constraints` and `constraint-analysis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Constraints(Section):
    """Settings of the labelled parser with hard constraints in cross-validation. See `measure`.

    corpora   corpora to use; each needs the split `every-tenth` (sentence i is in fold i % 10), and a constraint file
    k         number of best labels that are kept for each arc
    q         numbers of best variables per word that the approximate programs use
    analysed  the fold on which families are left out one at a time
    looped    folds on which a model is also trained with the constraints in the loop, which takes about 15
              times as long as training without them
    """

    corpora: tuple[Name, ...] = ()
    folds: tuple[Literal[0, 2, 3, 4, 5, 6, 7, 8, 9], ...] = (0, 2, 3, 4, 5, 6, 7, 8, 9)
    epochs: Positive = 5
    k: Positive = 5
    q: tuple[Positive, ...] = (2, 5, 10, 20, 50)
    analysed: Annotated[int, Field(ge=0, le=9)] = 0
    looped: tuple[Annotated[int, Field(ge=0, le=9)], ...] = (0,)

    def __post_init__(self) -> None:
        if self.analysed not in self.folds:
            raise ValueError(f"analysed: fold {self.analysed} is not listed under folds")
        if unknown := [fold for fold in self.looped if fold not in self.folds]:
            raise ValueError(f"looped: fold {unknown[0]} is not listed under folds")

    def check(self, params: Params) -> None:
        """Raise ValueError if a corpus is not among the treebanks."""
        params.check_treebanks(self.corpora)
