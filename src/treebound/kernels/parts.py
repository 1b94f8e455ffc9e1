"""Parts of each factor family: how many, which arcs, which words; and which of them a tree selects.

Part order is the one of docs/architecture.md; pointers are arithmetic on the arc order, nothing is searched or hashed.
The codes are those of `treebound.factors`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

ARC, ADJACENT_SIBLING, OUTERMOST_GRANDCHILD, GRANDCHILD, SIBLING = range(5)
NONE, NONE_OUTER = -1, -2


class PartIndex(NamedTuple):
    """Where the parts of an arc begin.

    below    int32[A, 2]  how many arcs of m, to its left and right, can hang below arc (h, m) in a projective tree
    adjacent, outermost, grandchild  int32[A + 1]  first part of each arc
    sibling  int32[n + 2] first part of each head
    """

    below: np.ndarray
    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    sibling: np.ndarray


@njit(cache=True, nogil=True)
def index_parts(index, single_root):
    """PartIndex. O(arcs * modifiers)."""
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    n = len(right) - 1
    below = np.empty((A, 2), np.int32)
    adjacent = np.zeros(A + 1, np.int32)
    outermost = np.zeros(A + 1, np.int32)
    grandchild = np.zeros(A + 1, np.int32)
    sibling = np.zeros(n + 2, np.int32)
    for a in range(A):
        h, m = head[a], mod[a]
        left = right[m] - start[m]
        rest = start[m + 1] - right[m]
        if h < m:
            left = 0
            while start[m] + left < right[m] and mod[start[m] + left] > h:
                left += 1
        else:
            rest = 0
            while right[m] + rest < start[m + 1] and mod[right[m] + rest] < h:
                rest += 1
        below[a, 0], below[a, 1] = left, rest
        grandchild[a + 1] = grandchild[a] + left + rest
        outermost[a + 1] = outermost[a] + left + rest + 2
        if h == 0 and single_root:
            adjacent[a + 1] = adjacent[a]
        else:
            first = right[h] if m > h else start[h]
            adjacent[a + 1] = adjacent[a] + 1 + a - first
    for h in range(n + 1):
        k = start[h + 1] - start[h] if h > 0 else 0
        sibling[h + 1] = sibling[h] + k * (k - 1) // 2
    return PartIndex(below, adjacent, outermost, grandchild, sibling)


@njit(cache=True, nogil=True)
def count_parts(code, index, parts):
    """Number of parts of a family. O(1)."""
    A = len(index.head)
    if code == ADJACENT_SIBLING:
        return parts.adjacent[A]
    if code == OUTERMOST_GRANDCHILD:
        return parts.outermost[A]
    if code == GRANDCHILD:
        return parts.grandchild[A]
    if code == SIBLING:
        return parts.sibling[len(index.right)]
    return A


@njit(cache=True, nogil=True)
def list_parts(code, index, parts):
    """(arcs int32[F, 2], words int32[F, 3]) of a family; words are NONE / NONE_OUTER where a slot is empty.

    Word order: (h, s, m) for siblings - s nearer to h for adjacent ones, s left of m for all pairs - and (g, h, m) for
    grandchildren. O(F).
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    F = count_parts(code, index, parts)
    arcs = np.empty((F, 2), np.int32)
    words = np.empty((F, 3), np.int32)
    p = 0
    if code == ADJACENT_SIBLING:
        for b in range(A):
            if parts.adjacent[b + 1] == parts.adjacent[b]:
                continue
            h, m = head[b], mod[b]
            arcs[p, 0], arcs[p, 1] = NONE, b
            words[p, 0], words[p, 1], words[p, 2] = h, NONE, m
            p += 1
            for s in range(right[h] if m > h else start[h], b):
                arcs[p, 0], arcs[p, 1] = s, b
                words[p, 0], words[p, 1], words[p, 2] = h, mod[s], m
                p += 1
    elif code in (OUTERMOST_GRANDCHILD, GRANDCHILD):
        for a in range(A):
            g, h = head[a], mod[a]
            if code == OUTERMOST_GRANDCHILD:
                for none in (NONE, NONE_OUTER):
                    arcs[p, 0], arcs[p, 1] = a, none
                    words[p, 0], words[p, 1], words[p, 2] = g, h, none
                    p += 1
            for side in range(2):
                first = start[h] if side == 0 else right[h]
                for c in range(first, first + parts.below[a, side]):
                    arcs[p, 0], arcs[p, 1] = a, c
                    words[p, 0], words[p, 1], words[p, 2] = g, h, mod[c]
                    p += 1
    elif code == SIBLING:
        for h in range(1, len(right)):
            for i in range(start[h], start[h + 1]):
                for j in range(i + 1, start[h + 1]):
                    arcs[p, 0], arcs[p, 1] = i, j
                    words[p, 0], words[p, 1], words[p, 2] = h, min(mod[i], mod[j]), max(mod[i], mod[j])
                    p += 1
    return arcs, words


