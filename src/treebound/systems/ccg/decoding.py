"""Adaptive supertagging: attempts with wider and wider, or narrower and narrower, beams (Clark & Curran 2004a).

With narrow beams first, the next beam is tried if the chart has no derivation, and a chart with too many edges ends
the attempts. With wide beams first (Auli & Lopez 2011), the next beam is tried if the chart has too many edges, and a
chart without a derivation ends the attempts. The first two beams decide which order applies.

The derivation of a chart is the best one of the parser, or of the joint model of parser and supertagger.
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
class Decoded:
    """The result of decoding a sentence.

    derivations  one derivation of the whole sentence, else the best fragments from left to right;
    parsed       whether there is a derivation of the whole sentence;
    value        sum of the scores of the derivations;
    level        number of the attempt, from 0;
    categories   mean number of lexical categories per word in this attempt;
    edges        number of edges of the chart in this attempt;
    refused      number of attempts whose charts had too many edges;
    joint        result of the joint model, whose score is then `value`; None for the parser alone and for fragments
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
    """Sentences with the category probabilities of a supertagger, computed once per dictionary cut-off."""

    def __init__(self, tagger: Supertagger, words: Words):
        self.tagger, self.words = tagger, words
        self._features: dict[int, Features] = {}
        self._last: dict[int, tuple[int, Lattice, np.ndarray]] = {}

    @cached_property
    def _contexts(self) -> np.ndarray:
        """Return the template hashes of all words."""
        return contexts(self.words, self.tagger.templates)

    def lattice(self, s: int, beta: float, cutoff: int) -> Lattice:
        """Return the lattice of sentence s: the categories within beam beta, under a dictionary cut-off."""
        if cutoff not in self._features:
            self._features[cutoff] = self.tagger.features(self.words, cutoff, self._contexts)
        cached = self._last.get(cutoff)
        if cached is None or cached[0] != s:
            cached = self._last[cutoff] = (s, *self.tagger.probabilities(self._features[cutoff], s))
        return beam(cached[1], cached[2], beta)

    def strings(self, s: int) -> list[tuple[str, str]]:
        """Return (form, tag) of the words of sentence s."""
        return self.words.strings[self.words.offsets[s] : self.words.offsets[s + 1]]

    def emissions(self, s: int, choices: Lattice) -> np.ndarray:
        """Return float64[V], the supertagger's scores of the categories of a lattice, without transitions."""
        a, b = self.words.offsets[s], self.words.offsets[s + 1]
        return emissions(self._contexts[a:b], choices, self.tagger.weights.table, self.tagger.weights.mask)


class Adaptive:
    """A parser that makes attempts (beam beta, dictionary cut-off k), with charts of up to `limit` edges.

    integrate  function that decodes the joint model of each chart; None uses the parser alone
    """

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

    def parse(self, words: Words) -> list[Decoded]:
        """Return the results of all sentences, in order."""
        tagged = Supertagged(self.tagger, words)
        return [self.parse_one(tagged, s) for s in range(len(words.offsets) - 1)]

    def parse_one(self, tagged: Supertagged, s: int) -> Decoded:
        """Return the result of sentence s."""
        level, refused, whole = self._attempts(tagged, s)
        if whole is None:
            return self._fragments(tagged, s, tagged.strings(s), refused)
        choices, packed = whole
        value, derivation, joint = self._best(tagged, s, choices, packed)
        return Decoded((derivation,), True, value, level, _ratio(choices), len(packed.chart.rule), refused, joint)

    def joint(self, tagged: Supertagged, s: int) -> Joint | None:
        """Return the joint model of the chart in which sentence s has a derivation; None if no attempt finds one."""
        _, _, whole = self._attempts(tagged, s)
        return None if whole is None else self._joint(tagged, s, *whole)

    def _attempts(self, tagged: Supertagged, s: int) -> tuple[int, int, tuple[Lattice, Packed] | None]:
        """Return (last attempt, number of charts that were too large, lattice and chart with a derivation or None)."""
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
        """Return the rounded transition scores of the supertagger."""
        return Transitions.of(self.tagger.weights.transition)

    def _best(
        self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed
    ) -> tuple[float, Derivation, Analysis | None]:
        """Return the score and the derivation of a chart, and the result of the joint model if there is one."""
        if self.integrate is None:
            value, _, edge = packed.best()
            return value, packed.derivation(edge, tagged.strings(s)), None
        joint = self._joint(tagged, s, choices, packed)
        analysis = self.integrate(joint)
        return analysis.value, joint.packed.derivation(analysis.edges, tagged.strings(s)), analysis

    def _joint(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> Joint:
        """Return the joint model of a chart and the supertagger."""
        return Joint(packed, choices, tagged.emissions(s, choices), self._transitions)

    def _fragments(self, tagged: Supertagged, s: int, strings: Sequence[tuple[str, str]], refused: int) -> Decoded:
        """Return the best fragments under the narrowest beam, or single words if that chart is too large, too."""
        level = 0 if self.widening else len(self.levels) - 1
        choices = tagged.lattice(s, *self.levels[level])
        packed = self.charts.chart(sentence_of(tagged.words, s, choices))
        if packed is None:
            choices = tagged.lattice(s, 1.0, self.levels[level][1])
            names = [self.tagger.categories[choices.tags[x]] for x in choices.first[:-1]]
            words = zip(names, strings, strict=True)
            leaves = tuple(Derivation(parse(name), word=form, tag=tag) for name, (form, tag) in words)
            return Decoded(leaves, False, 0.0, level, 1.0, 0, refused)
        _, value, edge = packed.best()
        pieces = [item for *_, item in packed.fragments()]
        derivations = tuple(packed.derivation(edge, strings, item) for item in pieces)
        return Decoded(
            derivations, False, float(value[pieces].sum()), level, _ratio(choices), len(packed.chart.rule), refused
        )


def _ratio(choices: Lattice) -> float:
    """Return the mean number of categories per word."""
    return len(choices.tags) / max(1, len(choices.first) - 1)
