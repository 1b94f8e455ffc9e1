"""Settings of the stage `tag-correction`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Section
from treebound.systems.correcting.settings import Settings as Correcting

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class TagCorrection(Section):
    """Tags chosen with trees (Zhang et al. 2014, Table 3); see `stage`.

    published  corpora that are measured by the method of the paper as well; see `measure`
    """

    corpora: tuple[Name, ...] = ()
    settings: Correcting = Field(default_factory=Correcting)
    published: tuple[Name, ...] = ()

    def check(self, params: Params) -> None:
        """Raise ValueError where a corpus is none of the treebanks."""
        params.check_treebanks(self.corpora)
        if missing := [name for name in self.published if name not in self.corpora]:
            raise ValueError(f"published: {missing[0]} is not among the corpora of tag_correction")
