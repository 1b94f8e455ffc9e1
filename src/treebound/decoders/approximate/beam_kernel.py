"""Arc-hybrid sequences with a beam, on given scores: what an arc adds to the forest, when it is drawn.

Shift, attach the top of the stack to the next word, attach it to what is below it: 2 n transitions make every
projective tree of n words (Kuhlmann, Gomez-Rodriguez & Satta 2011). A part scores when its last arc is decided
(`sampling.forest.worth`), and an arc less the best score of an arc into its word, so that to wait is not to lose.
Oracle: tests/test_beam.py: a beam without end finds the best of all trees.
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
    """Hypotheses, best first: score, stack int64[B, n + 1] with the root at its bottom, its size, next word, forest."""

    score: np.ndarray
    stack: np.ndarray
    size: np.ndarray
    word: np.ndarray
    forest: np.ndarray


@kernel
def beam_search(ints, reals, ahead, width):
    """(score, arcs int32[n] by word) of the best sequence; (NEG, ...) where none of the beam ends in a tree.

    ints, reals  of `sampling.buffers`
    ahead        float64[n + 1] the best score of an arc into each word
    O(n width (n + what an arc's parts take)).
    """
    n = ints[at.N]
    one, two = _empty(n, width), _empty(n, width)
    score, parent, arc = np.empty(3 * width), np.empty(3 * width, np.int64), np.empty(3 * width, np.int64)
    one.score[0] = clear(ints, reals) + ahead[1:].sum()
    one.stack[0, 0], one.size[0], one.word[0] = 0, 1, 1
    _store(ints, one.forest, 0)
    count = 1
    for _ in range(2 * n):
        c = 0
        for i in range(count):
            _load(ints, one.forest, i)
            c = _expand(ints, reals, ahead, one, i, (score, parent, arc), c)
        if c == 0:
            return NEG, np.zeros(n, np.int32)
        order = np.argsort(-score[:c], kind="mergesort")
        count = min(c, width)
        for j in range(count):
            k = order[j]
            _apply(ints, one, parent[k], arc[k], two, j)
            two.score[j] = score[k]
        one, two = two, one
    arcs = np.empty(n, np.int32)
    for m in range(1, n + 1):
        arcs[m - 1] = one.forest[0, m]
    return one.score[0], arcs


@kernel
def _empty(n, width):
    return Beam(
        np.empty(width),
        np.empty((width, n + 1), np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.empty((width, 5 * (n + 2)), np.int64),
    )


@kernel
def _store(ints, forest, i):
    """Keep the forest of the buffers as that of hypothesis i; its five arrays stand one behind the other."""
    start = ints[at.ARC_INTO]
    forest[i] = ints[start : start + forest.shape[1]]


@kernel
def _load(ints, forest, i):
    """Make the forest of hypothesis i that of the buffers."""
    start = ints[at.ARC_INTO]
    ints[start : start + forest.shape[1]] = forest[i]


@kernel
def _expand(ints, reals, ahead, beam, i, following, c):
    """Write what can follow hypothesis i, whose forest is loaded, from place c; NONE in place of an arc: a shift."""
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
    """Hypothesis j of `out`: hypothesis i with arc b, or with the next word shifted where that is NONE."""
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
