"""Settings of the stage `in-the-loop`: the decoders that models are trained with."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section


@dataclass(frozen=True, config=STRICT)
class InTheLoop(Section):
    """Settings for training the base system of `steps` with several decoders, on the corpora of `steps`.

    trainers  keys of `measure.TRAINERS`; they must contain "exact", with which the other trainers are compared
    train     largest number of training sentences; null means all
    """

    trainers: tuple[Name, ...] = ()
    train: Positive | None = None

    def __post_init__(self) -> None:
        if self.trainers and "exact" not in self.trainers:
            raise ValueError("trainers: exact is missing; add it, because the others are compared with it")
