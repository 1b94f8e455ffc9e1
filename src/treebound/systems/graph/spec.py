"""What a model is, before it is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from treebound.core.errors import InputError

#: how labels are chosen
LABELS = ("none", "joint", "second-stage", "both")

# numbers of settings, wherever they are read: from options, lists of models, model files
Epochs = Annotated[int, Field(ge=1, le=1_000_000)]
Heads = Annotated[int, Field(ge=1, le=1_000_000)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Calls = Annotated[int, Field(ge=0, le=1_000_000_000)]
Rate = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Cost = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


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
    max_dp_calls  cap of one training decode (0: none), and of one on dev; a capped decode returns its best tree. Where
                  trees may cross, training decodes climb and need none
    labels        "none", "joint" (with the tree), "second-stage" (once it is known) or "both"
    label_bits    log2 of the number of weights of each labeller
    label_cost    MIRA: cost of one wrong label
    space         the trees that are searched: "projective" or "non-projective"
    """

    families: tuple[str, ...] = ()
    learner: Literal["perceptron", "mira"] = "mira"
    epochs: Epochs = 8
    k: Heads | None = 10
    bits: int = 22
    C: Rate = 0.01
    cost: Cost = 0.5
    seed: Seed = 1
    max_dp_calls: Calls = 0
    labels: Literal["none", "joint", "second-stage", "both"] = "none"
    label_bits: int = 23
    label_cost: Cost = 0.25
    space: Literal["projective", "non-projective"] = "projective"

    #: for pydantic, where one is read from a file
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self):
        from treebound.factors import FAMILIES

        object.__setattr__(self, "families", tuple(self.families))
        unknown = [f for f in self.families if f not in FAMILIES or f == "arc"]
        if unknown:
            raise InputError(
                f"unknown factor family {unknown[0]!r}",
                hint="choose from " + ", ".join(f for f in FAMILIES if f != "arc"),
            )
        if len(set(self.families)) < len(self.families):
            raise InputError("a factor family is named twice", hint="name each once")
        if self.learner not in ("perceptron", "mira"):
            raise InputError(f"unknown learner {self.learner!r}", hint="choose perceptron or mira")
        for name in ("bits", "label_bits"):
            if not 12 <= getattr(self, name) <= 28:
                raise InputError(
                    f"{name} = {getattr(self, name)}: a weight table has 2**bits entries", hint="choose 12 to 28"
                )
        if self.space not in ("projective", "non-projective"):
            raise InputError(f"unknown tree space {self.space!r}", hint="choose projective or non-projective")
        if self.labels not in LABELS:
            raise InputError(f"unknown way of labelling {self.labels!r}", hint="choose from " + ", ".join(LABELS))

    def as_dict(self) -> dict:
        """Plain values, as stored in a model file."""
        return asdict(self) | {"families": list(self.families)}
