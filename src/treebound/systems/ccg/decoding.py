"""Adaptive supertagging: attempts with wider and wider beams, or narrower and narrower ones (Clark & Curran 2004a).

Narrow beams first: the next one is tried where there is no derivation, and a chart over the limit ends the attempts.
Wide beams first (Auli & Lopez 2011): the next one is tried where the chart is over the limit, and a chart without a
derivation ends the attempts. Which it is, the first two beams tell.

The derivation of a chart is the parser's best one, or that of the joint model with the supertagger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treebound.systems.ccg.chain import Features, Lattice, emissions
from treebound.systems.ccg.charts import Charts, Packed, sentence_of
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.joint import Analysis, Joint, Transitions
from treebound.systems.ccg.supertagger import Supertagger, beam
from treebound.systems.ccg.words import Words, contexts
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import Derivation

Levels = Sequence[tuple[float, int]]


@dataclass(frozen=True)
class Found:
    """What parsing gives for a sentence.

    derivations  one of the whole sentence, else the best fragments from left to right
    parsed       whether there is one of the whole
    value        the sum of their scores
    level        attempt that gave it, from 0; that of the fragments
    categories   lexical categories a word in that attempt
    edges        of its chart
    refused      attempts whose charts were over the limit
    joint        what the joint model says of it, whose score is then `value`; None without, and for fragments
    """

    derivations: tuple[Derivation, ...]
    parsed: bool
    value: float
    level: int
    categories: float
    edges: int
    refused: int = 0
    joint: Analysis | None = None


class Supertagged:
    """Sentences with the probabilities of their categories under the dictionary cut-offs of some attempts."""

    def __init__(self, tagger: Supertagger, words: Words):
        self.tagger, self.words = tagger, words
        self._features: dict[int, Features] = {}
        self._last: dict[int, tuple[int, Lattice, np.ndarray]] = {}

    @cached_property
    def _contexts(self) -> np.ndarray:
        return contexts(self.words, self.tagger.templates)

    def lattice(self, s: int, beta: float, cutoff: int) -> Lattice:
        """The categories of sentence s within a beam."""
        if cutoff not in self._features:
            self._features[cutoff] = self.tagger.features(self.words, cutoff, self._contexts)
        known = self._last.get(cutoff)
        if known is None or known[0] != s:
            known = self._last[cutoff] = (s, *self.tagger.probabilities(self._features[cutoff], s))
        return beam(known[1], known[2], beta)

    def strings(self, s: int) -> list[tuple[str, str]]:
        """(form, tag) of the words of sentence s."""
        return self.words.strings[self.words.offsets[s] : self.words.offsets[s + 1]]

    def emissions(self, s: int, choices: Lattice) -> np.ndarray:
        """float64[V]: what the supertagger gives the categories of a lattice without transitions."""
        a, b = self.words.offsets[s], self.words.offsets[s + 1]
        return emissions(self._contexts[a:b], choices, self.tagger.weights.table, self.tagger.weights.mask)


class Adaptive:
    """A parser by attempts (beta, k) with charts of up to `limit` edges; `integrate`: of the joint model, if any."""

    def __init__(
        self,
        tagger: Supertagger,
        grammar: Grammar,
        weights: np.ndarray,
        levels: Levels,
        limit: int,
        integrate: Callable[[Joint], Analysis] | None = None,
    ):
        self.tagger, self.levels, self.integrate = tagger, levels, integrate
        self.charts = Charts(grammar, weights, limit)
        self.widening = len(levels) < 2 or levels[1][0] <= levels[0][0]

    def parse(self, words: Words) -> list[Found]:
        """Of all sentences, in order."""
        tagged = Supertagged(self.tagger, words)
        return [self.parse_one(tagged, s) for s in range(len(words.offsets) - 1)]

    def parse_one(self, tagged: Supertagged, s: int) -> Found:
        """Of sentence s."""
        level, refused, whole = self._attempts(tagged, s)
        if whole is None:
            return self._fragments(tagged, s, tagged.strings(s), refused)
        choices, packed = whole
        value, derivation, joint = self._best(tagged, s, choices, packed)
        return Found((derivation,), True, value, level, _ratio(choices), len(packed.chart.rule), refused, joint)

    def joint(self, tagged: Supertagged, s: int) -> Joint | None:
        """The joint model of sentence s in the chart that has its derivation; None where there is none."""
        _, _, whole = self._attempts(tagged, s)
        return None if whole is None else self._joint(tagged, s, *whole)

    def _attempts(self, tagged: Supertagged, s: int) -> tuple[int, int, tuple[Lattice, Packed] | None]:
        """(last attempt, how many charts were over the limit, categories and chart that has a derivation)."""
        refused = 0
        for level, (beta, cutoff) in enumerate(self.levels):
            choices = tagged.lattice(s, beta, cutoff)
            packed = self.charts.chart(sentence_of(tagged.words, s, choices))
            if packed is None:
                refused += 1
            elif packed.parsed:
                return level, refused, (choices, packed)
            if self.widening == (packed is None):
                break
        return level, refused, None

    @cached_property
    def _transitions(self) -> Transitions:
        return Transitions.of(self.tagger.weights.transition)

    def _best(
        self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed
    ) -> tuple[float, Derivation, Analysis | None]:
        """(score, derivation) of a chart, and what the joint model says of it."""
        if self.integrate is None:
            value, _, edge = packed.best()
            return value, packed.derivation(edge, tagged.strings(s)), None
        joint = self._joint(tagged, s, choices, packed)
        found = self.integrate(joint)
        return found.value, joint.packed.derivation(found.edges, tagged.strings(s)), found

    def _joint(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> Joint:
        return Joint(packed, choices, tagged.emissions(s, choices), self._transitions)

    def _fragments(self, tagged: Supertagged, s: int, strings: Sequence[tuple[str, str]], refused: int) -> Found:
        """The best ones of the narrowest beam; of single words where even its chart is over the limit."""
        level = 0 if self.widening else len(self.levels) - 1
        choices = tagged.lattice(s, *self.levels[level])
        packed = self.charts.chart(sentence_of(tagged.words, s, choices))
        if packed is None:
            choices = tagged.lattice(s, 1.0, self.levels[level][1])
            names = [self.tagger.categories[choices.tags[x]] for x in choices.first[:-1]]
            words = zip(names, strings, strict=True)
            leaves = tuple(Derivation(parse(name), word=form, tag=tag) for name, (form, tag) in words)
            return Found(leaves, False, 0.0, level, 1.0, 0, refused)
        _, value, edge = packed.best()
        pieces = [item for *_, item in packed.fragments()]
        derivations = tuple(packed.derivation(edge, strings, item) for item in pieces)
        return Found(
            derivations, False, float(value[pieces].sum()), level, _ratio(choices), len(packed.chart.rule), refused
        )


def _ratio(choices: Lattice) -> float:
    return len(choices.tags) / max(1, len(choices.first) - 1)
