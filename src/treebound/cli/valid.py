"""Report on the rules of `treebound parse --valid`: rules that cannot be applied, and sentences that break them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treebound.constraints.ud import covered, unknown_tags
from treebound.support.progress import say
from treebound.treebanks.claims import NONE, UNKNOWN

if TYPE_CHECKING:
    from treebound.cli.annotate import WithoutTree
    from treebound.treebanks.document import Document

SHOWN = 10  #: largest number of sentences without a valid tree that are reported one by one


class Report:
    """Warnings about the rules of a parser, file by file.

    validity  the parser's rules (`treebound.systems.graph.validity.Validity`)
    """

    def __init__(self, validity: Any):
        self.validity = validity
        self._tags: set[str] = set()
        self._sentences = self._invalid = 0

    def read(self, name: str, document: Document) -> None:
        """Check the tags of a document, and warn about each tag that is not universal the first time that it occurs."""
        tags = set(unknown_tags(document.treebank.values("upos"))) - self._tags
        if tags:
            self._tags |= tags
            columns = ("feats", "lemma", *(["misc"] if document.layout.misc is not None else []))
            say(f"treebound: warning: {name}: {covered(self.validity.rules, tags, (), columns)} to sentences with them")

    def written(self, sentences: int, invalid: list[WithoutTree]) -> None:
        """Count written sentences, and warn about the sentences without a valid tree.

        sentences  number of sentences that were written
        invalid    the sentences without a valid tree

        No more warnings are written after the first SHOWN.
        """
        for failed in invalid:
            self._invalid += 1
            if self._invalid <= SHOWN:
                number = self._sentences + failed.sentence + 1
                rules = f"{', '.join(failed.conflict)} of " * bool(failed.conflict) + self.validity.name
                value, why = NONE, f"no tree of its arcs keeps the rules {rules}"
                if not failed.proved:
                    value, why = UNKNOWN, f"the search gave up before it found a tree that keeps the rules {rules}"
                say(
                    f"treebound: warning: sentence {number}: {why}; the best tree without rules is written, with the "
                    f"comment treebound_valid = {value}"
                )
        self._sentences += sentences

    def finish(self) -> None:
        """Report the number of sentences without a valid tree if it is larger than SHOWN."""
        if self._invalid > SHOWN:
            count = f"{self._invalid} of {self._sentences} sentences"
            say(f"treebound: warning: {count} have no tree that keeps the rules, or the search found none")
