"""Settings of the stage `confidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Keep, Positive, Section, heads

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Confidence(Section):
    """Model and decoder whose margins, marginals and `trees` best trees are measured.

    The first `sentences` sentences of the development and the test split are used.
    """

    model: str = ""
    decoder: str = ""
    k: Keep = 10
    trees: Positive = 10
    sentences: Positive = 500

    @property
    def heads(self) -> int | None:
        """Return k in the form that the parser takes: None if no head is pruned."""
        return heads(self.k)

    def check(self, params: Params) -> None:
        """Raise ValueError if no row of the results trains the model, or if the decoder is unknown."""
        if self.model:
            params.check_trained(self.model)
            params.check_decoder(self.decoder)
