"""Evaluation of derivations: predicate-argument dependencies, lexical categories, coverage (Clark & Curran 2007, 8.1).

A dependency is a filled slot of a lexical category (`treebanks.ccg.dependencies`). Labelled dependencies must agree in
head, category, slot and filler, unlabelled ones in head and filler. Sentences without an analysis are not scored but
counted, as in Auli & Lopez (2011).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.metrics.significance import jackknife_half_width
from treebound.systems.ccg.decoding import Decoded
from treebound.treebanks.ccg.dependencies import Dependency, dependencies
from treebound.treebanks.ccg.derivation import Derivation


@dataclass(frozen=True)
class Ratio:
    """Counts of right, predicted and gold dependencies, with precision, recall and F-score in %.

    A share of no dependencies is 0.
    """

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Return the share of right dependencies among the predicted dependencies, in %."""
        return 100.0 * self.right / max(1, self.predicted)

    @property
    def recall(self) -> float:
        """Return the share of right dependencies among the gold dependencies, in %."""
        return 100.0 * self.right / max(1, self.gold)

    @property
    def f(self) -> float:
        """Return the harmonic mean of precision and recall, in %."""
        return 200.0 * self.right / max(1, self.predicted + self.gold)


@dataclass(frozen=True)
class Scores:
    """Scores over the sentences that have an analysis.

    labelled    counts of labelled dependencies
    unlabelled  counts of unlabelled dependencies
    supertags   (number of right categories, number of words)
    exact       number of sentences whose labelled dependencies are all right
    parsed      number of sentences with an analysis
    sentences   number of all sentences
    """

    labelled: Ratio
    unlabelled: Ratio
    supertags: tuple[int, int]
    exact: int
    parsed: int
    sentences: int

    def summary(self) -> dict[str, float]:
        """Return all scores in %, under the names that the papers use."""
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


def evaluate(gold: Sequence[Derivation], decoded: Sequence[Decoded]) -> Scores:
    """Score decoding results against the gold derivations of the same sentences. ValueError for other sentences."""
    totals = {name: [0, 0, 0] for name in ("labelled", "unlabelled")}
    tags, words, exact, parsed = 0, 0, 0, 0
    for right, result in zip(gold, decoded, strict=True):
        if not result.parsed:
            continue
        (derivation,) = result.derivations
        pairs = list(zip(right.leaves(), derivation.leaves(), strict=True))
        if any(a.word != b.word for a, b in pairs):
            raise ValueError("not the derivations of the same sentences")
        parsed += 1
        words += len(pairs)
        tags += sum(a.category is b.category for a, b in pairs)
        correct, predicted = Counter(dependencies(right)), Counter(dependencies(derivation))
        exact += correct == predicted
        for name, counts in (
            ("labelled", _common(correct, predicted)),
            ("unlabelled", _common(_unlabelled(correct), _unlabelled(predicted))),
        ):
            totals[name] = [x + y for x, y in zip(totals[name], counts, strict=True)]
    labelled, unlabelled = Ratio(*totals["labelled"]), Ratio(*totals["unlabelled"])
    return Scores(labelled, unlabelled, (tags, words), exact, parsed, len(gold))


class Difference(NamedTuple):
    """A difference of two labelled F-scores in points, with its 95 % interval and the number of sentences."""

    value: float
    low: float
    high: float
    sentences: int


def difference(gold: Sequence[Derivation], a: Sequence[Decoded], b: Sequence[Decoded]) -> Difference:
    """Return the labelled F-score of `a` minus the labelled F-score of `b`, over the sentences that both analyse.

    The interval is a jackknife over sentences. All values are 0 if no sentence is analysed by both; with one sentence
    the interval has width 0.
    """
    both = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x.parsed and y.parsed]
    return jackknife(np.array([[_labelled(gold[i], decoded[i]) for decoded in (a, b)] for i in both]))


def jackknife(counts: np.ndarray) -> Difference:
    """Return the `Difference` of two systems, with a jackknife interval over n sentences.

    counts  int[n, 2, 3]: for each sentence and system, numbers of right, predicted and gold dependencies
    """
    counts = counts.reshape(-1, 2, 3)
    total, n = counts.sum(axis=0), len(counts)
    value = _gain(total)
    if n < 2:
        return Difference(float(value), float(value), float(value), n)
    without = _gain(total - counts)
    half = jackknife_half_width(without)
    return Difference(float(value), float(value) - half, float(value) + half, n)


def _labelled(gold: Derivation, decoded: Decoded) -> tuple[int, int, int]:
    """Return the counts of labelled dependencies of one sentence."""
    return _common(Counter(dependencies(gold)), Counter(dependencies(decoded.derivations[0])))


def _gain(counts: np.ndarray) -> np.ndarray:
    """Return the F-score of the first system minus the F-score of the second, for counts float64[..., 2, 3]."""
    f = 200.0 * counts[..., 0] / np.maximum(1, counts[..., 1] + counts[..., 2])
    return np.asarray(f[..., 0] - f[..., 1])


def _common(correct: Counter, predicted: Counter) -> tuple[int, int, int]:
    """Return how many dependencies are right, predicted and gold."""
    return (correct & predicted).total(), predicted.total(), correct.total()


def _unlabelled(labelled: Counter[Dependency]) -> Counter[tuple[int, int]]:
    """Return the dependencies as unlabelled pairs (head, filler)."""
    pairs: Counter[tuple[int, int]] = Counter()
    for dependency, count in labelled.items():
        pairs[dependency.head, dependency.filler] += count
    return pairs
