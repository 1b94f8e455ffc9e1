"""Jackknifing: supertags of training sentences from supertaggers that have not seen these sentences.

A supertagger is overconfident on its own training data: within a beam, its training sentences have far fewer
categories, and nearly always the right one. A parser that learns from such charts is poorly prepared for new text.
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
    """Sentences with category probabilities, computed by supertaggers that were not trained on the sentences' folds.

    Categories are numbered as in `tagger`; `member` int[S] holds the fold of each sentence.
    """

    def __init__(self, tagger: Supertagger, words: Words, member: np.ndarray, taggers: list[Supertagger]):
        self.words, self.member = words, member
        self._of_fold = [Supertagged(member_tagger, words) for member_tagger in taggers]
        self._number = [
            np.array([tagger.number[name] for name in member_tagger.categories], np.int32) for member_tagger in taggers
        ]

    def lattice(self, s: int, beta: float, cutoff: int) -> Lattice:
        """Return the lattice of sentence s: the categories within beam beta, under a dictionary cut-off."""
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
    """Return the sentences, each tagged by a supertagger that was trained without the sentence's fold.

    words  the words of `train`
    learn  trains a supertagger, given its sentences and the number of the fold

    With one fold, `tagger` tags all sentences. The number of folds is at most the number of sentences.
    """
    folds = min(folds, len(train))
    if folds < 2:
        return Supertagged(tagger, words)
    member = fold_of(len(train), folds)
    taggers = [learn(train.select(np.flatnonzero(member != fold)), fold) for fold in range(folds)]
    return Jackknifed(tagger, words, member, taggers)
