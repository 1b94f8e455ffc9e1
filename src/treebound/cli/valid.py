"""What `treebound parse --valid` says about its rules: which cannot be applied, and which sentences break them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treebound.constraints.ud import covered, unknown_tags
from treebound.support.progress import say

if TYPE_CHECKING:
    from treebound.treebanks.document import Document

SHOWN = 10  #: sentences without a valid tree that are named


class Report:
    """What is said about the rules of a parser, file by file.

    validity  the parser's rules (`treebound.systems.graph.validity.Validity`)
    """

    def __init__(self, validity: Any):
        self.validity = validity
        self._tags: set[str] = set()
        self._sentences = self._invalid = 0

    def read(self, name: str, document: Document) -> None:
        """Take some sentences of a file, and say once which of its tags keep rules from being applied."""
        tags = set(unknown_tags(document.treebank.values("upos"))) - self._tags
        if tags:
            self._tags |= tags
            columns = ("feats", "lemma", *(["misc"] if document.layout.misc is not None else []))
            say(f"treebound: warning: {name}: {covered(self.validity.rules, tags, (), columns)} to sentences with them")

    def written(self, sentences: int, invalid: list[tuple[int, tuple[str, ...]]]) -> None:
        """Count sentences, and name those for which no valid tree exists: place, from 0, and rules in conflict."""
        for place, conflict in invalid:
            self._invalid += 1
            if self._invalid <= SHOWN:
                number = self._sentences + place + 1
                rules = f" {', '.join(conflict)} of {self.validity.name}" if conflict else f" {self.validity.name}"
                say(
                    f"treebound: warning: sentence {number}: no tree of its arcs keeps the rules{rules}; its best tree "
                    "is written, with the comment treebound_valid = none"
                )
        self._sentences += sentences

    def finish(self) -> None:
        """Say how many sentences have no valid tree, where not all of them were named."""
        if self._invalid > SHOWN:
            say(f"treebound: warning: {self._invalid} of {self._sentences} sentences have no tree that keeps the rules")
