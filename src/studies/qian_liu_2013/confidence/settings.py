"""Settings of the stage `confidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Keep, Positive, Section, heads

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Confidence(Section):
    """Whose margins, marginals and `trees` best trees are measured, on the first `sentences` of dev and test."""

    model: str = ""
    decoder: str = ""
    k: Keep = 10
    trees: Positive = 10
    sentences: Positive = 500

    @property
    def heads(self) -> int | None:
        """k as the parser takes it."""
        return heads(self.k)

    def check(self, params: Params) -> None:
        """Raise ValueError where no row trains the model, or there is no such decoder."""
        if self.model:
            params.check_trained(self.model)
            params.check_decoder(self.decoder)
