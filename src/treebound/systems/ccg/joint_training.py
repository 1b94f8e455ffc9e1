"""Joint training of supertagger and parser (Auli & Lopez 2011, section 5.4), after each is trained by itself.

Stochastic gradient descent maximises the likelihood of the joint model. The gradient is the features of the gold
derivation minus the expected features. Belief propagation gives the expectations: features of the parser
are expected under the chain's messages, and features of the chain under the parser's messages. Expectations are exact
if the messages are exact. The step size is proportional to 1 / (1 + epochs passed / HALVED). Every epoch draws a new
order of sentences and stores the state at its end.
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
from treebound.systems.ccg.optimise import TrainingCheckpoint
from treebound.systems.ccg.rule_features import Sentence
from treebound.systems.ccg.settings import Settings
from treebound.systems.ccg.supertagger import Supertagger
from treebound.systems.ccg.words import Words, contexts
from treebound.treebanks.ccg.derivation import Derivation

BATCH = 10  #: sentences per step
HALVED = 5  #: epochs after which the step size is half the first one


class Example(NamedTuple):
    """A training sentence: its number in the treebank, the categories of its chart, and the derivation to learn."""

    number: int
    sentence: Sentence
    derivation: Derivation


class Counts(NamedTuple):
    """Feature counts of both models: `parser` float64[2^bits], and `chain` in the form of Weights."""

    parser: np.ndarray
    chain: Weights


class JointTraining:
    """The weights of parser and supertagger in joint training, and the examples. Weights that are 0 at first stay 0."""

    def __init__(self, charts: Charts, tagger: Supertagger, words: Words, weights: np.ndarray, examples: list[Example]):
        self.charts, self.tagger, self.words, self.examples = charts, tagger, words, examples
        self.context = contexts(words, tagger.templates)
        self.charts.weights[:] = weights
        table, transition = tagger.weights.table, tagger.weights.transition
        self.used, self.of_table, self.moved = np.flatnonzero(weights), np.flatnonzero(table), np.nonzero(transition)

    def weights(self) -> np.ndarray:
        """Return float64[W], all trained weights: of the parser, of the emissions and of the transitions."""
        return self._picked(Counts(self.charts.weights, self.tagger.weights))

    def _picked(self, counts: Counts) -> np.ndarray:
        """Return float64[W], the counts of the trained features as one vector; `counts` may also hold weights."""
        return np.concatenate(
            [counts.parser[self.used], counts.chain.table[self.of_table], counts.chain.transition[self.moved]]
        )

    def set(self, weights: np.ndarray) -> None:
        """Set all trained weights from float64[W]."""
        a, b = len(self.used), len(self.used) + len(self.of_table)
        self.charts.weights[self.used] = weights[:a]
        chain = self.tagger.weights
        chain.table[self.of_table], chain.transition[self.moved] = weights[a:b], weights[b:]

    def empty(self) -> Counts:
        """Return counts of 0 for both models."""
        chain = self.tagger.weights
        of_chain = Weights(np.zeros_like(chain.table), np.zeros_like(chain.transition), chain.mask)
        return Counts(np.zeros_like(self.charts.weights), of_chain)

    def gradient(self, examples: list[Example], iterations: int) -> tuple[np.ndarray, int]:
        """Return float64[W], the gradient of the examples' log-likelihood, and the number of sentences left out.

        A sentence is left out if belief propagation gives no messages for it.
        """
        gold, expected, failed = self.empty(), self.empty(), 0
        transitions = Transitions.of(self.tagger.weights.transition)
        for example in examples:
            joint, beliefs = self._beliefs(example, transitions, iterations)
            if beliefs is None:
                failed += 1
                continue
            self._add_gold(example, gold)
            joint.packed.expect(expected.parser, beliefs.messages)
            self._add_chain(example, joint, beliefs, expected.chain)
        return self._picked(gold) - self._picked(expected), failed

    def _beliefs(self, example: Example, transitions: Transitions, iterations: int) -> tuple[Joint, Beliefs | None]:
        """Return the joint model of a sentence and the last beliefs, which are None if there are no messages."""
        packed = self.charts.chart(example.sentence)
        assert packed is not None  # examples are sentences whose charts keep within the limit
        choices = Lattice(example.sentence.first, example.sentence.category)
        emission = emissions(self._context(example), choices, self.tagger.weights.table, self.tagger.weights.mask)
        joint, last = Joint(packed, choices, emission, transitions), None
        for beliefs in rounds(joint, iterations):
            last = beliefs
        return joint, last

    def _context(self, example: Example) -> np.ndarray:
        """Return the template hashes of a sentence's words."""
        return self.context[self.words.offsets[example.number] : self.words.offsets[example.number + 1]]

    def _add_gold(self, example: Example, gold: Counts) -> None:
        """Add the features of the gold derivation to the counts of both models."""
        chart = gold_chart(self.charts.grammar, example.sentence, example.derivation)
        count_features(self.charts.grammar, example.sentence, chart, gold.parser)
        tags = np.array([self.tagger.number[str(leaf.category)] for leaf in example.derivation.leaves()], np.int32)
        offsets, empty = np.array([0, len(tags)], self.words.offsets.dtype), np.zeros(0, np.int32)
        count_gold(Features(self._context(example), offsets, empty, Lattice(empty, empty)), tags, gold.chain)

    def _add_chain(self, example: Example, joint: Joint, beliefs: Beliefs, expected: Weights) -> None:
        """Add the chain's expected feature counts, given the parser's messages, to `expected`."""
        v, outside = len(joint.emission), np.empty(len(joint.emission))
        chart_messages(beliefs.belief, beliefs.messages, joint.choices.first, outside)
        sums = Sums(np.empty(v), np.empty(v), np.empty(v), np.empty(joint.words))
        combined, potential = joint.emission + outside, joint.transitions.potential
        if forward_backward(combined, joint.choices, potential, *sums) > -np.inf:
            add_expected(self._context(example), joint.choices, potential, sums, expected)

    def fit(
        self, settings: Settings, checkpoint: TrainingCheckpoint | None, progress: Progress | None
    ) -> tuple[np.ndarray, Supertagger, list[dict]]:
        """Train for all epochs and return (float32 weights of the parser, the supertagger, one record per epoch)."""
        w = self.weights()
        fresh: tuple[np.ndarray, int, list[dict], bool] = (w, 0, [], False)
        w, done, history, _ = (checkpoint.resume(len(w)) if checkpoint else None) or fresh
        n, a = len(self.examples), len(self.used)
        decay = np.where(np.arange(len(w)) < a, settings.l2, settings.tag_l2) / n
        for epoch in range(done, settings.joint_epochs):
            order = np.random.default_rng([epoch, n]).permutation(n)
            rate, moved, failed = settings.joint_rate / (1 + epoch / HALVED), 0.0, 0
            batches = range(0, n, BATCH)
            for begin in progress(batches, f"joint epoch {epoch + 1}") if progress else batches:
                batch = [self.examples[i] for i in order[begin : begin + BATCH]]
                self.set(w)
                gradient, lost = self.gradient(batch, settings.joint_rounds)
                step = gradient / len(batch) - decay * w
                w, moved, failed = w + rate * step, moved + float(np.abs(step).sum()), failed + lost
            history.append({"epoch": epoch + 1, "gradient": moved / len(batches), "failed": failed})
            if checkpoint is not None:
                checkpoint.save(w, epoch + 1, history, epoch + 1 == settings.joint_epochs)
        self.set(w.astype(np.float32).astype(np.float64))  # the precision of the model file
        chain = self.tagger
        tagger = Supertagger(chain.categories, chain.dictionary, chain.weights, chain.templates)
        return self.charts.weights.astype(np.float32), tagger, history
