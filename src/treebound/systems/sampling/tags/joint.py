"""Moves that change a word's head and tag together (Zhang et al. 2014, section 3.4), and the search made of them.

A tag is read by factors all over the sentence, so that a sentence is scored once for every tagging that a chain meets;
the scores of recent ones are kept. Candidate arcs are those of the tagging that comes in, whatever the tags.
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
from treebound.systems.sampling.tags.features import TAG, TEMPLATES, score_tags, with_given

COARSE = ATTRIBUTES.index("coarse")
KEPT = 64  #: taggings of a sentence whose scores are kept

Tagging = tuple[int, ...]  #: for each word, which of its candidates
State = tuple[Tagging, np.ndarray]  #: a tagging, and the arcs int32[n] of a tree


class NoTreeError(ValueError):
    """The candidate arcs of a sentence make up no tree."""


class Tagged(NamedTuple):
    """A sentence under one tagging, with its rows and tag ids, and the score of that one's tag features."""

    sentence: Sentence
    rows: np.ndarray
    tag: np.ndarray
    tags: float


class Joint:
    """A sentence whose tags are to be found as well as its heads.

    by, rows, tag, allowed  as of `scored`, rows and tag with the tags that come in
    options  for each word int64[k, 3]: hash of tag, hash of coarse tag and tag id of its candidates (as in rows and
             tag), the one that comes in first
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
        rows, tag = with_given(self.rows), self.tag.copy()
        for m, (choice, options) in enumerate(zip(tagging, self.options, strict=True), 1):
            rows[TAG, PAD + m], rows[COARSE, PAD + m], tag[m] = options[choice]
        made = scored(self.by, rows, tag, self.allowed)
        if made is None:
            raise NoTreeError
        names = np.zeros(len(TEMPLATES), np.int64)
        value = score_tags(rows, 1, len(tagging), self.by.reals, names) if self.tag_features else 0.0
        return Tagged(made, rows, tag, value)


class Chain:
    """A tagging and a tree, and the moves from one to another.

    value  score of both; kept by moves, which give what they gain
    """

    def __init__(self, joint: Joint, tagging: Tagging, arcs: np.ndarray):
        self.joint = joint
        self.value = self.lay(tagging, arcs)

    def lay(self, tagging: Tagging, arcs: np.ndarray) -> float:
        """Go to a tagging and the tree with these arcs int32[n]; their score."""
        self.tagging, self.made = tagging, self.joint.under(tagging)
        return self.made.sentence.lay(arcs) + self.made.tags

    @property
    def state(self) -> State:
        """Where the chain stands."""
        return self.tagging, self.made.sentence.arcs

    def step(self, temperature: float, rng: np.ndarray) -> float:
        """A move whose stationary distribution is exp(score / temperature) over tags and heads together; the gain.

        Half of the moves are those of `moves.gibbs`; the others draw head and tag of one word from their conditional.
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
        """Draw head and tag of word m; the gain. At COLDEST the best of both, the old ones where none are better.

        The tag comes from its marginal over the heads that m may have, then the head from its conditional: this is a
        draw from the two together, which is always accepted. O(candidates) sentences are scored, unless they are kept.
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
        """Score of the tree under a tagging, with what the choice of m's head adds."""
        value, sentence = self.lay(tagging, arcs), self.made.sentence
        return value + free_gain(*sentence.buffers, sentence.view, m, temperature)

    def anneal(self, steps: int, hot: float, cold: float, rng: np.ndarray) -> None:
        """Steps under a temperature that falls from hot to cold by a constant factor."""
        fall = (cold / hot) ** (1.0 / max(1, steps - 1))
        for i in range(steps):
            self.step(hot * fall**i, rng)

    def climb(self, rng: np.ndarray) -> None:
        """Make moves that gain something until none does: of `moves.climb`, and of words with several candidates."""
        gain = np.inf
        while gain > ENOUGH:
            sentence = self.made.sentence
            gain = climb(*sentence.buffers, sentence.view, rng)
            gain += sum(self.draw(m, COLDEST, rng) for m in self.joint.free)
            self.value += gain
