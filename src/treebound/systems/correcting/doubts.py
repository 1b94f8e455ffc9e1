"""Which other tags a tagger deems possible, and by how much it prefers its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.treebank import Treebank
from treebound.support.jit import kernel
from treebound.systems.tagging.sequence import ORDERS, Candidates, Table, best_tags, contexts
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.words import word_table

NEVER = -1.0  #: the deficit of a tag that a word cannot have


class Doubts(NamedTuple):
    """The tags of words, the likeliest first.

    tags      per word the tags: the tagger's own, then others by their deficits
    deficits  per word float64: how much less the sentence's best sequence scores with each, 0 for the tagger's own; in
              units of the mean deficit of second-best tags
    """

    tags: list[tuple[str, ...]]
    deficits: list[np.ndarray]

    def part(self, first: int, last: int) -> Doubts:
        """Those of the words from first to before last."""
        return Doubts(self.tags[first:last], self.deficits[first:last])

    def under(self, most: float, count: int) -> Doubts:
        """Tags with a deficit of at most `most`, `count` of a word at most."""
        kept = [min(count, int(np.searchsorted(d, most, side="right"))) for d in self.deficits]
        tags = [tags[:k] for tags, k in zip(self.tags, kept, strict=True)]
        return Doubts(tags, [d[:k] for d, k in zip(self.deficits, kept, strict=True)])


def doubts(tagger: Tagger, treebank: Treebank, unit: float | None = None) -> tuple[Doubts, float]:
    """Of every word of a treebank, and the unit of the deficits in the tagger's own scores.

    unit  of deficits; None: their mean over the second-best tags of these words
    The tags of other words stay the tagger's own, so that the deficits of several words that are no neighbours add up.
    O(words x tags) looks at templates.
    """
    rows, starts, group = word_table(treebank, tagger.dictionary, tagger.given)
    table = Table(tagger.weights, tagger.mask, len(tagger.tags))
    one = np.arange(len(tagger.tags) + 1, dtype=np.int32)
    single = Candidates(one, one[:-1])
    own = tagger.tag(treebank)
    found = np.full((treebank.words, len(tagger.tags)), NEVER)
    for i, start in enumerate(starts):
        span = slice(treebank.offsets[i], treebank.offsets[i + 1])
        context = contexts(tagger.compiled, rows[:, start:], int(treebank.lengths[i]))
        lists = tagger.dictionary.candidates
        _deficits(tagger.compiled, context, group[span], lists, single, table, own[span], found[span])
    found[np.arange(treebank.words), own] = 0.0
    key = np.where(found < 0, np.inf, found)
    key[np.arange(treebank.words), own] = NEVER  # the first, whatever is as good
    order = np.argsort(key, axis=1, kind="stable")
    sorted_ = np.take_along_axis(found, order, axis=1)
    if unit is None:
        second = sorted_[:, 1] if len(tagger.tags) > 1 else np.zeros(0)
        unit = float(second[second > 0].mean()) if (second > 0).any() else 1.0
    count = (sorted_ >= 0).sum(axis=1)
    tags = [tuple(tagger.tags[t] for t in order[w, : count[w]]) for w in range(treebank.words)]
    return Doubts(tags, [sorted_[w, : count[w]] / unit for w in range(treebank.words)]), unit


@kernel
def _deficits(templates, context, group, lists, single, table, own, out):
    """Deficits of a sentence's tags into out float64[n, tags]; own int32[n], which are changed and restored.

    Templates see the ORDERS - 1 tags before a word: what a tag changes is scored among so many words on either side.
    """
    none, scratch = np.empty(0, np.int32), np.empty(2 * ORDERS - 1, np.int32)
    for w in range(len(own)):
        a, b, kept = max(0, w - ORDERS + 1), min(len(own), w + ORDERS), own[w]
        here, near, out_here = context[a:b], own[a:b], scratch[: b - a]
        best = best_tags(templates, here, near, single, table, none, 0, out_here)
        for tag in lists.tags[lists.first[group[w]] : lists.first[group[w] + 1]]:
            own[w] = tag
            out[w, tag] = best - best_tags(templates, here, near, single, table, none, 0, out_here)
        own[w] = kept
