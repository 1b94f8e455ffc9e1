"""How a labelled model under hard constraints is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from treebound.support.settings import Checked, Epochs, Rate, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Of a labelled first-order model; the defaults are those of Riedel & Clarke (2006, section 5)."""

    epochs: Epochs = option(5, "Passes over TRAIN; the last one is kept.")
    bits: Annotated[int, Field(ge=4, le=28)] = option(
        18, "Log2 of the number of rows of weights; a row has one for each label and one for all."
    )
    C: Rate = option(0.01, "Largest step of the mira update.")
    k: Annotated[int, Field(ge=1, le=1_000_000)] = option(5, "Labels of an arc that the integer program sees.")
    seed: Seed = option(1, "Of the order of sentences; equal seeds give equal models.")
    constraints: str = option(
        "", "Hard constraints on trees: of a corpus, as en_ewt, or a file of your own. [default: none but trees]"
    )
    in_loop: bool = option(False, "Decode under the constraints in training as well. [default: in parsing alone]")
