"""Settings of the stages `derivations`, `ccg-train` and `ccg`."""

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

    more       a corpus whose training derivations it learns from as well
    tags       that it is trained and tested with; predicted ones are those of taggers of the derivations' own words
    sentences  of training, at most, and a quarter as many of dev and test; a slice of the run may leave fewer
    """

    corpus: Name
    more: Name | None = None
    tags: Tags = "gold"
    sentences: Positive | None = None
    settings: CCGSettings = CCGSettings()


@dataclass(frozen=True, config=STRICT)
class CCG(Section):
    """Translation to CCG derivations, and supertaggers with parsers; see `measure`.

    derivations  corpora that are translated; parsers: by name, of some of them
    beams        beta:k of the single beams that are compared, narrow ones first
    """

    derivations: tuple[Name, ...] = ()
    parsers: dict[Name, CCGParser] = Field(default_factory=dict)
    beams: Annotated[Checked_beams, Field(min_length=1)] = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:20")

    def __post_init__(self) -> None:
        for name, parser in self.parsers.items():
            if unknown := {parser.corpus, parser.more} - {*self.derivations, None}:
                raise ValueError(f"parsers: {name}: {min(filter(None, unknown))} is none of the derivations")

    def check(self, params: Params) -> None:
        """Raise ValueError where a corpus is none of the treebanks."""
        params.check_treebanks(self.derivations)
