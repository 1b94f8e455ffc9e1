"""What global features look at: the words, the tree's spans, and what was scored before.

The tree itself stands in the integers of `treebound.decoders.approximate.sampling.buffers`. A feature belongs to a
word, its anchor. It says in a few integers what it sees there (`seen`), and hashes these to weights (`names`): where it
sees the same, its score is the same, so scores are kept under what is seen.
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
MOST = 4  #: arguments of one preposition that are looked at
NAMES = 4 * MOST  #: names that one feature has at one anchor, at most
KEPT = 1 << 12  #: scores that are kept

#: tags of the treebanks that are known; any other has no such words
TAGS = {
    PUNCTUATION: ("PUNCT", "PU", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "$.", "$,", "$(", "punc"),
    COORDINATOR: ("CCONJ", "CC", "CONJ", "KON", "conj", "Caa"),
    PREPOSITION: ("ADP", "IN", "TO", "APPR", "PREP", "prep", "sp", "P"),
}


class View(NamedTuple):
    """A sentence as global features see it.

    words    int64[6, n + 2]: hashes of fine and coarse tag and of the form, then flags; 0 is the root, n + 1 the end
    place    int64[3, n + 2]: first and last word below each word, itself included; marks
    marked   int64[n + 2]: how many words are marked, and these
    codes    int64[F]: the features, as numbered in `catalogue`
    held     float64[F, n + 1]: the score of each feature at each anchor
    total    float64[1]: their sum
    keys, values  int64[KEPT], float64[KEPT]: scores by what was seen
    seen, names   int64[*]: scratch
    weights  float32[2 ** bits]
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
    """Of a sentence of n words; rows as of `TokenTable.sentence`."""
    words = np.zeros((6, n + 2), np.int64)
    for row, attribute in ((TAG, "tag"), (COARSE, "coarse"), (LOWER, "lower")):
        words[row] = rows[ATTRIBUTES.index(attribute), PAD : PAD + n + 2]
    for row, hashes in _HASHES.items():
        words[row] = np.isin(words[TAG], hashes) | np.isin(words[COARSE], hashes)
    place, marked = np.zeros((3, n + 2), np.int64), np.zeros(n + 2, np.int64)
    held, total = np.zeros((len(codes), n + 1)), np.zeros(1)
    kept = np.zeros(KEPT, np.int64), np.zeros(KEPT)
    seen, names = np.zeros(n + 2 * MOST + 4, np.int64), np.zeros(NAMES, np.int64)
    return View(words, place, marked, codes, held, total, *kept, seen, names, weights)


_HASHES = {
    row: np.array([hash_string(f"{attribute}={tag}") for attribute in ("tag", "coarse") for tag in tags], np.int64)
    for row, tags in TAGS.items()
}


@kernel(inline="always")
def join(x, y):
    """A hash that goes on with y."""
    return (x ^ y) * M1


@kernel(inline="always")
def begin(code, template):
    """The hash that a feature's template begins with."""
    return finish((np.int64(code) * 64 + template + 1) * M1)


@kernel(inline="always")
def put(view, i, x):
    """Name number i; the number of the next."""
    view.names[i] = finish(x)
    return i + 1


@kernel
def bin_of(length):
    """Bin of a number of words: 0, 1, 2, 3, 4, 5-6, 7-10, 11-20, more."""
    if length <= 4:
        return length
    return 5 if length <= 6 else 6 if length <= 10 else 7 if length <= 20 else 8


@kernel
def find_spans(ints, view):
    """LOW and HIGH of every word. O(n) steps for most trees, O(n depth) for the worst."""
    n, place = ints[at.N], view.place
    for w in range(n + 1):
        place[LOW, w] = place[HIGH, w] = w
    for m in range(1, n + 1):
        u = head_of(ints, m)
        while m < place[LOW, u] or m > place[HIGH, u]:  # what covers m has told those above it
            place[LOW, u], place[HIGH, u] = min(place[LOW, u], m), max(place[HIGH, u], m)
            if u == 0:
                break
            u = head_of(ints, u)


@kernel
def mark_path(ints, view, w):
    """Mark w and the words above it: those whose modifiers or spans a move near w may have changed."""
    place, marked = view.place, view.marked
    while w > 0 and place[MARK, w] == 0:
        place[MARK, w] = 1
        marked[0] += 1
        marked[marked[0]] = w
        w = head_of(ints, w)


@kernel
def first_right(ints, view, h):
    """The first modifier to the right of h that is no punctuation, NONE: there is none."""
    m = ints[ints[at.FIRST] + h]
    while m != NONE and (m < h or view.words[PUNCTUATION, m]):
        m = ints[ints[at.NEXT] + m]
    return m


@kernel
def last_left(ints, view, h):
    """The last modifier to the left of h that is no punctuation, NONE: there is none."""
    m = ints[ints[at.LAST] + h]
    while m != NONE and (m > h or view.words[PUNCTUATION, m]):
        m = ints[ints[at.BEFORE] + m]
    return m
