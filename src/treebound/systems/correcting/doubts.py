"""Doubts of a tagger: the other tags that it considers possible, and by how much it prefers its own tags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.treebank import Treebank
from treebound.support.jit import kernel
from treebound.systems.tagging.sequence import ORDERS, Candidates, Table, best_tags, contexts
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.words import word_table

NEVER = -1.0  #: takes the place of a deficit for a tag that the word cannot have


class Doubts(NamedTuple):
    """The candidate tags of words, the likeliest first.

    tags      for each word: the tagger's own tag, then the others by increasing deficit;
    deficits  float64 for each word: by how much the score of the best tag sequence falls with each tag. It is 0 for the
              tagger's own tag. The unit is the mean deficit of second-best tags.
    """

    tags: list[tuple[str, ...]]
    deficits: list[np.ndarray]

    def part(self, first: int, last: int) -> Doubts:
        """Return the doubts about the words from `first` to before `last`."""
        return Doubts(self.tags[first:last], self.deficits[first:last])

    def under(self, most: float, count: int) -> Doubts:
        """Return the doubts reduced to tags with a deficit of at most `most`, and to at most `count` tags per word."""
        counts = [min(count, int(np.searchsorted(d, most, side="right"))) for d in self.deficits]
        tags = [tags[:k] for tags, k in zip(self.tags, counts, strict=True)]
        return Doubts(tags, [d[:k] for d, k in zip(self.deficits, counts, strict=True)])


def doubts(tagger: Tagger, treebank: Treebank, unit: float | None = None) -> tuple[Doubts, float]:
    """Return the doubts about every word of a treebank, and the unit of the deficits in the tagger's scores.

    unit  unit of the deficits; None computes the mean over the second-best tags of the treebank

    The deficits of a word assume that all other words keep the tagger's own tags. So the deficits of words that are not
    neighbours add up. O(words x tags) evaluations of the templates.
    """
    rows, starts, group = word_table(treebank, tagger.dictionary, tagger.tag_column)
    table = Table(tagger.weights, tagger.mask, len(tagger.tags))
    tag_ids = np.arange(len(tagger.tags) + 1, dtype=np.int32)
    single = Candidates(tag_ids, tag_ids[:-1])
    own = tagger.tag(treebank)
    deficits = np.full((treebank.words, len(tagger.tags)), NEVER)
    for i, start in enumerate(starts):
        span = slice(treebank.offsets[i], treebank.offsets[i + 1])
        context = contexts(tagger.compiled, rows[:, start:], int(treebank.lengths[i]))
        lists = tagger.dictionary.candidates
        _deficits(tagger.compiled, context, group[span], lists, single, table, own[span], deficits[span])
    deficits[np.arange(treebank.words), own] = 0.0
    key = np.where(deficits < 0, np.inf, deficits)
    key[np.arange(treebank.words), own] = NEVER  # sorts the tagger's own tag before tags of equal score
    order = np.argsort(key, axis=1, kind="stable")
    sorted_deficits = np.take_along_axis(deficits, order, axis=1)
    if unit is None:
        second = sorted_deficits[:, 1] if len(tagger.tags) > 1 else np.zeros(0)
        unit = float(second[second > 0].mean()) if (second > 0).any() else 1.0
    count = (sorted_deficits >= 0).sum(axis=1)
    tags = [tuple(tagger.tags[t] for t in order[w, : count[w]]) for w in range(treebank.words)]
    return Doubts(tags, [sorted_deficits[w, : count[w]] / unit for w in range(treebank.words)]), unit


@kernel
def _deficits(templates, context, group, lists, single, table, own, out):
    """Write the deficits of a sentence's tags to out float64[n, tags].

    group   int32[n], number of the list of candidate tags of each word
    lists   all lists of candidate tags
    single  lists of one tag each: list t contains tag t alone
    own     int32[n], the tagger's tags; they are changed and restored

    Templates read the ORDERS - 1 tags before a word. A change of a tag is therefore scored within this distance on both
    sides.
    """
    none, scratch = np.empty(0, np.int32), np.empty(2 * ORDERS - 1, np.int32)
    for w in range(len(own)):
        a, b, own_tag = max(0, w - ORDERS + 1), min(len(own), w + ORDERS), own[w]
        context_near, own_near, best_near = context[a:b], own[a:b], scratch[: b - a]
        best = best_tags(templates, context_near, own_near, single, table, none, 0, best_near)
        for tag in lists.tags[lists.first[group[w]] : lists.first[group[w] + 1]]:
            own[w] = tag
            out[w, tag] = best - best_tags(templates, context_near, own_near, single, table, none, 0, best_near)
        own[w] = own_tag
