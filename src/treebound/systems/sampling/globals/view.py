"""The data that global features read: the words, the spans of the tree, and a cache of scores.

The tree is stored in the integers of `treebound.decoders.approximate.sampling.buffers`. A feature belongs to a word,
its anchor. The function `see` of a feature describes the tree near the anchor by a few integers, and `name` hashes
these integers to weights. Equal integers have equal scores, so the integers are the key of the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import head_of
from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import PAD
from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel

# rows of `View.words`
TAG, COARSE, LOWER, PUNCTUATION, COORDINATOR, PREPOSITION = range(6)
# rows of `View.place`
LOW, HIGH, MARK = range(3)
MOST = 4  #: largest number of arguments of one preposition that a feature reads
NAMES = 4 * MOST  #: largest number of names that a feature has at one anchor
KEPT = 1 << 12  #: number of scores in the cache

#: tags of each class of words in the tag sets that we know; with other tag sets the classes are empty
TAGS = {
    PUNCTUATION: ("PUNCT", "PU", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "$.", "$,", "$(", "punc"),
    COORDINATOR: ("CCONJ", "CC", "CONJ", "KON", "conj", "Caa"),
    PREPOSITION: ("ADP", "IN", "TO", "APPR", "PREP", "prep", "sp", "P"),
}


class View(NamedTuple):
    """A sentence in the form that global features read.

    words    int64[6, n + 2]: rows of hashes of the fine tag, the coarse tag and the form, and three rows of flags.
             Column 0 is the root, column n + 1 the end of the sentence;
    place    int64[3, n + 2]: first word of each word's span, last word of the span, and a mark. A mark says that a
             move may have changed the tree near the word;
    marked   int64[n + 2]: the number of marked words, followed by these words;
    codes    int64[F]: the features, as numbered in `catalogue`;
    held     float64[F, n + 1]: the score of each feature at each anchor;
    total    float64[1]: the sum of `held`;
    keys, values  int64[KEPT], float64[KEPT]: the cache of scores;
    seen, names   int64[*]: working memory for the output of `see` and `name`;
    weights  float32[2 ** bits]: the weights of global features, by hash.
    """

    words: np.ndarray
    place: np.ndarray
    marked: np.ndarray
    codes: np.ndarray
    held: np.ndarray
    total: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    seen: np.ndarray
    names: np.ndarray
    weights: np.ndarray


def view_of(rows: np.ndarray, n: int, codes: np.ndarray, weights: np.ndarray) -> View:
    """Return the view of a sentence of n words, whose token rows `TokenTable.sentence` returns."""
    words = np.zeros((6, n + 2), np.int64)
    for row, attribute in ((TAG, "tag"), (COARSE, "coarse"), (LOWER, "lower")):
        words[row] = rows[ATTRIBUTES.index(attribute), PAD : PAD + n + 2]
    for row, hashes in _HASHES.items():
        words[row] = np.isin(words[TAG], hashes) | np.isin(words[COARSE], hashes)
    place, marked = np.zeros((3, n + 2), np.int64), np.zeros(n + 2, np.int64)
    held, total = np.zeros((len(codes), n + 1)), np.zeros(1)
    cache = np.zeros(KEPT, np.int64), np.zeros(KEPT)
    seen, names = np.zeros(n + 2 * MOST + 4, np.int64), np.zeros(NAMES, np.int64)
    return View(words, place, marked, codes, held, total, *cache, seen, names, weights)


_HASHES = {
    row: np.array([hash_string(f"{attribute}={tag}") for attribute in ("tag", "coarse") for tag in tags], np.int64)
    for row, tags in TAGS.items()
}


@kernel(inline="always")
def join(x, y):
    """Return the hash x, extended by the value y."""
    return (x ^ y) * M1


@kernel(inline="always")
def begin(code, template):
    """Return the initial hash for template number `template` of global feature number `code`."""
    return finish((np.int64(code) * 64 + template + 1) * M1)


@kernel(inline="always")
def put(view, i, x):
    """Store feature hash x as view.names[i], and return i + 1."""
    view.names[i] = finish(x)
    return i + 1


@kernel
def bin_of(length):
    """Return the bin of a number of words: 0, 1, 2, 3, 4, 5-6, 7-10, 11-20, or more."""
    if length <= 4:
        return length
    return 5 if length <= 6 else 6 if length <= 10 else 7 if length <= 20 else 8


@kernel
def find_spans(ints, view):
    """Write the first and last word of every word's span to rows LOW and HIGH of `view.place`.

    O(n) steps for most trees, O(n depth) for the worst.
    """
    n, place = ints[at.N], view.place
    for w in range(n + 1):
        place[LOW, w] = place[HIGH, w] = w
    for m in range(1, n + 1):
        u = head_of(ints, m)
        while m < place[LOW, u] or m > place[HIGH, u]:  # once a span covers m, the spans of its ancestors do so, too
            place[LOW, u], place[HIGH, u] = min(place[LOW, u], m), max(place[HIGH, u], m)
            if u == 0:
                break
            u = head_of(ints, u)


@kernel
def mark_path(ints, view, w):
    """Mark w and its ancestors, whose features must be scored again because a move near w may have changed them."""
    place, marked = view.place, view.marked
    while w > 0 and place[MARK, w] == 0:
        place[MARK, w] = 1
        marked[0] += 1
        marked[marked[0]] = w
        w = head_of(ints, w)


@kernel
def first_right(ints, view, h):
    """Return the first modifier to the right of h that is not punctuation, or NONE."""
    m = ints[ints[at.FIRST] + h]
    while m != NONE and (m < h or view.words[PUNCTUATION, m]):
        m = ints[ints[at.NEXT] + m]
    return m


@kernel
def last_left(ints, view, h):
    """Return the last modifier to the left of h that is not punctuation, or NONE."""
    m = ints[ints[at.LAST] + h]
    while m != NONE and (m > h or view.words[PUNCTUATION, m]):
        m = ints[ints[at.BEFORE] + m]
    return m
