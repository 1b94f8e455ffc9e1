"""Settings of the stage `in-the-loop`."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Section


@dataclass(frozen=True, config=STRICT)
class InTheLoop(Section):
    """Decoders that the base system of `steps`, on its corpora, is trained with: names of `measure.TRAINERS`."""

    trainers: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if self.trainers and "exact" not in self.trainers:
            raise ValueError("trainers: exact is missing, which the others are compared with")
