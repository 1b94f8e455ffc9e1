"""What a model is, before it is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from treebound.core.errors import InputError


@dataclass(frozen=True)
class ModelSpec:
    """Hyperparameters of one model.

    families      factor families beside `arc`
    learner       "perceptron" (Collins 2002, as published) or "mira" (cost-augmented passive-aggressive)
    epochs        passes over the training set
    k             candidate heads a word in training; None: all
    bits          log2 of the number of weights
    C, cost       MIRA: largest step, and cost of one wrong head
    seed          order of the sentences
    max_dp_calls  cap of one training decode (0: none); a capped decode returns its best tree
    """

    families: tuple[str, ...] = ()
    learner: Literal["perceptron", "mira"] = "mira"
    epochs: int = 8
    k: int | None = 10
    bits: int = 22
    C: float = 0.01
    cost: float = 0.5
    seed: int = 1
    max_dp_calls: int = 0

    def __post_init__(self):
        from treebound.factors import FAMILIES

        object.__setattr__(self, "families", tuple(self.families))
        unknown = [f for f in self.families if f not in FAMILIES or f == "arc"]
        if unknown:
            raise InputError(
                f"unknown factor family {unknown[0]!r}",
                hint="choose from " + ", ".join(f for f in FAMILIES if f != "arc"),
            )
        if self.learner not in ("perceptron", "mira"):
            raise InputError(f"unknown learner {self.learner!r}", hint="choose perceptron or mira")
        if not 12 <= self.bits <= 28:
            raise InputError(f"bits = {self.bits}: the weight table has 2**bits entries", hint="choose 12 to 28")

    def as_dict(self) -> dict:
        """Plain values, as stored in a model file."""
        return asdict(self) | {"families": list(self.families)}
