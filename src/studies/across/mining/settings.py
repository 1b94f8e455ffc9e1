"""Settings of the stage `mining`: the treebanks that are mined."""

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
    """A treebank that is mined, and the definition of its errors.

    treebank   the treebank that is mined
    splits     splits of the treebank that are mined together, as one document
    later      a later release of the treebank; annotations that it changed count as errors. "" plants errors instead
    planted    share of heads that are replaced at random if there is no later release
    reference  True trains one model on the training split of the later release, instead of one model per fold
    folds      number of folds; each fold is parsed by a model trained on the other folds
    sentences  number of sentences that are mined, from the first; null means all
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
    """The treebanks that are mined, and the evaluation of the ranked lists.

    runs   name of the run -> the treebank and its settings
    ks     lengths of the list at which precision and recall are measured
    trees  length of the k-best lists whose disagreement with the annotation is one of the rankings
    """

    runs: dict[Name, Run] = Field(default_factory=dict)
    ks: tuple[Positive, ...] = (50, 100, 200, 500, 1000)
    trees: Positive = 10

    def check(self, params: Params) -> None:
        """Raise ValueError if a treebank is unknown, or if the settings of a run contradict each other.

        A run needs exactly one of `later` and `planted`. `reference` needs `later`, and must not mine the split train.
        """
        for name, run in self.runs.items():
            for treebank in filter(None, (run.treebank, run.later)):
                if params.treebanks and treebank not in params.treebanks:  # parameters of older runs list no treebanks
                    raise ValueError(f"{name}: no treebank {treebank!r}; choose from {', '.join(params.treebanks)}")
            if bool(run.later) == bool(run.planted):
                raise ValueError(f"{name}: name either a later release or a share of planted errors")
            if run.reference and not run.later:
                raise ValueError(
                    f"{name}: the reference is the training split of a later release; name a later release"
                )
            if run.reference and "train" in run.splits:
                raise ValueError(f"{name}: the split train is mined, so its later release cannot be the reference")
