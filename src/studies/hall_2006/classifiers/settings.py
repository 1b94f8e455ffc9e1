"""Settings of the stage `classifiers`: corpora, feature models and learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from treebound.systems.transition.settings import Settings as Transition

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class Classifiers(Section):
    """The experiments of Hall, Nivre & Nilsson (2006); see `measure`.

    corpora    corpora of the experiments
    sections   corpus -> sections that are test sets, for a corpus whose splits are not used. Sentence i is in section
               i % 10. Each listed section is parsed by models that are trained on the nine other sections
    features   feature models, the one with fewest features first
    learners   name of a learner -> its settings
    shares     shares of the training set, in %, for the learning curve with the last feature model
    repeats    number of timed trainings of each learner with the last feature model and the whole training set
    """

    corpora: tuple[Name, ...] = ()
    sections: dict[Name, tuple[Annotated[int, Field(ge=0, le=9)], ...]] = Field(default_factory=dict)
    features: Annotated[tuple[str, ...], Field(min_length=1)] = ("F1", "F2", "F3", "F4", "F5")
    learners: dict[Name, Transition] = Field(default_factory=dict)
    shares: tuple[Annotated[int, Field(ge=1, le=99)], ...] = (10, 20, 50)
    repeats: Positive = 1

    def __post_init__(self) -> None:
        if unknown := [corpus for corpus in self.sections if corpus not in self.corpora]:
            raise ValueError(f"sections: {unknown[0]} is missing in corpora; add it there")

    def check(self, params: Params) -> None:
        """Raise ValueError for a corpus without a treebank, and for settings of `classifier_search` that do not match.

        The corpora and learners of the section `classifier_search` must also be listed here.
        """
        params.check_treebanks(self.corpora)
        search = params.section(ClassifierSearch)
        for key, names, known in (
            ("corpora", search.corpora, self.corpora),
            ("grids", search.grids if search.corpora else (), self.learners),
        ):
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"{key} of classifier_search: {unknown[0]} is missing in classifiers; add it there")
