"""Moves that change head and tag of a word together (Zhang et al. 2014, section 3.4), and a search made of them.

Factors all over the sentence read a tag, so a sentence is scored once for every tag sequence that a chain visits. The
scores of recent sequences are cached. The candidate arcs are chosen under the predicted tags and do not change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from treebound.decoders.approximate.sampling.chance import below, uniform
from treebound.decoders.approximate.sampling.moves import ENOUGH
from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import PAD
from treebound.systems.sampling.moves import COLDEST, climb, free_gain, gibbs, resample
from treebound.systems.sampling.sentence import Scoring, Sentence, scored
from treebound.systems.sampling.tags.features import TAG, TEMPLATES, score_tags, with_tag_column

COARSE = ATTRIBUTES.index("coarse")
KEPT = 64  #: number of tag sequences of a sentence whose scores are cached

Tagging = tuple[int, ...]  #: a tag sequence: the number of a candidate for each word
State = tuple[Tagging, np.ndarray]  #: a tag sequence, and the arcs int32[n] of a tree


class NoTreeError(ValueError):
    """Raised if the candidate arcs of a sentence make up no tree."""


class Tagged(NamedTuple):
    """A sentence scored under one tag sequence, with its token rows, tag ids and the score of its tag features."""

    sentence: Sentence
    rows: np.ndarray
    tag: np.ndarray
    tags: float


class Joint:
    """A sentence for which both tags and heads are searched.

    by            the model that scores the sentence
    allowed       bool[n + 1, n + 1], the candidate arcs, head first
    rows, tag     token rows and tag ids of the sentence under its predicted tags
    options       for each word int64[k, 3], with one row per candidate tag: the hash of the tag, the hash of the coarse
                  tag, and the tag id. Row 0 is the predicted tag
    tag_features  whether the model has features of tag sequences (`tags.features`)
    """

    def __init__(
        self,
        by: Scoring,
        rows: np.ndarray,
        tag: np.ndarray,
        allowed: np.ndarray,
        options: list[np.ndarray],
        tag_features: bool = True,
    ):
        self.by, self.rows, self.tag, self.allowed, self.options = by, rows, tag, allowed, options
        self.tag_features = tag_features
        self.under = lru_cache(KEPT)(self._under)
        self.free = [m for m, choice in enumerate(options, 1) if len(choice) > 1]

    def _under(self, tagging: Tagging) -> Tagged:
        rows, tag = with_tag_column(self.rows), self.tag.copy()
        for m, (choice, options) in enumerate(zip(tagging, self.options, strict=True), 1):
            rows[TAG, PAD + m], rows[COARSE, PAD + m], tag[m] = options[choice]
        sentence = scored(self.by, rows, tag, self.allowed)
        if sentence is None:
            raise NoTreeError
        names = np.zeros(len(TEMPLATES), np.int64)
        value = score_tags(rows, 1, len(tagging), self.by.reals, names) if self.tag_features else 0.0
        return Tagged(sentence, rows, tag, value)


class Chain:
    """A tag sequence with a tree, and the moves that change them.

    value  score of the tag sequence and the tree; each move updates it and returns the gain
    """

    def __init__(self, joint: Joint, tagging: Tagging, arcs: np.ndarray):
        self.joint = joint
        self.value = self.lay(tagging, arcs)

    def lay(self, tagging: Tagging, arcs: np.ndarray) -> float:
        """Change to a tag sequence and the tree with arcs int32[n], and return their score."""
        self.tagging, self.made = tagging, self.joint.under(tagging)
        return self.made.sentence.lay(arcs) + self.made.tags

    @property
    def state(self) -> State:
        """The current tag sequence and tree."""
        return self.tagging, self.made.sentence.arcs

    def step(self, temperature: float, rng: np.ndarray) -> float:
        """Make a move whose stationary distribution is exp(score / temperature), over tags and heads; return the gain.

        Half of the moves are moves of `moves.gibbs`. The others draw head and tag of one word from their joint
        conditional.
        """
        sentence = self.made.sentence
        m = 1 + below(rng, sentence.problem.n)
        if uniform(rng) < 0.5:
            gain = gibbs(*sentence.buffers, sentence.view, temperature, rng)
        else:
            gain = self.draw(m, temperature, rng)
        self.value += gain
        return gain

    def draw(self, m: int, temperature: float, rng: np.ndarray) -> float:
        """Draw head and tag of word m, or take the best pair at COLDEST; return the gain.

        At COLDEST, the old pair stays if no other is better. Otherwise, the tag comes from its marginal over the heads
        that m may have, and then the head from its conditional. Together, this is a draw from the joint conditional,
        which is always accepted. O(candidates) sentences are scored, unless cached.
        """
        arcs, old = self.made.sentence.arcs, self.tagging
        options = [(*old[: m - 1], i, *old[m:]) for i in range(len(self.joint.options[m - 1]))]
        chosen, gain = old[m - 1], 0.0
        if len(options) > 1:
            values = np.array([self._free(tagging, arcs, m, temperature) for tagging in options])
            if temperature > COLDEST:
                mass = np.exp((values - values.max()) / temperature).cumsum()
                chosen = int(np.searchsorted(mass, uniform(rng) * mass[-1], side="right"))
            elif values.max() > values[chosen] + ENOUGH:
                chosen = int(values.argmax())
            gain = -self.lay(old, arcs)
            gain += self.lay(options[chosen], arcs)
        sentence = self.made.sentence
        return gain + resample(*sentence.buffers, sentence.view, m, temperature, rng)

    def _free(self, tagging: Tagging, arcs: np.ndarray, m: int, temperature: float) -> float:
        """Return the score of a tree under a tag sequence, plus `moves.free_gain` for the head of m."""
        value, sentence = self.lay(tagging, arcs), self.made.sentence
        return value + free_gain(*sentence.buffers, sentence.view, m, temperature)

    def anneal(self, steps: int, hot: float, cold: float, rng: np.ndarray) -> None:
        """Make steps under a temperature that falls from hot to cold by a constant factor."""
        fall = (cold / hot) ** (1.0 / max(1, steps - 1))
        for i in range(steps):
            self.step(hot * fall**i, rng)

    def climb(self, rng: np.ndarray) -> None:
        """Make moves that gain score until no move does.

        The moves are the moves of `moves.climb` and, for words with several candidate tags, new pairs of head and tag.
        """
        gain = np.inf
        while gain > ENOUGH:
            sentence = self.made.sentence
            gain = climb(*sentence.buffers, sentence.view, rng)
            gain += sum(self.draw(m, COLDEST, rng) for m in self.joint.free)
            self.value += gain
