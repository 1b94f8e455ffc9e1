"""Candidate arcs in canonical order, with the index arrays that all other kernels use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel


class ArcIndex(NamedTuple):
    """Arcs sorted by head; within a head, left modifiers near to far, then right modifiers near to far.

    - `head`, `mod`: int32[A].
    - `start`: int32[n + 2]. The arcs of head h are start[h] .. start[h + 1] - 1.
    - `right`: int32[n + 1]. The first arc of h to a modifier on its right.
    - `into`: int32[A]. Arcs grouped by modifier, heads ascending.
    - `into_start`: int32[n + 2]. The arcs into m are into[into_start[m] : into_start[m + 1]].
    """

    head: np.ndarray
    mod: np.ndarray
    start: np.ndarray
    right: np.ndarray
    into: np.ndarray
    into_start: np.ndarray


@kernel
def index_arcs(n, allowed):
    """Return the ArcIndex of all arcs with allowed[h, m] (bool[n + 1, n + 1]). O(n^2)."""
    count = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and allowed[h, m]:
                count += 1
    head = np.empty(count, np.int32)
    mod = np.empty(count, np.int32)
    start = np.empty(n + 2, np.int32)
    right = np.empty(n + 1, np.int32)
    into_start = np.zeros(n + 2, np.int32)
    a = 0
    for h in range(n + 1):
        start[h] = a
        for m in range(h - 1, 0, -1):
            if allowed[h, m]:
                head[a] = h
                mod[a] = m
                into_start[m + 1] += 1
                a += 1
        right[h] = a
        for m in range(h + 1, n + 1):
            if allowed[h, m]:
                head[a] = h
                mod[a] = m
                into_start[m + 1] += 1
                a += 1
    start[n + 1] = a
    for m in range(n + 1):
        into_start[m + 1] += into_start[m]
    into = np.empty(count, np.int32)
    fill = into_start[: n + 1].copy()
    for a in range(count):
        m = mod[a]
        into[fill[m]] = a
        fill[m] += 1
    return ArcIndex(head, mod, start, right, into, into_start)


@kernel
def arcs_of_tree(index, heads):
    """Return int32[n]: the arc into each word of a tree, or -1 if the tree's arc is not a candidate. O(arcs)."""
    n = len(heads) - 1
    out = np.full(n, -1, np.int32)
    for m in range(1, n + 1):
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if index.head[index.into[i]] == heads[m]:
                out[m - 1] = index.into[i]
    return out


def heads_of(index: ArcIndex, arcs: np.ndarray) -> np.ndarray:
    """Return int32[n + 1]: the heads of the tree made of `arcs`, or 0 for all words if there are no arcs."""
    heads = np.zeros(len(index.right), np.int32)
    heads[0] = -1
    heads[index.mod[arcs]] = index.head[arcs]
    return heads
