"""How a tagger is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, Epochs, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Of a tagger."""

    columns: tuple[Literal["auto", "upos", "xpos", "feats", "lemma"], ...] = option(
        ("auto",), "Columns to predict, separated by commas; auto: those that TRAIN fills."
    )
    epochs: Epochs = option(6, "Passes over TRAIN; the best one on DEV, where there is one, is kept.")
    bits: Annotated[int, Field(ge=8, le=28)] = option(22, "Log2 of the number of weights.")
    seed: Seed = option(1, "Of the order of sentences; equal seeds give equal models.")

    @property
    def numbers(self) -> dict[str, int]:
        """What training takes beside the columns."""
        return {"epochs": self.epochs, "bits": self.bits, "seed": self.seed}
