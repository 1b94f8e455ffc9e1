"""Settings for the training of a tagger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, Epochs, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a tagger: columns, epochs, weights and seed."""

    columns: tuple[Literal["auto", "upos", "xpos", "feats", "lemma"], ...] = option(
        ("auto",),
        "Columns to predict, separated by commas: upos, xpos, feats, lemma. auto takes all columns that TRAIN fills.",
    )
    epochs: Epochs = option(
        6,
        "Number of passes over TRAIN. `train` saves the tagger of the pass with the best accuracy on DEV; `jackknife`, "
        "which has no DEV, uses the tagger of the last pass.",
    )
    bits: Annotated[int, Field(ge=8, le=28)] = option(22, "Base-2 logarithm of the number of weights.")
    seed: Seed = option(1, "Random seed for the order of sentences. Equal seeds give equal models.")

    @property
    def numbers(self) -> dict[str, int]:
        """Return the keyword arguments of training other than the columns."""
        return {"epochs": self.epochs, "bits": self.bits, "seed": self.seed}
