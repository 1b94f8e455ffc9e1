"""Candidate tags of words, learned from predicted and gold tags.

Zhang, Lei, Barzilay, Jaakkola & Globerson (2014), section 3.4.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary

SHARE = 0.003  #: the parameter alpha of the paper


class Candidates(NamedTuple):
    """Statistics of a training treebank that give the candidate tags of words.

    confused  predicted tag -> gold tags of the words that often get this prediction, the most frequent first;
    known     form -> its gold tags in training, with their counts;
    coarse    gold tag -> the coarse tag that it has most often.
    """

    confused: dict[str, tuple[str, ...]]
    known: dict[str, Counter[str]]
    coarse: dict[str, str]

    def of(self, form: str, predicted: str, own: str | None = None) -> tuple[str, ...]:
        """Return the predicted tag of a word, followed by the other candidate tags of the word, the likeliest first.

        The candidates of a known form are restricted to tags that it has in training.

        own  gold tag of the word, if the word belongs to the training set. Its form is then counted without
             this occurrence. Otherwise, the gold tag would be the only other candidate of a form that occurs once
        """
        counts = self.known.get(form, Counter())
        known = {tag for tag, count in counts.items() if count > (tag == own)}
        return predicted, *(t for t in self.confused.get(predicted, ()) if t != predicted and (not known or t in known))

    def oracle(self, gold: Treebank, predicted: Treebank, column: str) -> float:
        """Return the share of words whose gold tag is a candidate: an upper bound for any correction.

        InputError if the two treebanks do not have the same words.
        """
        words = _words(gold, predicted, column)
        return sum(right in self.of(form, tag) for form, right, tag in words) / max(1, len(words))


def learn(gold: Treebank, predicted: Treebank, column: str, share: float = SHARE) -> Candidates:
    """Learn candidate tags from a treebank with gold tags in `column`, and from the treebank with jackknifed tags.

    Tag t is a candidate for the predicted tag tp if c(t, tp) > 0 and c(t, tp) >= share * c(tp, tp). Here c(t, tp) is
    the number of words with gold tag t and predicted tag tp. InputError if the two treebanks do not have the same
    words. O(words).
    """
    right, tags, known = Vocabulary(), Vocabulary(), dict[str, Counter[str]]()
    words = _words(gold, predicted, column)
    pairs = np.array([(right.add(r), tags.add(t)) for _, r, t in words], np.int64).reshape(-1, 2)
    count = np.zeros((len(right), len(tags)), np.int64)
    np.add.at(count, (pairs[:, 0], pairs[:, 1]), 1)
    for form, tag, _ in words:
        known.setdefault(form, Counter())[tag] += 1
    confused = {}
    for j, tag in enumerate(tags.strings):
        own = count[right.get(tag), j] if tag in right else 0
        order = np.argsort(-count[:, j], kind="stable")
        confused[tag] = tuple(right[i] for i in order if count[i, j] > 0 and count[i, j] >= share * own)
    return Candidates(confused, known, coarse_tags(gold, column))


def coarse_tags(gold: Treebank, column: str) -> dict[str, str]:
    """Return a dictionary from each tag of a column to the coarse tag that its words have most often."""
    meta, fine = gold.meta, gold.strings(column)
    if meta.get("coarse", "upos") == "tag2":
        return {tag: tag[:2] for tag in fine}
    counts: dict[str, Counter[str]] = {}
    for tag, coarse in zip(fine, gold.strings(meta.get("coarse", "upos")), strict=True):
        counts.setdefault(tag, Counter())[coarse] += 1
    return {tag: counter.most_common(1)[0][0] for tag, counter in counts.items()}


def _words(gold: Treebank, predicted: Treebank, column: str) -> list[tuple[str, str, str]]:
    """Return (form, gold tag, predicted tag) of every word."""
    forms, others = gold.strings("form"), predicted.strings("form")
    if forms != others or not np.array_equal(gold.offsets, predicted.offsets):
        raise InputError("gold and predicted tags belong to different words", hint="tag the treebank itself")
    return list(zip(forms, gold.strings(column), predicted.strings(column), strict=True))
