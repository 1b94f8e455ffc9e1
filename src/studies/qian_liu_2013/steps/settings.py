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
    """Difference of one training from the base system. Fields that are not set stay as in the base system.

    add, drop     factor families that are added to the model, or removed from it
    unseen        attributes of words that the model does not see: their templates are left out
    word_pairs    whether factors of more than one arc have templates over two of their words
    threshold     threshold of the pruner
    pruner_folds  number of folds in jackknifing the pruner for training
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
        """Describe the step in words. The text is empty if nothing is changed."""
        parts = [f"with {', '.join(self.add)}"] if self.add else []
        lacks = (*self.drop, *self.unseen, *([] if self.word_pairs else ["word-pair templates"]))
        parts += [f"without {', '.join(lacks)}"] if lacks else []
        return ", ".join((*parts, *(f"{name} = {value}" for name, value in self.settings.items())))

    @property
    def settings(self) -> dict[str, Any]:
        """Return the fields of the trainer's settings that the step changes, except the families."""
        names = ("labels", "learner", "averaging", "epochs", "max_dp_calls", "threshold", "pruner_folds")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=STRICT)
class Steps(Section):
    """Trainings that each differ from the base system in one step of learning. See `measure`.

    Their accuracy is measured on the development set.

    corpora  corpora to train on, possibly none
    model    the base system, with the settings of `train`
    runs     variations of the base system; the first changes nothing, and the others are compared with it
    """

    model: str = ""
    runs: Annotated[dict[Name, Step], Field(min_length=2)] = Field(default_factory=dict)
    corpora: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if not self.runs:
            return
        (first, base), *others = self.runs.items()
        if base != Step():
            raise ValueError(
                f"runs: {first} is the first run, with which the others are compared; it must change nothing"
            )
        for name, step in others:
            if step == base:
                raise ValueError(f"runs: {name} changes nothing")

    @property
    def base(self) -> str:
        """Return the name of the run that the others are compared with."""
        return next(iter(self.runs), "")

    def check(self, params: Params) -> None:
        """Raise ValueError for an unknown model or corpus, or for a family that cannot be added or dropped.

        A family cannot be added if the model has it already, and cannot be dropped if the model lacks it.
        """
        if not self.runs:
            return
        if self.model not in params.models or params.models[self.model].system != "graph":
            raise ValueError(f"no model {self.model!r}; choose from {', '.join(params.models)}")
        if unknown := [corpus for corpus in self.corpora if corpus not in params.corpora]:
            raise ValueError(f"no corpus {unknown[0]!r}; choose from {', '.join(params.corpora)}")
        families = params.models[self.model].settings.families
        for name, step in self.runs.items():
            if present := [family for family in step.add if family in families]:
                raise ValueError(f"runs: {name}: {self.model} has {present[0]} already")
            if missing := [family for family in step.drop if family not in families]:
                raise ValueError(f"runs: {name}: {self.model} has no {missing[0]}; it has {', '.join(families)}")
