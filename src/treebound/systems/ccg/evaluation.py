"""How good derivations are: predicate-argument dependencies, lexical categories, coverage (Clark & Curran 2007, 8.1).

A dependency is a filled slot of a lexical category (`treebanks.ccg.dependencies`). Labelled ones must agree in head,
category, slot and filler, unlabelled ones in head and filler. Sentences without an analysis are not scored but counted,
as in Auli & Lopez (2011).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.systems.ccg.decoding import Found
from treebound.treebanks.ccg.dependencies import Dependency, dependencies
from treebound.treebanks.ccg.derivation import Derivation


@dataclass(frozen=True)
class Ratio:
    """Precision and recall, in %, of `right` among `found` and `gold`; 0 where there is nothing."""

    right: int
    found: int
    gold: int

    @property
    def precision(self) -> float:
        """Right ones of those found."""
        return 100.0 * self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Right ones of the gold ones."""
        return 100.0 * self.right / max(1, self.gold)

    @property
    def f(self) -> float:
        """Their harmonic mean."""
        return 200.0 * self.right / max(1, self.found + self.gold)


@dataclass(frozen=True)
class Scores:
    """Over the sentences that have an analysis.

    labelled, unlabelled  dependencies
    supertags             (right ones, words)
    exact                 sentences whose labelled dependencies are all right
    parsed, sentences     those with an analysis, and all
    """

    labelled: Ratio
    unlabelled: Ratio
    supertags: tuple[int, int]
    exact: int
    parsed: int
    sentences: int

    def summary(self) -> dict[str, float]:
        """Figures in %, by the names that the papers have."""
        unlabelled, (right, words) = self.unlabelled, self.supertags
        return {
            "LF": self.labelled.f,
            "LP": self.labelled.precision,
            "LR": self.labelled.recall,
            "UF": unlabelled.f,
            "UP": unlabelled.precision,
            "UR": unlabelled.recall,
            "ST": 100.0 * right / max(1, words),
            "exact": 100.0 * self.exact / max(1, self.parsed),
            "coverage": 100.0 * self.parsed / max(1, self.sentences),
        }


def evaluate(gold: Sequence[Derivation], found: Sequence[Found]) -> Scores:
    """Scores of what was found. ValueError for other sentences."""
    whole = {name: [0, 0, 0] for name in ("labelled", "unlabelled")}
    tags, words, exact, parsed = 0, 0, 0, 0
    for right, other in zip(gold, found, strict=True):
        if not other.parsed:
            continue
        (derivation,) = other.derivations
        pairs = list(zip(right.leaves(), derivation.leaves(), strict=True))
        if any(a.word != b.word for a, b in pairs):
            raise ValueError("not the derivations of the same sentences")
        parsed += 1
        words += len(pairs)
        tags += sum(a.category is b.category for a, b in pairs)
        wanted, given = Counter(dependencies(right)), Counter(dependencies(derivation))
        exact += wanted == given
        for name, counts in (
            ("labelled", _common(wanted, given)),
            ("unlabelled", _common(_bare(wanted), _bare(given))),
        ):
            whole[name] = [x + y for x, y in zip(whole[name], counts, strict=True)]
    labelled, unlabelled = Ratio(*whole["labelled"]), Ratio(*whole["unlabelled"])
    return Scores(labelled, unlabelled, (tags, words), exact, parsed, len(gold))


class Difference(NamedTuple):
    """A labelled F-score less another, in points, with the ends of its 95 % interval; over so many sentences."""

    value: float
    low: float
    high: float
    sentences: int


def difference(gold: Sequence[Derivation], a: Sequence[Found], b: Sequence[Found]) -> Difference:
    """Labelled F-score of a less that of b, over the sentences that both analyse; the interval leaves each out in turn.

    The jackknife of pairs. All 0 where neither analyses a sentence, no interval where there is one alone.
    """
    both = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x.parsed and y.parsed]
    return jackknife(np.array([[_labelled(gold[i], found[i]) for found in (a, b)] for i in both]))


def jackknife(counts: np.ndarray) -> Difference:
    """The same of [n, 2, 3]: of every sentence and both, labelled dependencies that are right, found, gold."""
    counts = counts.reshape(-1, 2, 3)
    whole, n = counts.sum(axis=0), len(counts)
    value = _gain(whole)
    if n < 2:
        return Difference(float(value), float(value), float(value), n)
    left = _gain(whole - counts)
    half = 1.96 * float(np.sqrt((n - 1) * np.var(left)))
    return Difference(float(value), float(value) - half, float(value) + half, n)


def _labelled(gold: Derivation, found: Found) -> tuple[int, int, int]:
    return _common(Counter(dependencies(gold)), Counter(dependencies(found.derivations[0])))


def _gain(counts: np.ndarray) -> np.ndarray:
    """F of the first less that of the second of (right, found, gold) float64[..., 2, 3]."""
    f = 200.0 * counts[..., 0] / np.maximum(1, counts[..., 1] + counts[..., 2])
    return np.asarray(f[..., 0] - f[..., 1])


def _common(wanted: Counter, given: Counter) -> tuple[int, int, int]:
    """How many of those given are wanted, how many are given, how many are wanted."""
    return (wanted & given).total(), given.total(), wanted.total()


def _bare(labelled: Counter[Dependency]) -> Counter[tuple[int, int]]:
    bare: Counter[tuple[int, int]] = Counter()
    for dependency, count in labelled.items():
        bare[dependency.head, dependency.filler] += count
    return bare
