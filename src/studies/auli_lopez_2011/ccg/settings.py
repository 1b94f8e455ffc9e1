"""Settings of the stages `derivations`, `ccg-train` and `ccg`: corpora, parsers and beams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section, Tags
from treebound.systems.ccg.settings import Checked_beams
from treebound.systems.ccg.settings import Settings as CCGSettings

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class CCGParser:
    """A CCG parser of a corpus that is translated to derivations; see `treebank`.

    corpus     the corpus on which the parser is trained and tested
    more       a second corpus, whose training derivations are added to the training set
    tags       tags for training and testing, gold or predicted; taggers trained on the derivations predict them
    sentences  largest number of training sentences; dev and test have at most a quarter as many. A slice of the run can
               reduce these numbers further
    settings   settings of `treebound train --system ccg`
    """

    corpus: Name
    more: Name | None = None
    tags: Tags = "gold"
    sentences: Positive | None = None
    settings: CCGSettings = CCGSettings()


@dataclass(frozen=True, config=STRICT)
class CCG(Section):
    """Translation to CCG derivations, and supertaggers with parsers; see `measure`.

    derivations  corpora that are translated
    parsers      name of a parser -> its settings; its corpora must be in `derivations`
    beams        single beams that are compared, as beta:k, narrow beams first
    """

    derivations: tuple[Name, ...] = ()
    parsers: dict[Name, CCGParser] = Field(default_factory=dict)
    beams: Annotated[Checked_beams, Field(min_length=1)] = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:20")

    def __post_init__(self) -> None:
        for name, parser in self.parsers.items():
            if unknown := {parser.corpus, parser.more} - {*self.derivations, None}:
                raise ValueError(
                    f"parsers: {name}: {min(filter(None, unknown))} is missing in derivations; add it there"
                )

    def check(self, params: Params) -> None:
        """Raise ValueError if a corpus of `derivations` is missing in `treebanks`."""
        params.check_treebanks(self.derivations)
