"""Settings of the stage `ccg-integration`: iterations of the decoders."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Positive, Section


@dataclass(frozen=True, config=STRICT)
class CCGIntegration(Section):
    """Settings for measuring the joint model of each parser in the section `ccg`; see `measure`.

    iterations  numbers of iterations after which belief propagation and dual decomposition are compared
    most        largest number of iterations of both decoders
    """

    iterations: Annotated[tuple[Positive, ...], Field(min_length=1)] = (1, 5, 25)
    most: Positive = 50

    def __post_init__(self) -> None:
        if max(self.iterations) > self.most:
            raise ValueError(f"most: {self.most} is less than an entry of iterations; increase most")
