"""Categories of training sentences from supertaggers that have not seen them.

A supertagger is sure of what it learnt from: within a beam it leaves its own training sentences far fewer categories,
and nearly always the right one. A parser that learns from such charts does not know what to make of those of new text.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treebound.core.treebank import Treebank
from treebound.learning.folds import fold_of
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.decoding import Supertagged
from treebound.systems.ccg.supertagger import Supertagger
from treebound.systems.ccg.words import Words


class Jackknifed:
    """As `Supertagged`: sentence s by the tagger of a fold, whose categories are numbered as those of `tagger`."""

    def __init__(self, tagger: Supertagger, words: Words, member: np.ndarray, taggers: list[Supertagger]):
        self.words, self.member = words, member
        self._of_fold = [Supertagged(one, words) for one in taggers]
        self._number = [np.array([tagger.number[name] for name in one.categories], np.int32) for one in taggers]

    def lattice(self, s: int, beta: float, cutoff: int) -> Lattice:
        """The categories of sentence s within a beam."""
        fold = self.member[s]
        choices = self._of_fold[fold].lattice(s, beta, cutoff)
        return Lattice(choices.first, self._number[fold][choices.tags])


def jackknifed(
    train: Treebank,
    words: Words,
    tagger: Supertagger,
    folds: int,
    learn: Callable[[Treebank, int], Supertagger],
) -> Supertagged | Jackknifed:
    """By `folds` supertaggers, each of which `learn`(its sentences, number of the fold); with one fold by `tagger`.

    words  of `train`. As many folds as there are sentences, at most.
    """
    folds = min(folds, len(train))
    if folds < 2:
        return Supertagged(tagger, words)
    member = fold_of(len(train), folds)
    taggers = [learn(train.select(np.flatnonzero(member != fold)), fold) for fold in range(folds)]
    return Jackknifed(tagger, words, member, taggers)