@njit(cache=True, nogil=True)
def below_rank(index, parts, a, c):
    """Rank of arc c = (m, g) among the arcs that can hang below a = (h, m), or -1. O(1)."""
    m = index.mod[a]
    if c < index.right[m]:
        r = c - index.start[m]
        return r if r < parts.below[a, 0] else -1
    r = c - index.right[m]
    return parts.below[a, 0] + r if r < parts.below[a, 1] else -1


@njit(cache=True, nogil=True)
def sibling_rank(index, i, j):
    """Rank of the pair i < j of arcs of one head among that head's sibling parts. O(1)."""
    h = index.head[i]
    k = index.start[h + 1] - index.start[h]
    x = i - index.start[h]
    y = j - index.start[h]
    return x * (2 * k - x - 1) // 2 + y - x - 1


@njit(cache=True, nogil=True)
def parts_of_tree(code, index, parts, arc_into):
    """int32[*]: the parts of a family that a projective tree selects; arc_into as of `arcs_of_tree`. O(n d)."""
    n = len(arc_into)
    head, mod = index.head, index.mod
    # modifiers of each head, ascending (0 .. n)
    first = np.zeros(n + 2, np.int32)
    for m in range(1, n + 1):
        first[head[arc_into[m - 1]] + 1] += 1
    for h in range(n + 1):
        first[h + 1] += first[h]
    children = np.empty(n, np.int32)
    fill = first[: n + 1].copy()
    pairs = 0
    for m in range(1, n + 1):
        h = head[arc_into[m - 1]]
        children[fill[h]] = arc_into[m - 1]
        fill[h] += 1
    for h in range(n + 1):
        k = first[h + 1] - first[h]
        pairs += k * (k - 1) // 2
    out = np.empty(2 * n + pairs, np.int32)
    c = 0
    if code == ARC:
        for m in range(n):
            out[c] = arc_into[m]
            c += 1
        return out[:c]
    for h in range(n + 1):
        lo, hi = first[h], first[h + 1]
        split = lo
        while split < hi and mod[children[split]] < h:
            split += 1
        if code == ADJACENT_SIBLING:
            if parts.adjacent[index.start[h + 1]] == parts.adjacent[index.start[h]]:
                continue
            for i in range(lo, hi):
                b = children[i]
                if i < split:
                    s = children[i + 1] if i + 1 < split else NONE
                    side = index.start[h]
                else:
                    s = children[i - 1] if i > split else NONE
                    side = index.right[h]
                out[c] = parts.adjacent[b] + (0 if s == NONE else 1 + s - side)
                c += 1
        elif code == SIBLING:
            if h == 0:
                continue
            for i in range(lo, hi):
                for j in range(i + 1, hi):
                    x, y = children[i], children[j]
                    if x > y:
                        x, y = y, x
                    out[c] = parts.sibling[h] + sibling_rank(index, x, y)
                    c += 1
        elif h > 0:
            a = arc_into[h - 1]
            if code == GRANDCHILD:
                for i in range(lo, hi):
                    out[c] = parts.grandchild[a] + below_rank(index, parts, a, children[i])
                    c += 1
            else:
                outer_left = head[a] > h
                none = NONE_OUTER if outer_left else NONE
                p = children[lo] if split > lo else none
                out[c] = parts.outermost[a] + (-p - 1 if p < 0 else 2 + below_rank(index, parts, a, p))
                c += 1
                none = NONE if outer_left else NONE_OUTER
                p = children[hi - 1] if hi > split else none
                out[c] = parts.outermost[a] + (-p - 1 if p < 0 else 2 + below_rank(index, parts, a, p))
                c += 1
    return out[:c]
