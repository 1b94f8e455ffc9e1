"""Settings of the stage `validity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, FiniteFloat
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Name, Positive, Section
from treebound.systems.graph.settings import Settings as Graph
from treebound.systems.tagging.settings import Settings as Tagging

if TYPE_CHECKING:
    from studies.common.params import Params


@dataclass(frozen=True, config=STRICT)
class ValidTrees(Section):
    """Settings for counting the errors that the official validator of Universal Dependencies finds in parses.

    corpora  treebanks of Universal Dependencies, version 2
    train    largest number of training sentences; null means all
    test     largest number of sentences of the development and the test split; null means all
    model    settings of `treebound train --system graph`
    tagger   settings of `treebound train --system tagging`, for the taggers of the predicted tags
    repeats  number of timed runs of each parser
    peers    name of a peer (`spacy`, `udpipe`) -> settings of its training
    """

    corpora: tuple[Name, ...] = ()
    train: Positive | None = None
    test: Positive | None = None
    model: Graph = Field(default_factory=Graph)
    tagger: Tagging = Field(default_factory=Tagging)
    repeats: Positive = 3
    peers: dict[Name, dict[str, int | FiniteFloat | str]] = Field(default_factory=dict)

    def check(self, params: Params) -> None:
        """Raise ValueError if a corpus is missing in `treebanks`, or if the name of a peer is unknown."""
        params.check_treebanks(self.corpora)
        known = ("spacy", "udpipe")
        if unknown := [name for name in self.peers if name not in known]:
            raise ValueError(f"peers: no parser {unknown[0]!r}; choose from {', '.join(known)}")

    def limit(self, params: Params, split: str) -> int | None:
        """Return the largest number of sentences of a split; None means all."""
        return params.limit(split, self.train if split == "train" else self.test)
