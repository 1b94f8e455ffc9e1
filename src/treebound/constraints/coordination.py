"""Code that constraints on coordinations share: find conjunctions, and the possible arguments on each side of them.

An argument of a coordination is a dependent of its conjunction with the label `label` (cnj). A constraint concerns a
conjunction if the constraint's settings list the word's form in lower case and its word class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treebound.constraints.rows import Variables, Words

#: "always": every conjunction heads a coordination. "coordinating": the rule applies to conjunctions with arguments
When = Literal["coordinating", "always"]


@dataclass(frozen=True)
class Conjunctions:
    """The settings that say which words count as conjunctions for a constraint.

    forms    forms in lower case
    classes  word classes; empty for all classes
    label    label of arguments
    when     "always" if every conjunction heads a coordination. "coordinating" if only conjunctions with arguments do
    """

    forms: Sequence[str]
    classes: Sequence[str] = ()
    label: str = "cnj"
    when: When = "coordinating"

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown value of `when`."""
        if self.when not in ("coordinating", "always"):
            raise ValueError(f"unknown when {self.when!r}: choose from coordinating, always")

    def words(self, words: Words) -> list[int]:
        """Return the positions of the conjunctions in a sentence."""
        return [
            i
            for i in range(1, words.n + 1)
            if words.lower[i] in self.forms and (not self.classes or words.word_class[i] in self.classes)
        ]


class Sides(NamedTuple):
    """A conjunction, and the variables of its possible arguments on each side."""

    word: int
    left: np.ndarray
    right: np.ndarray


def sides(conjunctions: Conjunctions, variables: Variables) -> Iterator[Sides]:
    """Yield every conjunction of the sentence, with the variables of its possible arguments on each side."""
    positions = conjunctions.words(variables.words)
    if not positions:
        return
    columns = variables.labelled(conjunctions.label)
    for i in positions:
        own = columns[variables.head[columns] == i]
        yield Sides(i, own[variables.mod[own] < i], own[variables.mod[own] > i])
