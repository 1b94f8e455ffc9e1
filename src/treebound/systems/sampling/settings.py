"""How a parser that samples is trained, and how it searches unless told otherwise."""

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
    """Of a model; the defaults are the full features of Zhang et al. (2014), as far as there are families of them."""

    families: tuple[Family, ...] = option((*TURBO, "great-grandchild"), "Factor families beside arcs.")
    global_features: tuple[Feature, ...] = option(
        tuple(FEATURES), "Features of whole trees, separated by commas; empty: none, as in the Turbo parser."
    )
    space: Space = option("projective", "non-projective: arcs of a tree may cross.")
    epochs: Epochs = option(5, "Passes over TRAIN; the best one on DEV is kept.")
    sweeps: Count = option(2, "Samples of a sentence in each epoch, times its words.")
    constraints: Literal["both", "neighbour", "gold"] = option(
        "both",
        "What is learnt: neighbour: of two successive samples the better one scores more; gold: the right tree.",
    )
    violator: Literal["climb", "sample"] = option(
        "climb",
        "What the right tree is to score more than: climb: the tree to which a climb leads from the last sample once "
        "wrong heads score COST more; sample: the last sample, as published.",
    )
    k: Heads = option(30, "Heads that the pruner keeps for each word, at most.")
    threshold: Share = option(0.005, "Of these, heads at least so many times as probable as the best one.")
    training_k: Heads = option(
        10, "Heads in training, whatever their probability: of TRAIN itself the pruner is too sure."
    )
    bits: Annotated[int, Field(ge=12, le=24)] = option(22, "Log2 of the number of weights.")
    C: Rate = option(0.01, "Largest step of an update.")
    cost: Cost = option(0.5, "Margin asked for each wrong head.")
    temperature: Rate = option(0.1, "Of the samples that are learnt from, in units of scores.")
    labels: Literal["joint", "none"] = option(
        "joint", "joint: an arc scores what its best label adds, and has that label; none: trees alone, as published."
    )
    label_bits: Annotated[int, Field(ge=12, le=28)] | None = option(
        None, "Log2 of the number of weights of labels. [default: bits + 1]"
    )
    label_cost: Cost = option(0.25, "Margin asked for each wrong label.")
    seed: Seed = option(1, "Of orders and samples; equal seeds give equal models and trees.")
    search: Literal["gibbs", "random-walk", "greedy"] = option(
        "gibbs", "How trees are sought: gibbs, random-walk (only where arcs may cross), or greedy: climbs alone."
    )
    restarts: Count = option(20, "Runs for a sentence, at most.")
    patience: Count = option(4, "Enough once so many runs in a row found nothing better.")
    pruner_epochs: Epochs = option(3, "Passes over TRAIN of the pruner, a first-order model.")
    schedule: Literal["visit", "sample"] = option(
        "visit",
        "Which trees learning compares, and under which weights. visit compares successive samples, and the right tree "
        "once per visit of a sentence, under the weights of the beginning of the visit. sample follows the paper's "
        "Figure 4: every proposal is compared with the sample before it, every sample with the right tree, and the "
        "sentence is scored anew after every update.",
    )
    proposal: Literal["gibbs", "random-walk"] = option(
        "gibbs",
        "How samples are proposed in learning. gibbs draws the head of one word. random-walk draws the heads of four "
        "words by Wilson's walks, as published, and needs --schedule sample and trees whose arcs may cross.",
    )
    samples: Annotated[int, Field(ge=0, le=1_000_000)] = option(
        0, "Samples of a sentence in each epoch, whatever its length. 0 takes SWEEPS times the number of its words."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_bits is None:
            object.__setattr__(self, "label_bits", self.bits + 1)
        for name in ("families", "global_features"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise SettingError(name, "one is named twice", "name each once")
        if self.proposal == "random-walk" and (self.space == "projective" or self.schedule != "sample"):
            hint = "add --space non-projective --schedule sample"
            raise SettingError("proposal", "random walks make crossing trees and are compared one by one", hint)
        if self.schedule == "sample" and (self.violator != "sample" or self.labels != "none"):
            hint = "add --violator sample --labels none"
            raise SettingError("schedule", "the right tree is compared with samples, and no labels are learnt", hint)
        if self.search == "random-walk" and self.space == "projective":
            raise SettingError("search", "random walks make crossing trees", "add --space non-projective")
