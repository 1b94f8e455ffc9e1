"""Supertagger and parser trained together (Auli & Lopez 2011, section 5.4), once each is trained by itself.

Stochastic gradient descent on the likelihood of the joint model, whose gradient is the features of the gold derivation
less those expected. Expectations are those of belief propagation, exact where the messages are: the parser's under the
chain's messages, the chain's under the parser's. Steps become shorter as 1 / (1 + epochs passed / HALVED). The order of
sentences is drawn anew for every epoch, after which the state is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.learning.loop import Progress
from treebound.systems.ccg.belief_propagation import Beliefs, rounds
from treebound.systems.ccg.chain import (
    Features,
    Lattice,
    Sums,
    Weights,
    add_expected,
    count_gold,
    emissions,
    forward_backward,
)
from treebound.systems.ccg.charts import Charts
from treebound.systems.ccg.gold import count_features, gold_chart
from treebound.systems.ccg.joint import Joint, Transitions
from treebound.systems.ccg.joint_kernels import chart_messages
from treebound.systems.ccg.optimise import Kept
from treebound.systems.ccg.rule_features import Sentence
from treebound.systems.ccg.settings import Settings
from treebound.systems.ccg.supertagger import Supertagger
from treebound.systems.ccg.words import Words, contexts
from treebound.treebanks.ccg.derivation import Derivation

BATCH = 10  #: sentences of a step
HALVED = 5  #: epochs after which a step is half as long as the first


class Example(NamedTuple):
    """A sentence by its number in the treebank, the categories of its chart, and the derivation that is learnt."""

    number: int
    sentence: Sentence
    derivation: Derivation


class Counts(NamedTuple):
    """Features: of the parser float64[2^bits], and of the chain."""

    parser: np.ndarray
    chain: Weights


class JointTraining:
    """Weights of both models, and what they learn from; features that no gold derivation has keep the weight 0."""

    def __init__(self, charts: Charts, tagger: Supertagger, words: Words, weights: np.ndarray, examples: list[Example]):
        self.charts, self.tagger, self.words, self.examples = charts, tagger, words, examples
        self.context = contexts(words, tagger.templates)
        self.charts.weights[:] = weights
        table, transition = tagger.weights.table, tagger.weights.transition
        self.used, self.of_table, self.moved = np.flatnonzero(weights), np.flatnonzero(table), np.nonzero(transition)

    def weights(self) -> np.ndarray:
        """float64[W] of all features that have any: the parser's, the chain's emissions, its transitions."""
        return self._picked(Counts(self.charts.weights, self.tagger.weights))

    def _picked(self, of: Counts) -> np.ndarray:
        return np.concatenate([of.parser[self.used], of.chain.table[self.of_table], of.chain.transition[self.moved]])

    def set(self, weights: np.ndarray) -> None:
        """Of float64[W]."""
        a, b = len(self.used), len(self.used) + len(self.of_table)
        self.charts.weights[self.used] = weights[:a]
        chain = self.tagger.weights
        chain.table[self.of_table], chain.transition[self.moved] = weights[a:b], weights[b:]

    def empty(self) -> Counts:
        """No features."""
        chain = self.tagger.weights
        of_chain = Weights(np.zeros_like(chain.table), np.zeros_like(chain.transition), chain.mask)
        return Counts(np.zeros_like(self.charts.weights), of_chain)

    def gradient(self, examples: list[Example], iterations: int) -> tuple[np.ndarray, int]:
        """float64[W] of the log-likelihood of some sentences, and how many of them had no messages: left out."""
        gold, expected, failed = self.empty(), self.empty(), 0
        transitions = Transitions.of(self.tagger.weights.transition)
        for example in examples:
            joint, found = self._beliefs(example, transitions, iterations)
            if found is None:
                failed += 1
                continue
            self._add_gold(example, gold)
            joint.packed.expect(expected.parser, found.messages)
            self._add_chain(example, joint, found, expected.chain)
        return self._picked(gold) - self._picked(expected), failed

    def _beliefs(self, example: Example, transitions: Transitions, iterations: int) -> tuple[Joint, Beliefs | None]:
        """The joint model of a sentence, and the last beliefs; None: no messages."""
        packed = self.charts.chart(example.sentence)
        assert packed is not None  # it was made before
        choices = Lattice(example.sentence.first, example.sentence.category)
        emission = emissions(self._context(example), choices, self.tagger.weights.table, self.tagger.weights.mask)
        joint, last = Joint(packed, choices, emission, transitions), None
        for beliefs in rounds(joint, iterations):
            last = beliefs
        return joint, last

    def _context(self, example: Example) -> np.ndarray:
        return self.context[self.words.offsets[example.number] : self.words.offsets[example.number + 1]]

    def _add_gold(self, example: Example, gold: Counts) -> None:
        chart = gold_chart(self.charts.grammar, example.sentence, example.derivation)
        count_features(self.charts.grammar, example.sentence, chart, gold.parser)
        tags = np.array([self.tagger.number[str(leaf.category)] for leaf in example.derivation.leaves()], np.int32)
        offsets, none = np.array([0, len(tags)], self.words.offsets.dtype), np.zeros(0, np.int32)
        count_gold(Features(self._context(example), offsets, none, Lattice(none, none)), tags, gold.chain)

    def _add_chain(self, example: Example, joint: Joint, found: Beliefs, expected: Weights) -> None:
        """The chain's expected features under the parser's messages."""
        v, outside = len(joint.emission), np.empty(len(joint.emission))
        chart_messages(found.belief, found.messages, joint.choices.first, outside)
        sums = Sums(np.empty(v), np.empty(v), np.empty(v), np.empty(joint.words))
        given, potential = joint.emission + outside, joint.transitions.potential
        if forward_backward(given, joint.choices, potential, *sums) > -np.inf:
            add_expected(self._context(example), joint.choices, potential, sums, expected)

    def fit(
        self, settings: Settings, kept: Kept | None, progress: Progress | None
    ) -> tuple[np.ndarray, Supertagger, list[dict]]:
        """(float32 weights of the parser, the supertagger, a record an epoch) after all epochs."""
        w = self.weights()
        fresh: tuple[np.ndarray, int, list[dict], bool] = (w, 0, [], False)
        w, done, history, _ = (kept.resume(len(w)) if kept else None) or fresh
        n, a = len(self.examples), len(self.used)
        decay = np.where(np.arange(len(w)) < a, settings.l2, settings.tag_l2) / n
        for epoch in range(done, settings.joint_epochs):
            order = np.random.default_rng([epoch, n]).permutation(n)
            rate, moved, failed = settings.joint_rate / (1 + epoch / HALVED), 0.0, 0
            batches = range(0, n, BATCH)
            for begin in progress(batches, f"joint epoch {epoch + 1}") if progress else batches:
                some = [self.examples[i] for i in order[begin : begin + BATCH]]
                self.set(w)
                gradient, lost = self.gradient(some, settings.joint_rounds)
                step = gradient / len(some) - decay * w
                w, moved, failed = w + rate * step, moved + float(np.abs(step).sum()), failed + lost
            history.append({"epoch": epoch + 1, "gradient": moved / len(batches), "failed": failed})
            if kept is not None:
                kept.save(w, epoch + 1, history, epoch + 1 == settings.joint_epochs)
        self.set(w.astype(np.float32).astype(np.float64))  # as the model's file holds them
        chain = self.tagger
        tagger = Supertagger(chain.categories, chain.dictionary, chain.weights, chain.templates)
        return self.charts.weights.astype(np.float32), tagger, history
