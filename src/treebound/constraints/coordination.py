"""What the coordination families share: which words are conjunctions, and where their arguments may stand.

An argument of a coordination is a modifier of its conjunction under `label` (cnj). A word is a conjunction of a family
if its form (in lower case) is listed and its word class is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treebound.constraints.rows import Variables, Words

#: "always": every such word heads a coordination; "coordinating": it has to have the right arguments if it has any
When = Literal["coordinating", "always"]


@dataclass(frozen=True)
class Conjunctions:
    """forms in lower case; word classes (empty: any); label of arguments; when the rule applies."""

    forms: Sequence[str]
    classes: Sequence[str] = ()
    label: str = "cnj"
    when: When = "coordinating"

    def __post_init__(self) -> None:
        if self.when not in ("coordinating", "always"):
            raise ValueError(f"unknown when {self.when!r}: choose from coordinating, always")

    def words(self, words: Words) -> list[int]:
        """The conjunctions of a sentence."""
        return [
            i
            for i in range(1, words.n + 1)
            if words.lower[i] in self.forms and (not self.classes or words.word_class[i] in self.classes)
        ]


class Sides(NamedTuple):
    """A conjunction and the variables of its possible arguments on each side."""

    word: int
    left: np.ndarray
    right: np.ndarray


def sides(conjunctions: Conjunctions, variables: Variables) -> Iterator[Sides]:
    """One for every conjunction of the sentence."""
    found = conjunctions.words(variables.words)
    if not found:
        return
    columns = variables.labelled(conjunctions.label)
    for i in found:
        own = columns[variables.head[columns] == i]
        yield Sides(i, own[variables.mod[own] < i], own[variables.mod[own] > i])
