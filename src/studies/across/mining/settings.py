"""Settings of the stage `mining`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Corpus, Name, Positive, Section

if TYPE_CHECKING:
    from studies.common.params import Params

Split = Literal["train", "dev", "test"]


@dataclass(frozen=True, config=STRICT)
class Run:
    """A treebank that is mined, and what counts as an error.

    treebank   the annotation that is mined
    splits     parts of the treebank that are mined, as one document
    later      a later release of the treebank: an annotation that this release changed is an error. "" plants errors
    planted    share of heads that are replaced at random, where there is no later release
    reference  whether one model is trained on the training part of the later release, in the place of folds
    folds      number of folds, each of which is parsed by a model of the others
    sentences  the first N sentences alone; null: all
    training   settings of the models that differ from the defaults of `treebound mine`
    """

    treebank: Corpus
    splits: tuple[Split, ...]
    later: Corpus | Literal[""] = ""
    planted: Annotated[float, Field(ge=0, lt=1)] = 0.0
    reference: bool = False
    folds: Annotated[int, Field(ge=2, le=1000)] = 5
    sentences: Positive | None = None
    training: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, config=STRICT)
class Mining(Section):
    """The treebanks that are mined, by the name of the run, and how the ranked lists are judged.

    ks     lengths of the list at which precision and recall are measured
    trees  length of the k-best list whose disagreement with the annotation is one of the rankings
    """

    runs: dict[Name, Run] = Field(default_factory=dict)
    ks: tuple[Positive, ...] = (50, 100, 200, 500, 1000)
    trees: Positive = 10

    def check(self, params: Params) -> None:
        """Raise ValueError for a treebank that is not fetched, and for a run without errors to look for."""
        for name, run in self.runs.items():
            for treebank in filter(None, (run.treebank, run.later)):
                if params.treebanks and treebank not in params.treebanks:  # older runs name none
                    raise ValueError(f"{name}: no treebank {treebank!r}; choose from {', '.join(params.treebanks)}")
            if bool(run.later) == bool(run.planted):
                raise ValueError(f"{name}: name either a later release or a share of planted errors")
            if run.reference and not run.later:
                raise ValueError(f"{name}: the reference is the training part of a later release; name one")
            if run.reference and "train" in run.splits:
                raise ValueError(f"{name}: the split train is mined, so its later release cannot be the reference")
