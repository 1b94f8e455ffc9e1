"""Settings of the stage `steps`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Attribute, Count, Name, Positive, Section
from treebound.systems.graph.settings import Averaging, Family, Labels, Learner

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Step:
    """What one training differs in from the base system; what is not given stays as it is there.

    add, drop  factor families that its model has, or lacks
    unseen     attributes of words that it does not see: their templates are left out
    word_pairs whether factors of more than one arc have templates over two of their words
    threshold, pruner_folds  of the pruner, and by how many folds it is jackknifed for training
    """

    add: tuple[Family, ...] = ()
    drop: tuple[Family, ...] = ()
    unseen: tuple[Attribute, ...] = ()
    word_pairs: bool = True
    labels: Labels | None = None
    learner: Learner | None = None
    averaging: Averaging | None = None
    epochs: Positive | None = None
    max_dp_calls: Count | None = None
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    pruner_folds: Annotated[int, Field(ge=2, le=1000)] | None = None

    def __str__(self) -> str:
        """In words; empty if nothing is changed."""
        parts = [f"with {', '.join(self.add)}"] if self.add else []
        lacks = (*self.drop, *self.unseen, *([] if self.word_pairs else ["word-pair templates"]))
        parts += [f"without {', '.join(lacks)}"] if lacks else []
        return ", ".join((*parts, *(f"{name} = {value}" for name, value in self.settings.items())))

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of the settings that it sets, families aside."""
        names = ("labels", "learner", "averaging", "epochs", "max_dp_calls", "threshold", "pruner_folds")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=STRICT)
class Steps(Section):
    """What each step of learning brings on dev: trainings that differ in one thing; see `measure`.

    corpora  corpora that are trained on, perhaps none
    model    the base system, with the settings of `train`
    runs     its variations; the first changes nothing: the others are compared with it
    """

    model: str = ""
    runs: Annotated[dict[Name, Step], Field(min_length=2)] = Field(default_factory=dict)
    corpora: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if not self.runs:
            return
        (first, base), *others = self.runs.items()
        if base != Step():
            raise ValueError(f"runs: {first} is the first one, which the others are compared with: it changes nothing")
        for name, step in others:
            if step == base:
                raise ValueError(f"runs: {name} changes nothing")

    @property
    def base(self) -> str:
        """The name of the run that the others are compared with."""
        return next(iter(self.runs), "")

    def check(self, params: Params) -> None:
        """Raise ValueError for a model, corpus or family that is not there."""
        if not self.runs:
            return
        if self.model not in params.models or params.models[self.model].system != "graph":
            raise ValueError(f"no model {self.model!r}; choose from {', '.join(params.models)}")
        if unknown := [corpus for corpus in self.corpora if corpus not in params.corpora]:
            raise ValueError(f"no corpus {unknown[0]!r}; choose from {', '.join(params.corpora)}")
        families = params.models[self.model].settings.families
        for name, step in self.runs.items():
            if there := [family for family in step.add if family in families]:
                raise ValueError(f"runs: {name}: {self.model} has {there[0]} already")
            if missing := [family for family in step.drop if family not in families]:
                raise ValueError(f"runs: {name}: {self.model} has no {missing[0]}; it has {', '.join(families)}")
