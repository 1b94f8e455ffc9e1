"""Facts and violations of validity rules: a violation is a set of facts, at least one of which must change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treebound.constraints.rows import Words
from treebound.core.spaces import Space


@dataclass(frozen=True)
class Fact:
    """A statement about the arc into a word: its head is in `heads` and its label is in `labels`; or the negation.

    word    1..n
    heads   the heads of the statement; None means every head
    labels  the labels of the statement, in full (`nsubj:pass`, not `nsubj`); None means every label
    holds   True: the arc has one of the heads and one of the labels. False: the arc lacks at least one of the two
    """

    word: int
    heads: frozenset[int] | None = None
    labels: frozenset[str] | None = None
    holds: bool = True

    def is_true(self, head: int, label: str) -> bool:
        """Return whether an arc into the word, with this head and label, makes the fact true."""
        meant = (self.heads is None or head in self.heads) and (self.labels is None or label in self.labels)
        return meant == self.holds


@dataclass(frozen=True)
class Violation:
    """A broken rule: every tree of the searched space in which all facts are true breaks the rule.

    rule   the validator's id of the rule, for instance `too-many-subjects`
    facts  the facts, at least one; several facts may be about the same word
    """

    rule: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class LabelledTree:
    """A labelled tree of a sentence.

    - words: the words and their columns.
    - heads: int32[n + 1], heads[0] = -1.
    - labels: n + 1 labels, labels[0] = "".
    - names: all labels that a tree may have; facts use labels of this inventory.
    - space: the trees that are searched; in projective trees, no arcs cross.
    """

    words: Words
    heads: np.ndarray
    labels: Sequence[str]
    names: tuple[str, ...]
    space: Space = "projective"


class Rule(Protocol):
    """The interface of a validity rule."""

    @property
    def id(self) -> str:
        """Return the id of this rule in the validator of Universal Dependencies."""
        ...

    @property
    def level(self) -> int:
        """Return the level (2 or 3) at which the validator of Universal Dependencies checks this rule."""
        ...

    def causes(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return a set of labels such that every tree that breaks the rule has at least one of them.

        The set is all `names` if nothing more precise is known.
        """
        ...

    def violations(self, tree: LabelledTree) -> Iterator[Violation]:
        """Yield every violation of the rule in a tree. Yield nothing if the tree keeps the rule."""
        ...


def violations(rules: Iterable[Rule], tree: LabelledTree) -> Iterator[Violation]:
    """Yield all violations of some rules in a tree, rule by rule."""
    for rule in rules:
        yield from rule.violations(tree)
