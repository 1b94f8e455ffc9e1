"""Validity rules about punctuation and crossing arcs. Projective trees always keep them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treebound.constraints.ud.base import Facts, Names, UdRule
from treebound.constraints.ud.labels import labels_of
from treebound.constraints.ud.violations import Fact, LabelledTree

PUNCT = frozenset({"punct"})


def path_up(tree: LabelledTree, word: int) -> list[int]:
    """Return a word and its ancestors, without the root. Each word of a cycle occurs once. O(n)."""
    path = list[int]()
    while word > 0 and word not in path:
        path.append(word)
        word = int(tree.heads[word])
    return path


def closed(path: list[int]) -> Iterator[Fact]:
    """Yield, for each word of a path, the fact that its head is another word of the path or the root.

    If these facts are true, no other word is an ancestor of a word of the path. O(length²).
    """
    heads = frozenset(path) | {0}
    for word in sorted(path):
        yield Fact(word, heads - {word}, None)


@dataclass(frozen=True, kw_only=True)
class PunctuationRule(UdRule):
    """A rule that concerns every word of relation `punct`."""

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of punctuation: every tree that breaks the rule has one of them."""
        return labels_of(names, PUNCT)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield the violations of all punctuation marks; projective trees have none. O(n² per mark)."""
        if tree.space == "projective":
            return
        marks = labels_of(tree.names, PUNCT)
        for m in range(1, tree.words.n + 1):
            if tree.labels[m] in marks:
                yield from self.mark(tree, m, Fact(m, frozenset({int(tree.heads[m])}), marks))

    def mark(self, tree: LabelledTree, m: int, arc: Fact) -> Iterator[Facts]:
        """Yield the violations of the punctuation mark `m`; `arc` is the fact about the arc into the mark."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class AttachedAcross(PunctuationRule):
    """The rule that all words between a punctuation mark and its head are descendants of the head."""

    def mark(self, tree: LabelledTree, m: int, arc: Fact) -> Iterator[Facts]:
        """Yield a violation for every word between the mark and its head that is not a descendant of the head.

        The facts are the mark's arc, and the heads of the word and of all its ancestors.
        """
        head = int(tree.heads[m])
        for word in range(min(m, head) + 1, max(m, head)):
            path = path_up(tree, word)
            if head and head not in path:
                yield arc, *closed(path)


@dataclass(frozen=True, kw_only=True)
class Interrupts(PunctuationRule):
    """The rule that an arc over a punctuation mark, but not over the mark's head, starts at an ancestor of the mark."""

    def mark(self, tree: LabelledTree, m: int, arc: Fact) -> Iterator[Facts]:
        """Yield a violation for every arc that passes over the mark, but not over its head, and breaks the rule.

        An arc breaks the rule if it does not start at an ancestor of the mark. The facts are about the arc into the
        mark, the arc over the mark, and the arcs into the mark's ancestors.
        """
        head = int(tree.heads[m])
        path = path_up(tree, head)
        inside, outside = _sides(m, head, tree.words.n)
        for word in sorted(inside | outside):
            crossing = (outside if word in inside else inside) - set(path)
            if int(tree.heads[word]) in crossing:
                yield arc, Fact(word, crossing, None), *closed(path)


def _sides(m: int, head: int, n: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the words between word `m` and its head, and the words on the other side of word `m`."""
    if head < m:
        return frozenset(range(head + 1, m)), frozenset(range(m + 1, n + 1))
    return frozenset(range(m + 1, head)), frozenset(range(1, m))


RULES: tuple[UdRule, ...] = (
    Interrupts(id="punct-causes-nonproj"),
    AttachedAcross(id="punct-is-nonproj"),
)
