"""Settings of the stage `ablation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, FiniteFloat
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Ablation(Section):
    """Configurations of the search that decode the same scores. Each is a set of keyword arguments of the search.

    sentences     number of sentences from the test split
    max_dp_calls  number of DP calls after which a search gives up, unless its configuration sets another number
    """

    model: str = ""
    k: Positive = 10
    sentences: Positive = 100
    max_dp_calls: Positive = 2000
    configurations: Annotated[dict[Name, dict[str, bool | int | FiniteFloat | str]], Field(min_length=2)] = Field(
        default_factory=dict
    )

    def check(self, params: Params) -> None:
        """Raise ValueError if configurations are listed, but no row of the results trains the model."""
        if self.configurations:
            params.check_trained(self.model)
