"""Domains: the arcs that the words of a sentence may still have, and the common properties of all their trees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from treebound.checker.ud_words import universal

#: a head and a label
Pair = tuple[int, str]
#: a test of an arc: dependent, head, label
ArcTest = Callable[[int, int, str], bool]


class Domains:
    """The (head, label) pairs that every word may still have.

    pairs  n + 1 collections; the collection at index 0 is not read

    In the methods, "every tree" means every dependency tree, projective or not, whose arcs are all in the domains.
    """

    def __init__(self, pairs: Sequence[Collection[Pair]]):
        self.pairs = pairs
        self.words = range(1, len(pairs))
        self._below: dict[int, int] = {}

    def always(self, word: int, test: ArcTest) -> bool:
        """Return whether every arc that a word may have passes a test."""
        return all(test(word, head, label) for head, label in self.pairs[word])

    def some(self, test: ArcTest) -> bool:
        """Return whether some word exists whose possible arcs all pass a test."""
        return any(self.always(word, test) for word in self.words)

    def labelled(self, word: int, labels: Collection[str]) -> bool:
        """Return whether every arc that a word may have has a universal label in `labels`."""
        return all(universal(label) in labels for _, label in self.pairs[word])

    def unlabelled(self, word: int, labels: Collection[str]) -> bool:
        """Return whether no arc that a word may have has a universal label in `labels`."""
        return not any(universal(label) in labels for _, label in self.pairs[word])

    def is_child(self, word: int, head: int, labels: Collection[str]) -> bool:
        """Return whether a word always depends on `head` under a universal label in `labels`."""
        return all(h == head and universal(label) in labels for h, label in self.pairs[word])

    def may_be_child(self, word: int, head: int, labels: Collection[str]) -> bool:
        """Return whether a word may depend on `head` under a universal label in `labels`."""
        return any(h == head and universal(label) in labels for h, label in self.pairs[word])

    def may_have_child(self, head: int, labels: Collection[str]) -> bool:
        """Return whether some word may depend on `head` under a universal label in `labels`."""
        return any(word != head and self.may_be_child(word, head, labels) for word in self.words)

    def never_below(self, word: int, ancestor: int) -> bool:
        """Return whether a word is not a descendant of `ancestor` in any tree. The root is a descendant of no word."""
        return not self._descendants(ancestor) >> word & 1

    def always_below(self, word: int, ancestor: int) -> bool:
        """Return whether a word is a descendant of `ancestor` in every tree."""
        return word != ancestor and bool(self._ancestors[word] >> ancestor & 1)

    def always_projective(self, word: int) -> bool:
        """Return whether in every tree the head of a word dominates all words between the head and the word."""
        heads = {head for head, _ in self.pairs[word]}
        return all(
            head == 0 or all(self.always_below(x, head) for x in range(min(head, word) + 1, max(head, word)))
            for head in heads
        )

    @cached_property
    def _heads(self) -> list[list[int]]:
        """Return the possible heads of every word."""
        return [[], *(sorted({head for head, _ in self.pairs[word]}) for word in self.words)]

    @cached_property
    def _dependents(self) -> list[list[int]]:
        """Return the possible dependents of the root and of every word."""
        dependents: list[list[int]] = [[] for _ in range(len(self.pairs))]
        for word in self.words:
            for head in self._heads[word]:
                dependents[head].append(word)
        return dependents

    @cached_property
    def _ancestors(self) -> list[int]:
        """Return for each word, as bits, the words on every path from the root to this word, itself included.

        These words are the dominators of the word in the graph of possible arcs. They are its ancestors in every tree,
        because the path of a tree is a path of the graph. A word without a path has all bits, since it is in no tree.
        The sets are the largest fixed point of dom(m) = {m} + the intersection of dom(h) over possible heads h.
        """
        everything = (1 << len(self.pairs)) - 1
        dominators = [1, *([everything] * len(self.words))]
        changed = True
        while changed:
            changed = False
            for word in self.words:
                common = everything
                for head in self._heads[word]:
                    common &= dominators[head]
                common |= 1 << word
                changed |= common != dominators[word]
                dominators[word] = common
        return dominators

    def _descendants(self, word: int) -> int:
        """Return, as bits, the words that may be descendants of a word.

        They are reachable from the word by possible arcs that avoid its certain ancestors.
        """
        if word not in self._below:
            seen = self._ancestors[word] | 1 << word
            reached, waiting = 0, [word]
            while waiting:
                for dependent in self._dependents[waiting.pop()]:
                    if not seen >> dependent & 1:
                        seen |= 1 << dependent
                        reached |= 1 << dependent
                        waiting.append(dependent)
            self._below[word] = reached
        return self._below[word]
