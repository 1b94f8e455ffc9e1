"""Search arc-hybrid transition sequences with a beam, and score each new arc by the parts that it completes.

A transition shifts the next word, or attaches the top of the stack: to the next word, or to the word below the top. In
all, 2 n transitions build every projective tree of n words (Kuhlmann, Gomez-Rodriguez & Satta 2011). A part scores when
its last arc is decided (`sampling.forest.worth`). The best score of an arc into the same word is subtracted from the
score of an arc, so that hypotheses are not penalised for drawing arcs late. Oracle: in tests/test_beam.py, an unlimited
beam finds the best of all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import arc_number, clear, link, worth
from treebound.kernels.chart.hypergraph import NEG
from treebound.support.jit import kernel

SHIFT, LEFT, RIGHT = range(3)


class Beam(NamedTuple):
    """The B hypotheses of a beam, best first.

    - score: float64[B], score of each hypothesis.
    - stack: int64[B, n + 1], words on the stack; the root comes first.
    - size: int64[B], number of words on the stack.
    - word: int64[B], the next word to be shifted.
    - forest: int64[B, 5 (n + 2)], arcs so far, as a copy of the five arrays of the forest in the buffers.
    """

    score: np.ndarray
    stack: np.ndarray
    size: np.ndarray
    word: np.ndarray
    forest: np.ndarray


@kernel
def beam_search(ints, reals, ahead, width):
    """Return (score, arcs int32[n] by word) of the best sequence, or (NEG, ...) if no sequence ends in a tree.

    ints, reals  buffers of `sampling.buffers`
    ahead        float64[n + 1], the best score of an arc into each word
    O(n width (n + the time to score an arc's parts)).
    """
    n = ints[at.N]
    current, following = _empty(n, width), _empty(n, width)
    score, parent, arc = np.empty(3 * width), np.empty(3 * width, np.int64), np.empty(3 * width, np.int64)
    current.score[0] = clear(ints, reals) + ahead[1:].sum()
    current.stack[0, 0], current.size[0], current.word[0] = 0, 1, 1
    _store(ints, current.forest, 0)
    count = 1
    for _ in range(2 * n):
        c = 0
        for i in range(count):
            _load(ints, current.forest, i)
            c = _expand(ints, reals, ahead, current, i, (score, parent, arc), c)
        if c == 0:
            return NEG, np.zeros(n, np.int32)
        order = np.argsort(-score[:c], kind="mergesort")
        count = min(c, width)
        for j in range(count):
            k = order[j]
            _apply(ints, current, parent[k], arc[k], following, j)
            following.score[j] = score[k]
        current, following = following, current
    arcs = np.empty(n, np.int32)
    for m in range(1, n + 1):
        arcs[m - 1] = current.forest[0, m]
    return current.score[0], arcs


@kernel
def _empty(n, width):
    """Return a beam of `width` hypotheses with uninitialised arrays."""
    return Beam(
        np.empty(width),
        np.empty((width, n + 1), np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.empty((width, 5 * (n + 2)), np.int64),
    )


@kernel
def _store(ints, forest, i):
    """Copy the forest of the buffers, five arrays in one block of memory, to row i of `forest`."""
    start = ints[at.ARC_INTO]
    forest[i] = ints[start : start + forest.shape[1]]


@kernel
def _load(ints, forest, i):
    """Copy the forest of hypothesis i, row i of `forest`, into the buffers."""
    start = ints[at.ARC_INTO]
    ints[start : start + forest.shape[1]] = forest[i]


@kernel
def _expand(ints, reals, ahead, beam, i, following, c):
    """Write the successors of hypothesis i to `following` from index c on, and return the next free index.

    following  arrays of the score, the parent and the arc of each successor; a shift has the arc NONE
    The forest of hypothesis i must be in the buffers.
    """
    n, one_root = ints[at.N], ints[at.ONE_ROOT] == 1
    size, word = beam.size[i], beam.word[i]
    score, parent, arc = following
    top = beam.stack[i, size - 1]
    if word <= n:
        score[c], parent[c], arc[c] = beam.score[i], i, NONE
        c += 1
    for side in range(2):
        if size < 2 or (side == 0 and word > n):
            continue
        h = word if side == 0 else beam.stack[i, size - 2]
        if h == 0 and one_root and (word <= n or size > 2):
            continue
        b = arc_number(ints, h, top)
        if b != NONE:
            score[c], parent[c], arc[c] = beam.score[i] + worth(ints, reals, b) - ahead[top], i, b
            c += 1
    return c


@kernel
def _apply(ints, beam, i, b, out, j):
    """Write hypothesis j of `out`: hypothesis i of `beam` plus arc b, or with the next word shifted if b is NONE."""
    size, word = beam.size[i], beam.word[i]
    out.stack[j, :size] = beam.stack[i, :size]
    if b == NONE:
        out.stack[j, size] = word
        out.size[j], out.word[j] = size + 1, word + 1
        out.forest[j] = beam.forest[i]
        return
    out.size[j], out.word[j] = size - 1, word
    _load(ints, beam.forest, i)
    link(ints, b)
    _store(ints, out.forest, j)
