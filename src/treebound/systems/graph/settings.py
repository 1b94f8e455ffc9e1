"""How a graph-based model is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from treebound.core.spaces import Space
from treebound.factors import FAMILIES
from treebound.support.settings import Calls, Checked, Cost, Epochs, Heads, Rate, Seed, SettingError, option

if TYPE_CHECKING:
    from treebound.core.treebank import Treebank


def _family(name: str) -> str:
    if name not in FAMILIES or name == "arc":
        known = ", ".join(f for f in FAMILIES if f != "arc")
        raise ValueError(f"unknown factor family {name!r}; choose from {known}")
    return name


Bits = Annotated[int, Field(ge=12, le=28)]  #: log2 of the size of a table of weights
Family = Annotated[str, AfterValidator(_family)]
Learner = Literal["mira", "perceptron"]
Averaging = Literal["uniform", "polynomial"]
Labels = Literal["none", "joint", "second-stage", "both"]


@dataclass(frozen=True)
class Settings(Checked):
    """Of a model; the defaults are the model `combined-pruned` of params.yaml.

    families      factor families beside `arc`; `pattern` where the treebank names patterns (`fitted`)
    learner       "perceptron" (Collins 2002, as published) or "mira" (cost-augmented passive-aggressive)
    k             candidate heads a word in training; None: all
    threshold     of those only the ones that the pruner finds at least so many times as probable as the best; 0: all k.
                  None: 0.001, and 0 where k is None or trees may cross
    pruner_folds  training, too, is pruned by the threshold: each of so many folds by a pruner trained on the others.
                  0: by k alone, and the pruner that the model keeps. None: 2 with a threshold, else 0
    C, cost       MIRA: largest step, and cost of one wrong head
    max_dp_calls  cap of one training decode (0: none), and of one on dev; a capped decode returns its best tree. Where
                  trees may cross, training decodes climb and need none
    labels        "none", "joint" (with the tree), "second-stage" (once it is known) or "both"
    label_bits    log2 of the number of weights of each labeller; None: one more than bits
    space         the trees that are searched
    pruner_bits   log2 of the number of weights of the pruner; None: bits, but at most 20
    averaging     the model's weights are the mean of those after each sentence: "uniform", or "polynomial", where
                  weights count by the square of their time (`learning.updates.Learner`), so that three epochs do for
                  six. None: polynomial with mira; uniform with perceptron, whose average is an exact integer only so
    """

    families: tuple[Family, ...] = option(
        ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling", "comb", "pattern"),
        "Factor families beside arcs, separated by commas; empty for arcs alone: fast, less accurate.",
    )
    learner: Learner = option("mira", "mira, or perceptron: as in the paper, with integer scores, less accurate.")
    epochs: Epochs = option(3, "Passes over TRAIN; the best one on DEV is kept.")
    k: Annotated[Heads | None, BeforeValidator(lambda k: None if k == "none" else k)] = option(
        10, "Heads that the pruner keeps for each word, or none: all; the last line says what that loses."
    )
    threshold: Annotated[float, Field(ge=0, lt=1)] | None = option(
        None,
        "Keep of the k heads those that are at least so many times as probable as the best one; 0: all k. "
        "[default: 0.001; crossing or without k: 0]",
    )
    bits: Bits = option(22, "Log2 of the number of weights; fewer make a smaller, coarser model.")
    C: Rate = option(0.01, "Largest step of the mira update.")
    cost: Cost = option(0.5, "Margin asked for each wrong head (mira).")
    seed: Seed = option(1, "Of the order of sentences; equal seeds give equal models.")
    max_dp_calls: Calls = option(
        100,
        "Dynamic programs for a sentence; where they do not do, the best tree; 0: as many as it takes. Crossing: of "
        "DEV only.",
    )
    labels: Labels = option(
        "both", "How arcs are labelled: none, joint (with the tree), second-stage (after it) or both."
    )
    label_bits: Bits | None = option(None, "Log2 of the number of weights of each labeller. [default: bits + 1]")
    label_cost: Cost = option(0.25, "Margin asked for each wrong label (mira).")
    space: Space = option(
        "projective", "non-projective: arcs of a tree may cross; advised where many do. Training takes longer."
    )
    pruner_epochs: Epochs = option(
        3, "Passes over TRAIN of the pruner, the first-order model that chooses the k heads."
    )
    pruner_bits: Annotated[int, Field(ge=8, le=28)] | None = option(
        None, "Log2 of the number of weights of the pruner. [default: bits, at most 20]"
    )
    pruner_folds: Annotated[int, Field(ge=0, le=1000)] | None = option(
        None,
        "Prune TRAIN by --threshold, too, each of so many parts by a pruner that is trained on the others; 0: by --k "
        "alone. [default: 2 with a threshold, else 0]",
    )
    averaging: Averaging | None = option(
        None,
        "Mean of the weights over training: polynomial (later weights count more) or uniform, which takes twice the "
        "epochs. [default: polynomial; perceptron: uniform]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.families)) < len(self.families):
            raise SettingError("families", "a factor family is named twice", "name each once")
        if self.averaging == "polynomial" and self.learner == "perceptron":
            hint = "leave averaging, or choose mira"
            raise SettingError("averaging", "the average of a perceptron is uniform", hint)
        if self.threshold is None:
            pruned = self.k is not None and self.space == "projective"
            object.__setattr__(self, "threshold", 0.001 if pruned else 0.0)
        if self.pruner_folds is None:
            object.__setattr__(self, "pruner_folds", 2 if self.threshold else 0)
        if self.pruner_folds == 1:
            raise SettingError("pruner_folds", "one fold leaves nothing to train on", "give 0, or at least 2")
        if self.label_bits is None:
            object.__setattr__(self, "label_bits", min(28, self.bits + 1))
        if self.pruner_bits is None:
            object.__setattr__(self, "pruner_bits", min(20, self.bits))

    @property
    def average_degree(self) -> int:
        """How much the weights after sentence t count in the average: by this power of t."""
        averaging = self.averaging or ("polynomial" if self.learner == "mira" else "uniform")
        return 2 if averaging == "polynomial" else 0

    def fitted(self, treebank: Treebank) -> Settings:
        """What can be trained on a treebank: without patterns where it names none, or folds of a single sentence."""
        families = self.families if treebank.meta.get("patterns") else [f for f in self.families if f != "pattern"]
        return replace(self, families=tuple(families), pruner_folds=self.pruner_folds if len(treebank) > 1 else 0)
