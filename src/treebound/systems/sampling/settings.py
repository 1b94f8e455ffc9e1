"""Settings of a parser by sampling: its training, and the defaults of its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from treebound.core.spaces import Space
from treebound.factors import FAMILIES
from treebound.support.settings import Checked, Cost, Epochs, Heads, Rate, Seed, SettingError, option
from treebound.systems.sampling.globals.table import FEATURES


def _family(name: str) -> str:
    if name not in FAMILIES or name in ("arc", "pattern"):
        known = ", ".join(f for f in FAMILIES if f not in ("arc", "pattern"))
        raise ValueError(f"unknown factor family {name!r}; choose from {known}")
    return name


def _feature(name: str) -> str:
    if name not in FEATURES:
        raise ValueError(f"unknown global feature {name!r}; choose from {', '.join(FEATURES)}")
    return name


Family = Annotated[str, AfterValidator(_family)]
Feature = Annotated[str, AfterValidator(_feature)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
#: the parts of the Turbo parser (Martins, Almeida & Smith 2013)
TURBO = ("adjacent-sibling", "grandchild", "sibling", "head-bigram", "grand-sibling", "tri-sibling")


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a sampling model. The defaults are the features of Zhang et al. (2014) that have a factor family."""

    families: tuple[Family, ...] = option(
        (*TURBO, "great-grandchild"), "Factor families in addition to arcs, separated by commas."
    )
    global_features: tuple[Feature, ...] = option(
        tuple(FEATURES),
        "Global features, that is, features of whole trees, separated by commas. An empty value turns them off, as in "
        "the Turbo parser.",
    )
    space: Space = option("projective", "Set of trees: projective, or non-projective, whose arcs may cross.")
    epochs: Epochs = option(5, "Number of passes over TRAIN. The model of the pass with the best UAS on DEV is saved.")
    sweeps: Count = option(2, "Number of samples per word of a sentence in each epoch.")
    constraints: Literal["both", "neighbour", "gold"] = option(
        "both",
        "Constraints that training enforces. neighbour: of two successive samples, the sample with fewer errors scores "
        "more. gold: the gold tree scores more than the tree that --violator names. both enforces both.",
    )
    violator: Literal["climb", "sample"] = option(
        "climb",
        "Tree with which training compares the gold tree. climb: the result of greedy search from the last sample, "
        "in which every wrong head scores --cost more. sample: the last sample, as published.",
    )
    k: Heads = option(30, "Number of candidate heads per word, at most.")
    threshold: Share = option(
        0.005,
        "Drop a candidate head if its probability is below this fraction of the best head's probability. 0 keeps all "
        "candidates.",
    )
    training_k: Heads = option(
        10,
        "Number of candidate heads per word in training. The threshold is not applied there, because the pruner is "
        "overconfident on its own training data.",
    )
    bits: Annotated[int, Field(ge=12, le=24)] = option(22, "Base-2 logarithm of the number of weights.")
    C: Rate = option(0.01, "Largest step size of a MIRA update.")
    cost: Cost = option(0.5, "Margin that training requires for each wrong head, in units of scores.")
    temperature: Rate = option(0.1, "Temperature of the samples in training, in units of scores.")
    labels: Literal["joint", "none"] = option(
        "joint",
        "Labels of arcs. joint adds the score of an arc's best label to the arc and assigns that label. none parses "
        "without labels, as published.",
    )
    label_bits: Annotated[int, Field(ge=12, le=28)] | None = option(
        None, "Base-2 logarithm of the number of weights of labels. [default: bits + 1]"
    )
    label_cost: Cost = option(0.25, "Margin that training requires for each wrong label, in units of scores.")
    seed: Seed = option(
        1, "Random seed for the order of sentences and for samples. Equal seeds give equal models and trees."
    )
    search: Literal["gibbs", "random-walk", "greedy"] = option(
        "gibbs",
        "Search of the parser. gibbs and random-walk anneal a sampling chain and then improve its tree greedily; "
        "random-walk needs trees whose arcs may cross. greedy makes greedy improvements only.",
    )
    restarts: Count = option(20, "Number of search runs per sentence, at most.")
    patience: Count = option(4, "Number of consecutive runs without a better tree after which the search stops.")
    pruner_epochs: Epochs = option(3, "Number of passes over TRAIN for the pruner, a first-order model.")
    schedule: Literal["visit", "sample"] = option(
        "visit",
        "Schedule of training: visit, or sample as in Figure 4 of Zhang et al. (2014). visit scores a sentence once, "
        "compares each sample with the one before it, and compares the gold tree with one tree at the end. "
        "sample compares every proposal with the sample before it, and every sample with the gold tree. It scores the "
        "sentence again after every update.",
    )
    proposal: Literal["gibbs", "random-walk"] = option(
        "gibbs",
        "Proposal of the samples in training. gibbs draws the head of one word. random-walk draws the heads of four "
        "words by Wilson's random walks, as published; it needs --schedule sample and trees whose arcs may cross.",
    )
    samples: Annotated[int, Field(ge=0, le=1_000_000)] = option(
        0,
        "Number of samples of a sentence in each epoch, whatever its length. 0 takes --sweeps samples per word.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_bits is None:
            object.__setattr__(self, "label_bits", self.bits + 1)
        for name in ("families", "global_features"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise SettingError(name, "an item is named twice", "name each once")
        if self.proposal == "random-walk" and (self.space == "projective" or self.schedule != "sample"):
            hint = "add --space non-projective --schedule sample"
            raise SettingError(
                "proposal", "random walks build trees with crossing arcs and need a comparison after every sample", hint
            )
        if self.schedule == "sample" and (self.violator != "sample" or self.labels != "none"):
            hint = "add --violator sample --labels none"
            raise SettingError(
                "schedule", "this schedule compares the gold tree with samples and learns no labels", hint
            )
        if self.search == "random-walk" and self.space == "projective":
            raise SettingError("search", "random walks build trees with crossing arcs", "add --space non-projective")
