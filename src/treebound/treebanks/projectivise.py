"""Tests for crossing arcs, and projectivisation of trees.

Every function takes int32[n + 1] heads with heads[0] = -1. Words without a head (-1) are ignored. An arc (h, m) spans
the words between h and m. Two arcs cross if each has exactly one end strictly inside the span of the other.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel


@kernel
def crossing(heads):
    """Return bool[n + 1]: whether the arc into each word crosses another arc. Time O(n^2)."""
    n = heads.shape[0] - 1
    out = np.zeros(n + 1, np.bool_)
    for a in range(1, n + 1):
        if heads[a] < 0:
            continue
        left, right = min(a, heads[a]), max(a, heads[a])
        for b in range(1, a):
            if heads[b] < 0:
                continue
            l2, r2 = min(b, heads[b]), max(b, heads[b])
            if left < l2 < right < r2 or l2 < left < r2 < right:
                out[a] = True
                out[b] = True
    return out


@kernel
def is_projective(heads):
    """Return whether no two arcs cross, including the arcs of the root. Time O(n^2)."""
    return not crossing(heads).any()


def in_space(heads: np.ndarray, projective: bool, single_root: bool) -> bool:
    """Return whether a tree satisfies the conditions `projective` and `single_root`, if they are set. Time O(n^2)."""
    return (not single_root or np.count_nonzero(heads[1:] == 0) == 1) and (not projective or bool(is_projective(heads)))


@kernel
def _dominates(heads, h, w):
    """Return whether word w is h or a descendant of h."""
    while w > 0 and w != h:
        w = heads[w]
    return w == h


@kernel
def projectivise(heads):
    """Projectivise a tree: repeatedly attach the modifier of the shortest non-projective arc to its head's head.

    Source: Nivre & Nilsson (2005), section 3. An arc (h, m) is non-projective if h does not dominate every word between
    h and m. Among arcs of equal length, the arc with the leftmost modifier is lifted first. Arcs of the root, and of
    the root's only dependent, are projective, so that a tree with a single root keeps its single root.

    `heads` must be a tree. Returns the heads of a projective tree, int32[n + 1], and the number of lifts.
    Time O(lifts n^2 depth).
    """
    out = heads.copy()
    n = heads.shape[0] - 1
    lifts = 0
    while True:
        best = 0
        shortest = n + 1
        for m in range(1, n + 1):
            h = out[m]
            length = abs(h - m)
            if length >= shortest:
                continue
            for w in range(min(h, m) + 1, max(h, m)):
                if not _dominates(out, h, w):
                    best = m
                    shortest = length
                    break
        if best == 0:
            return out, lifts
        out[best] = out[out[best]]
        lifts += 1
