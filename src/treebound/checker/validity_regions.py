"""The labelled trees of a region of a validity proof: the choices of every word and their best scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from treebound.checker.ud_domains import Pair
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import LARGEST_REAL_SUM, LARGEST_SUM, Problem
from treebound.core.validity import Split


@dataclass(frozen=True)
class Choices:
    """The labelled arcs that a word may have in a region: K arcs with k labels each.

    Regions share the choices of words that they do not restrict.

    - `head`, int64[K]: heads of the arcs into the word
    - `label`, int64[K, k]: labels of every arc
    - `score`, float64[K, k]: scores of the labelled arcs
    - `allowed`, bool[K, k]: the labelled arcs that the region allows
    - `names`: names of the labels by id
    """

    head: np.ndarray
    label: np.ndarray
    score: np.ndarray
    allowed: np.ndarray
    names: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Return whether the region allows no labelled arc into the word."""
        return not self.allowed.any()

    @cached_property
    def best(self) -> np.ndarray:
        """Return float64[K]: the score of every arc under its best allowed label, or -inf without an allowed label."""
        return np.where(self.allowed, self.score, -np.inf).max(axis=1, initial=-np.inf)

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        """Return the allowed (head, label) pairs."""
        arc, slot = np.nonzero(self.allowed)
        labels = self.label[arc, slot].tolist()
        return frozenset((h, self.names[label]) for h, label in zip(self.head[arc].tolist(), labels, strict=True))

    def part(self, split: Split, inside: bool) -> Self:
        """Return the choices of this word in one of the two parts into which `split` divides the region.

        inside  True allows only the pairs of the split, False only all other pairs
        """
        keys = np.array([h * len(self.names) + label for h, label in split.pairs], np.int64)
        chosen = np.isin(self.head[:, None] * len(self.names) + self.label, keys)
        return replace(self, allowed=self.allowed & (chosen if inside else ~chosen))

    def score_of(self, head: int, label: int) -> float:
        """Return the score of a labelled arc; -inf if it is not allowed."""
        slots = self.allowed & (self.head == head)[:, None] & (self.label == label)
        return float(self.score[slots].max(initial=-np.inf))


class LabelledSpace:
    """The labelled trees of a labelled problem, and its relaxations, which are problems without labels.

    arcs   arcs[m]: indices of the arcs into word m; arcs[0] is empty
    whole  whole[m]: the labelled arcs into word m in the unrestricted region
    """

    def __init__(self, labelled: LabelledProblem):
        self.inner, self.names = labelled.problem, labelled.names
        label = np.asarray(labelled.label, np.int64)
        score = np.asarray(labelled.score, np.float64)
        allowed = (label >= 0) & (score > -np.inf)
        self.arcs = [np.flatnonzero(self.inner.mod == m) for m in range(self.inner.n + 1)]
        self.whole = [
            Choices(self.inner.head[a].astype(np.int64), label[a], score[a], allowed[a], self.names) for a in self.arcs
        ]

    def faults(self) -> list[str]:
        """Return the reasons why scores of relaxations might be rounded; an empty list if they are exact."""
        finite = [np.where(choices.allowed, choices.score, 0.0) for choices in self.whole]
        if self.inner.unit and any(np.any(np.rint(score) != score) for score in finite):
            return ["scores of labels are not integers, though the problem has a unit"]
        tables = (np.abs(table.score[table.score > -np.inf]) for table in self.inner.parts.values())
        total = sum(float(np.abs(score).max(axis=1, initial=0.0).sum()) for score in finite)
        total += sum(float(score.sum()) for score in tables)
        if not total < (LARGEST_SUM if self.inner.unit else LARGEST_REAL_SUM):
            return [f"the scores of labels are too large to be added without rounding ({total:.3g})"]
        return []

    def split_faults(self, split: Split) -> list[str]:
        """Return the reasons why a split is invalid for this problem; an empty list if it is valid."""
        word, pairs = split.word, split.pairs
        if not _is_whole(word) or not 1 <= word <= self.inner.n:
            return [f"divides word {str(word)[:20]} of {self.inner.n}"]
        if not isinstance(pairs, frozenset):  # another collection might change between the checks of the two sides
            return [f"has pairs {str(pairs)[:20]}, which are not a frozenset"]
        for head, label in pairs:
            if not (_is_whole(head) and _is_whole(label)):
                return [f"names the pair {str((head, label))[:40]}, which is not a head and a label"]
            if not (0 <= head <= self.inner.n and 0 <= label < len(self.names)):
                return [f"names the pair {str((head, label))[:40]}, which is out of range"]
        return []

    def divided(self, region: Sequence[Choices], split: Split, inside: bool) -> list[Choices]:
        """Return the choices of all words in one of the two parts into which `split` divides a region.

        inside  True for the trees that use a pair of the split, False for all others
        """
        word = int(split.word)
        return [*region[:word], region[word].part(split, inside), *region[word + 1 :]]

    def relaxed(self, region: Sequence[Choices]) -> Problem:
        """Return the problem in which every arc has the score of its best allowed label, or -inf without one."""
        arc = np.full(self.inner.arcs, -np.inf)
        for numbers, choices in zip(self.arcs[1:], region[1:], strict=True):
            arc[numbers] = choices.best
        return self.inner.with_arc(arc)

    def scored(self, heads: Sequence[int], labels: Sequence[int]) -> Problem:
        """Return the problem in which the arcs of one labelled tree have the scores of their labels."""
        arc = np.array(self.relaxed(self.whole).arc)
        for m in range(1, self.inner.n + 1):
            arc[self.arcs[m][self.whole[m].head == heads[m]]] = self.whole[m].score_of(heads[m], labels[m])
        return self.inner.with_arc(arc)

    def label_faults(self, heads: Sequence[int], labels: Sequence[int]) -> list[str]:
        """Return one sentence for each word whose labelled arc does not exist in the problem."""
        return [
            f"word {m} has the head {heads[m]} under label {labels[m]}, which the problem does not allow"
            for m in range(1, self.inner.n + 1)
            if self.whole[m].score_of(heads[m], labels[m]) == -math.inf
        ]


def _is_whole(number: object) -> bool:
    """Return whether a value is an integer, and not a bool."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
