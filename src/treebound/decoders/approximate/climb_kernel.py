"""Better trees by giving one word another head, as often as that helps (McDonald & Pereira 2006, section 3.2).

The score of a tree is that of its arcs, of the stars of its heads (`kernels.head_stars.scoring.score_head`) and of
factors over any arcs. Giving m another head changes the stars of the old head, of the new one and of m alone, so that
a sweep over all candidate arcs is cheap.

Oracle: tests/test_climbing.py scores every tree and every neighbour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.head_stars.scoring import score_head

ENOUGH = 1e-6  #: a smaller gain may be rounding


class Factors(NamedTuple):
    """Products over any arcs: int32[F, r] arcs (then NONE), float64[F] scores; and which of them an arc belongs to.

    first, factor  int64[A + 1], int64[*]: factors of arc a are factor[first[a] : first[a + 1]]
    """

    arcs: np.ndarray
    score: np.ndarray
    first: np.ndarray
    factor: np.ndarray


class Tree(NamedTuple):
    """The tree at which the climb stands.

    into   int32[n + 1]  the arc into each word, NONE at 0
    z      int8[A]       its arcs
    value  float64[n + 1]  scores of its stars
    taken  int32[n + 1]  scratch
    """

    into: np.ndarray
    z: np.ndarray
    value: np.ndarray
    taken: np.ndarray


def factors_of(arcs: np.ndarray, score: np.ndarray, A: int) -> Factors:
    """Factors of int32[F, r] arcs among A, NONE where there are fewer than r."""
    factor, place = np.nonzero(arcs >= 0)
    arc = arcs[factor, place]
    order = np.argsort(arc, kind="stable")
    return Factors(arcs, score, np.searchsorted(arc[order], np.arange(A + 1)), factor[order])


@njit(cache=True, nogil=True)
def climb_heads(index, parts, tables, theta, factors, arcs):
    """(score, arcs int32[n]) of a tree no neighbour of which scores more; begins at the tree `arcs`.

    A neighbour has another head for one word; where parts.single_root, also another root that the old one hangs below.
    tables  StarTables of all families at one head
    theta   float64[>= A] scores of arcs
    Every sweep takes, word by word, the best of its arcs. O(A d^2) a sweep, d the largest number of modifiers.
    """
    n = len(index.right) - 1
    tree = Tree(np.full(n + 1, NONE, np.int32), np.zeros(len(index.head), np.int8), np.zeros(n + 1), arcs.copy())
    total = 0.0
    for a in arcs:
        tree.into[index.mod[a]] = a
    for a in arcs:
        total += _put(index, theta, factors, tree, a)
    for h in range(n + 1):
        tree.value[h] = score_head(index, parts, tables, tree.z, tree.into, tree.taken, h)
        total += tree.value[h]
    better = True
    while better:
        better = False
        for m in range(1, n + 1):
            best, one, two = ENOUGH, NONE, NONE
            for i in range(index.into_start[m], index.into_start[m + 1]):
                b = index.into[i]
                if b == tree.into[m] or _below(index, tree.into, index.head[b], m):
                    continue
                if not parts.single_root or index.head[b] != 0:
                    gain = _gain(index, parts, tables, theta, factors, tree, b, NONE)
                    if gain > best:
                        best, one, two = gain, b, NONE
                elif index.head[b] == 0:  # m becomes the root: what takes the old one?
                    root = _root(index, tree.z)
                    for j in range(index.into_start[root], index.into_start[root + 1]):
                        c = index.into[j]
                        if index.head[c] == 0 or not _below(index, tree.into, index.head[c], m):
                            continue
                        gain = _gain(index, parts, tables, theta, factors, tree, b, c)
                        if gain > best:
                            best, one, two = gain, b, c
            if one == NONE:
                continue
            better = True
            total += best
            _put(index, theta, factors, tree, one)
            if two != NONE:
                _put(index, theta, factors, tree, two)
            for h in range(n + 1):
                tree.value[h] = score_head(index, parts, tables, tree.z, tree.into, tree.taken, h)
    return total, tree.into[1:].copy()


@njit(cache=True, nogil=True)
def _below(index, into, u, m):
    """Whether u is m or hangs below it."""
    while u != 0 and u != m:
        u = index.head[into[u]]
    return u == m


@njit(cache=True, nogil=True)
def _root(index, z):
    """The first word that hangs below 0."""
    for a in range(index.start[0], index.start[1]):
        if z[a] == 1:
            return index.mod[a]
    return 0


@njit(cache=True, nogil=True)
def _fired(factors, z, a):
    """Score of the factors of arc a whose other arcs are all selected."""
    score = 0.0
    for i in range(factors.first[a], factors.first[a + 1]):
        f = factors.factor[i]
        every = True
        for c in factors.arcs[f]:
            every = every and (c < 0 or c == a or z[c] == 1)
        if every:
            score += factors.score[f]
    return score


@njit(cache=True, nogil=True)
def _put(index, theta, factors, tree, b):
    """Select arc b instead of the one into its word; change of the score without stars."""
    m = index.mod[b]
    a = tree.into[m]
    gain = 0.0
    if tree.z[a] == 1:
        gain -= theta[a] + _fired(factors, tree.z, a)
        tree.z[a] = 0
    gain += theta[b] + _fired(factors, tree.z, b)
    tree.z[b] = 1
    tree.into[m] = b
    return gain


@njit(cache=True, nogil=True)
def _gain(index, parts, tables, theta, factors, tree, b, c):
    """What arc b, and c unless it is NONE, add to the score in the place of the arcs into their words."""
    h, g, m = index.head[tree.into[index.mod[b]]], index.head[b], index.mod[b]
    one = tree.into[m]
    gain = _put(index, theta, factors, tree, b)
    two, p, r = NONE, m, m
    if c != NONE:
        p, r = index.head[c], index.mod[c]  # r leaves 0, which is g
        two = tree.into[r]
        gain += _put(index, theta, factors, tree, c)
    touched = (h, g, m, p, r)
    for i in range(5):
        new = True
        for j in range(i):
            new = new and touched[j] != touched[i]
        if new:
            x = touched[i]
            gain += score_head(index, parts, tables, tree.z, tree.into, tree.taken, x) - tree.value[x]
    tree.z[b], tree.z[one], tree.into[m] = 0, 1, one
    if c != NONE:
        tree.z[c], tree.z[two], tree.into[r] = 0, 1, two
    return gain
