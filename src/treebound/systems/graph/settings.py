"""Settings of a graph-based model: how it is trained, and which trees it can return."""

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
    """Return the name of a factor family other than `arc`. Raises ValueError for any other name."""
    if name not in FAMILIES or name == "arc":
        families = ", ".join(f for f in FAMILIES if f != "arc")
        raise ValueError(f"unknown factor family {name!r}; choose from {families}")
    return name


Bits = Annotated[int, Field(ge=12, le=28)]  #: base-2 logarithm of the number of weights in a table
Family = Annotated[str, AfterValidator(_family)]
Learner = Literal["mira", "perceptron"]
Averaging = Literal["uniform", "polynomial"]
Labels = Literal["none", "joint", "second-stage", "both"]


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a graph-based model. The defaults are the model `combined-pruned` of params.yaml.

    Trees and features:

    space         the set of trees that is searched
    families      factor families in addition to `arc`. `adapted_settings` removes `pattern` if the treebank has none
    bits          base-2 logarithm of the number of weights of arcs and factors

    Candidate heads:

    k             number of candidate heads per word. None keeps all heads
    threshold     drop a candidate head if its probability is below this fraction of the best head's probability.
                  0 keeps all k heads. None means 0.001, or 0 if k is None or arcs may cross
    pruner_folds  number of folds for pruning the training treebank. Each fold is pruned, also by the threshold, with a
                  pruner trained on the other folds. 0 prunes training by k alone, with the model's own pruner.
                  None means 2 with a threshold, else 0
    pruner_bits   base-2 logarithm of the number of weights of the pruner. None means bits, at most 20

    Learning:

    learner       "perceptron" (Collins 2002, as published) or "mira" (cost-augmented passive-aggressive)
    C, cost       for MIRA: largest step, and cost of one wrong head
    max_dp_calls  limit of dynamic-program calls per sentence, in training (0 means no limit) and on dev. A sentence
                  that reaches the limit gets the best tree found so far. Training with crossing arcs decodes by hill
                  climbing and needs no limit
    averaging     how the weights after each sentence are averaged: "uniform" or "polynomial". A polynomial average
                  weights sentence t by the square of t (`learning.updates.Learner`), so that three epochs replace six.
                  None means polynomial for mira and uniform for perceptron, whose average must be an exact integer

    Labels:

    labels        "none", "joint" (chosen with the tree), "second-stage" (chosen for a known tree) or "both"
    label_bits    base-2 logarithm of the number of weights of each labeller. None means bits + 1, at most 28
    """

    families: tuple[Family, ...] = option(
        ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling", "comb", "pattern"),
        "Factor families in addition to arcs, separated by commas. An empty value trains a model of arcs alone, which "
        "is faster but less accurate.",
    )
    learner: Learner = option(
        "mira",
        "Learning algorithm: mira, or perceptron, the published averaged perceptron, which has integer scores but is "
        "less accurate.",
    )
    epochs: Epochs = option(3, "Number of passes over TRAIN. The model of the pass that is best on DEV is saved.")
    k: Annotated[Heads | None, BeforeValidator(lambda k: None if k == "none" else k)] = option(
        10,
        "Number of candidate heads that the pruner keeps for each word, or none to keep all heads. The last line of "
        "the output reports the share of correct heads that is kept.",
    )
    threshold: Annotated[float, Field(ge=0, lt=1)] | None = option(
        None,
        "Drop a candidate head if its probability is below this fraction of the best head's probability. 0 keeps all "
        "k heads. [default: 0.001; 0 with --space non-projective or --k none]",
    )
    bits: Bits = option(
        22, "Base-2 logarithm of the number of weights. A lower value gives a smaller, less accurate model."
    )
    C: Rate = option(0.01, "Largest step of a mira update.")
    cost: Cost = option(0.5, "Margin that mira requires for each wrong head.")
    seed: Seed = option(1, "Random seed for the order of the training sentences. Equal seeds give equal models.")
    max_dp_calls: Calls = option(
        100,
        "Stop decoding a sentence after this many dynamic-program calls and use the best tree found so far. 0 means no "
        "limit. With --space non-projective, the limit applies to DEV only.",
    )
    labels: Labels = option(
        "both",
        "Method of choosing labels: none, joint (together with the tree), second-stage (after the tree) or both.",
    )
    label_bits: Bits | None = option(
        None, "Base-2 logarithm of the number of weights of each labeller. [default: bits + 1, at most 28]"
    )
    label_cost: Cost = option(0.25, "Margin that mira requires for each wrong label.")
    space: Space = option(
        "projective",
        "Set of trees to search: projective, or non-projective, where arcs may cross. Choose non-projective if many "
        "arcs of TRAIN cross; training takes longer.",
    )
    pruner_epochs: Epochs = option(
        3, "Number of passes over TRAIN for the pruner, the first-order model that chooses the candidate heads."
    )
    pruner_bits: Annotated[int, Field(ge=8, le=28)] | None = option(
        None, "Base-2 logarithm of the number of weights of the pruner. [default: bits, at most 20]"
    )
    pruner_folds: Annotated[int, Field(ge=0, le=1000)] | None = option(
        None,
        "Number of folds for pruning TRAIN: each fold is pruned, also by --threshold, with a pruner trained on the "
        "other folds. 0 prunes TRAIN by --k alone. [default: 2 with a threshold, else 0]",
    )
    averaging: Averaging | None = option(
        None,
        "Average of the weights over training: polynomial, where later weights count more, or uniform, which needs "
        "twice as many epochs. [default: polynomial for mira, uniform for perceptron]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.families)) < len(self.families):
            raise SettingError("families", "a factor family is named twice", "name each family once")
        if self.averaging == "polynomial" and self.learner == "perceptron":
            hint = "leave averaging unset, or choose the learner mira"
            raise SettingError("averaging", "the weights of a perceptron can only be averaged uniformly", hint)
        if self.threshold is None:
            pruned = self.k is not None and self.space == "projective"
            object.__setattr__(self, "threshold", 0.001 if pruned else 0.0)
        if self.pruner_folds is None:
            object.__setattr__(self, "pruner_folds", 2 if self.threshold else 0)
        if self.pruner_folds == 1:
            raise SettingError(
                "pruner_folds", "a single fold leaves no sentences for the pruner", "give 0 or at least 2"
            )
        if self.label_bits is None:
            object.__setattr__(self, "label_bits", min(28, self.bits + 1))
        if self.pruner_bits is None:
            object.__setattr__(self, "pruner_bits", min(20, self.bits))

    @property
    def average_degree(self) -> int:
        """The power of t by which the weights after sentence t count in the average: 0 or 2."""
        averaging = self.averaging or ("polynomial" if self.learner == "mira" else "uniform")
        return 2 if averaging == "polynomial" else 0

    def adapted_settings(self, treebank: Treebank) -> Settings:
        """Return the settings that can be trained on a treebank.

        The family `pattern` is removed if the treebank names no patterns. `pruner_folds` is 0 if the treebank has a
        single sentence.
        """
        families = self.families if treebank.meta.get("patterns") else [f for f in self.families if f != "pattern"]
        return replace(self, families=tuple(families), pruner_folds=self.pruner_folds if len(treebank) > 1 else 0)
