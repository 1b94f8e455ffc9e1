"""The tags that a word may have, learnt from predicted tags beside right ones.

Zhang, Lei, Barzilay, Jaakkola & Globerson (2014), section 3.4.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary

SHARE = 0.003  #: alpha of the paper


class Candidates(NamedTuple):
    """Tags of words.

    confused  predicted tag -> right tags that it often enough stands for, the commonest first
    known     form -> its right tags in training, and how often it had each
    coarse    right tag -> the coarse tag that it has most often
    """

    confused: dict[str, tuple[str, ...]]
    known: dict[str, Counter[str]]
    coarse: dict[str, str]

    def of(self, form: str, predicted: str, own: str | None = None) -> tuple[str, ...]:
        """The predicted tag, then others, likelier ones first; of a known form only such as it had in training.

        own  the right tag of a word of training itself, which then is not what makes its form known: otherwise the only
             other candidate of a form that occurs once would be the right one, and no other word's is
        """
        counts = self.known.get(form, Counter())
        known = {tag for tag, count in counts.items() if count > (tag == own)}
        return predicted, *(t for t in self.confused.get(predicted, ()) if t != predicted and (not known or t in known))

    def oracle(self, gold: Treebank, predicted: Treebank, column: str) -> float:
        """The share of words whose right tag is a candidate: what no correction can exceed. InputError as `learn`."""
        words = _words(gold, predicted, column)
        return sum(right in self.of(form, tag) for form, right, tag in words) / max(1, len(words))


def learn(gold: Treebank, predicted: Treebank, column: str, share: float = SHARE) -> Candidates:
    """Candidates from a treebank with right tags in `column` and with predicted ones (`tagging.jackknife`).

    Tag t is a candidate where tp was predicted if c(t, tp) > 0 and c(t, tp) >= share * c(tp, tp), c counting words.
    InputError where the two treebanks are not the same words. O(words).
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
    """Tag of a column -> the coarse tag that words with it have most often."""
    meta, fine = gold.meta, gold.strings(column)
    if meta.get("coarse", "upos") == "tag2":
        return {tag: tag[:2] for tag in fine}
    counts: dict[str, Counter[str]] = {}
    for tag, coarse in zip(fine, gold.strings(meta.get("coarse", "upos")), strict=True):
        counts.setdefault(tag, Counter())[coarse] += 1
    return {tag: found.most_common(1)[0][0] for tag, found in counts.items()}


def _words(gold: Treebank, predicted: Treebank, column: str) -> list[tuple[str, str, str]]:
    """(form, right tag, predicted tag) of every word."""
    forms, others = gold.strings("form"), predicted.strings("form")
    if forms != others or not np.array_equal(gold.offsets, predicted.offsets):
        raise InputError("right and predicted tags are of different words", hint="tag the treebank itself")
    return list(zip(forms, gold.strings(column), predicted.strings(column), strict=True))
