"""Training settings of a labelled model with hard constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from treebound.support.settings import Checked, Epochs, Rate, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a labelled first-order model, with the defaults of Riedel & Clarke (2006, section 5)."""

    epochs: Epochs = option(5, "Number of passes over TRAIN. The model of the last pass is stored.")
    bits: Annotated[int, Field(ge=4, le=28)] = option(
        18,
        "Base-2 logarithm of the number of weight rows. A row holds one weight for each label and one for all labels.",
    )
    C: Rate = option(0.01, "Largest step size of a MIRA update.")
    k: Annotated[int, Field(ge=1, le=1_000_000)] = option(
        5, "Number of best labels of each arc that the integer program considers."
    )
    seed: Seed = option(1, "Random seed for the order of sentences. Equal seeds give equal models.")
    constraints: str = option(
        "",
        "Hard constraints on trees: the name of a corpus, for instance en_ewt, or a TOML file. "
        "[default: only the constraints that make a tree]",
    )
    in_loop: bool = option(False, "Decode under the constraints in training, too. [default: only in parsing]")
