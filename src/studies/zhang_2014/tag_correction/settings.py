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
    """Settings for choosing tags together with trees (Zhang et al. 2014, Table 3). See `stage`.

    published  corpora on which the method of the paper is measured as well; see `measure`
    """

    corpora: tuple[Name, ...] = ()
    settings: Correcting = Field(default_factory=Correcting)
    published: tuple[Name, ...] = ()

    def check(self, params: Params) -> None:
        """Raise ValueError if a corpus is not among the treebanks, or one of `published` not among `corpora`."""
        params.check_treebanks(self.corpora)
        if missing := [name for name in self.published if name not in self.corpora]:
            raise ValueError(f"published: {missing[0]} is not among the corpora of tag_correction")
