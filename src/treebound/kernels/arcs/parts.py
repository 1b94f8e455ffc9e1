"""Parts of each factor family: how many, which arcs, which words; and which of them a tree selects.

Part order is the one of docs/architecture.md; pointers are arithmetic on the arc order, nothing is searched or hashed.
The codes are those of `treebound.factors`. Families beyond second order are listed by `kernels.arcs.wide_parts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import MAX_COUNT, NONE, NONE_OUTER
from treebound.kernels.arcs.wide_parts import (
    combs,
    grand_sibling_rank,
    grand_siblings,
    great_grandchildren,
    head_bigrams,
    products_of_tree,
    tri_siblings,
    valencies,
)
from treebound.support.jit import kernel

ARC, ADJACENT_SIBLING, OUTERMOST_GRANDCHILD, GRANDCHILD, SIBLING = range(5)
HEAD_BIGRAM, GREAT_GRANDCHILD, TRI_SIBLING, COMB, GRAND_SIBLING, VALENCY, PATTERN = range(5, 12)
#: families that the usual models have: what lists others is compiled for those who list them
USUAL = (ARC, ADJACENT_SIBLING, OUTERMOST_GRANDCHILD, GRANDCHILD, SIBLING, COMB, PATTERN)
#: columns of `PartTable.arcs`, by code
WIDTH = (1, 2, 2, 2, 2, 2, 3, 3, 8, 3, 2, 6)


class PartIndex(NamedTuple):
    """Where the parts of an arc or of a head begin.

    below    int32[A, 2]  how many arcs of m, to its left and right, can hang below arc (h, m): those that do not cross
             it, or all of them where trees may be non-projective (an arc back to h included, so that ranks are
             arithmetic; a part with it never fires)
    adjacent, outermost, grandchild, grand_sibling  int64[A + 1]  first part of each arc
    sibling, tri_sibling, valency                   int64[n + 2]  first part of each head
    single_root, projective  the trees that the parts are for
    """

    below: np.ndarray
    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    grand_sibling: np.ndarray
    sibling: np.ndarray
    tri_sibling: np.ndarray
    valency: np.ndarray
    single_root: bool
    projective: bool


@kernel
def index_parts(index, single_root, projective=True):
    """PartIndex. O(arcs * modifiers)."""
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    n = len(right) - 1
    below = np.empty((A, 2), np.int32)
    adjacent = np.zeros(A + 1, np.int64)
    outermost = np.zeros(A + 1, np.int64)
    grandchild = np.zeros(A + 1, np.int64)
    grand_sibling = np.zeros(A + 1, np.int64)
    sibling = np.zeros(n + 2, np.int64)
    tri_sibling = np.zeros(n + 2, np.int64)
    valency = np.zeros(n + 2, np.int64)
    for a in range(A):
        h, m = head[a], mod[a]
        left = right[m] - start[m]
        rest = start[m + 1] - right[m]
        if projective and h < m:
            left = 0
            while start[m] + left < right[m] and mod[start[m] + left] > h:
                left += 1
        elif projective:
            rest = 0
            while right[m] + rest < start[m + 1] and mod[right[m] + rest] < h:
                rest += 1
        below[a, 0], below[a, 1] = left, rest
        grandchild[a + 1] = grandchild[a] + left + rest
        outermost[a + 1] = outermost[a] + left + rest + 2
        grand_sibling[a + 1] = grand_sibling[a] + (left * (left + 1) + rest * (rest + 1)) // 2
        if h == 0 and single_root:
            adjacent[a + 1] = adjacent[a]
        else:
            first = right[h] if m > h else start[h]
            adjacent[a + 1] = adjacent[a] + 1 + a - first
    for h in range(n + 1):
        k = start[h + 1] - start[h] if h > 0 else 0
        sibling[h + 1] = sibling[h] + k * (k - 1) // 2
        tri_sibling[h + 1] = tri_sibling[h] + k * (k - 1) * (k - 2) // 6
        valency[h + 1] = valency[h] + (min(k, MAX_COUNT) + 1 if h > 0 else 0)
    return PartIndex(
        below,
        adjacent,
        outermost,
        grandchild,
        grand_sibling,
        sibling,
        tri_sibling,
        valency,
        bool(single_root),
        bool(projective),
    )


@kernel
def count_parts(code, index, parts):
    """Number of parts of a family. O(1), but for those that are counted by listing: see `kernels.arcs.wide_parts`.

    The parts of PATTERN depend on the words, not on the arcs alone: none are counted, or listed, here.
    """
    A = len(index.head)
    none = np.empty((0, 8), np.int32)
    if code == HEAD_BIGRAM:
        return head_bigrams(index, parts, none, none)
    if code == GREAT_GRANDCHILD:
        return great_grandchildren(index, parts, none, none)
    if code == TRI_SIBLING:
        return parts.tri_sibling[len(index.right)]
    if code == GRAND_SIBLING:
        return parts.grand_sibling[A]
    if code == VALENCY:
        return parts.valency[len(index.right)]
    return count_usual_parts(code, index, parts)


@kernel
def count_usual_parts(code, index, parts):
    """As `count_parts`, of a family in USUAL."""
    A = len(index.head)
    none = np.empty((0, 8), np.int32)
    if code == ADJACENT_SIBLING:
        return parts.adjacent[A]
    if code == OUTERMOST_GRANDCHILD:
        return parts.outermost[A]
    if code == GRANDCHILD:
        return parts.grandchild[A]
    if code == SIBLING:
        return parts.sibling[len(index.right)]
    if code == COMB:
        return combs(index, parts, none, none)
    return A if code == ARC else 0


@kernel
def list_parts(code, index, parts):
    """(arcs int32[F, r], words int32[F, 4]) of a family, as `fill_parts` writes them. O(F)."""
    F = count_parts(code, index, parts)
    arcs = np.empty((F, WIDTH[code]), np.int32)
    words = np.empty((F, 4), np.int32)
    fill_parts(code, index, parts, arcs, words)
    return arcs, words


@kernel
def fill_parts(code, index, parts, arcs, words):
    """Write the parts of a family: arcs int32[F, r] as in `PartTable`, words int32[F, 4], NONE in empty slots. O(F).

    Words: (h, s, m) for siblings - s nearer to h for adjacent ones, s left of m for all pairs - and (g, h, m) for
    grandchildren, m NONE / NONE_OUTER where there is none; those of the other families are described where they are
    listed.
    """
    if code == HEAD_BIGRAM:
        head_bigrams(index, parts, arcs, words)
    elif code == GREAT_GRANDCHILD:
        great_grandchildren(index, parts, arcs, words)
    elif code == TRI_SIBLING:
        tri_siblings(index, parts, arcs, words)
    elif code == GRAND_SIBLING:
        grand_siblings(index, parts, arcs, words)
    elif code == VALENCY:
        valencies(index, parts, arcs, words)
    else:
        fill_usual_parts(code, index, parts, arcs, words)


@kernel
def fill_usual_parts(code, index, parts, arcs, words):
    """As `fill_parts`, for a family in USUAL."""
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    p = 0
    if code == ADJACENT_SIBLING:
        for b in range(A):
            if parts.adjacent[b + 1] == parts.adjacent[b]:
                continue
            h, m = head[b], mod[b]
            arcs[p, 0], arcs[p, 1] = NONE, b
            words[p, 0], words[p, 1], words[p, 2], words[p, 3] = h, NONE, m, NONE
            p += 1
            for s in range(right[h] if m > h else start[h], b):
                arcs[p, 0], arcs[p, 1] = s, b
                words[p, 0], words[p, 1], words[p, 2], words[p, 3] = h, mod[s], m, NONE
                p += 1
    elif code in (OUTERMOST_GRANDCHILD, GRANDCHILD):
        for a in range(A):
            g, h = head[a], mod[a]
            if code == OUTERMOST_GRANDCHILD:
                for none in (NONE, NONE_OUTER):
                    arcs[p, 0], arcs[p, 1] = a, none
                    words[p, 0], words[p, 1], words[p, 2], words[p, 3] = g, h, none, NONE
                    p += 1
            for side in range(2):
                first = start[h] if side == 0 else right[h]
                for c in range(first, first + parts.below[a, side]):
                    arcs[p, 0], arcs[p, 1] = a, c
                    words[p, 0], words[p, 1], words[p, 2], words[p, 3] = g, h, mod[c], NONE
                    p += 1
    elif code == SIBLING:
        for h in range(1, len(right)):
            for i in range(start[h], start[h + 1]):
                for j in range(i + 1, start[h + 1]):
                    arcs[p, 0], arcs[p, 1] = i, j
                    x, y = min(mod[i], mod[j]), max(mod[i], mod[j])
                    words[p, 0], words[p, 1], words[p, 2], words[p, 3] = h, x, y, NONE
                    p += 1
    elif code == COMB:
        combs(index, parts, arcs, words)
    elif code == ARC:
        for a in range(A):
            arcs[a, 0] = a
            words[a, 0], words[a, 1], words[a, 2], words[a, 3] = head[a], mod[a], NONE, NONE


@kernel
def below_rank(index, parts, a, c):
    """Rank of arc c = (m, g) among the arcs that can hang below a = (h, m), or -1. O(1)."""
    m = index.mod[a]
    if c < index.right[m]:
        r = c - index.start[m]
        return r if r < parts.below[a, 0] else -1
    r = c - index.right[m]
    return parts.below[a, 0] + r if r < parts.below[a, 1] else -1


@kernel
def sibling_rank(index, i, j):
    """Rank of the pair i < j of arcs of one head among that head's sibling parts. O(1)."""
    h = index.head[i]
    k = index.start[h + 1] - index.start[h]
    x = i - index.start[h]
    y = j - index.start[h]
    return x * (2 * k - x - 1) // 2 + y - x - 1


@kernel
def _modifiers(index, arc_into):
    """(first int32[n + 2], arcs int32[n], pairs) of a tree: arcs out of h, ascending by modifier, are arcs[first[h] :
    first[h + 1]]; pairs of arcs with one head are so many. O(n).
    """
    n = len(arc_into)
    first = np.zeros(n + 2, np.int32)
    for m in range(1, n + 1):
        first[index.head[arc_into[m - 1]] + 1] += 1
    pairs = 0
    for h in range(n + 1):
        pairs += first[h + 1] * (first[h + 1] - 1) // 2
        first[h + 1] += first[h]
    arcs = np.empty(n, np.int32)
    fill = first[: n + 1].copy()
    for m in range(1, n + 1):
        h = index.head[arc_into[m - 1]]
        arcs[fill[h]] = arc_into[m - 1]
        fill[h] += 1
    return first, arcs, pairs


@kernel
def parts_of_tree(code, index, parts, arc_into):
    """int32[*]: the parts of a family that a tree selects; arc_into as of `arcs_of_tree`.

    O(n d) by arithmetic; for the products beyond pairs of one head or chain O(F): see `products_of_tree`.
    """
    if code in (HEAD_BIGRAM, GREAT_GRANDCHILD, TRI_SIBLING, COMB):
        return products_of_tree(list_parts(code, index, parts)[0], arc_into, len(index.head))
    n = len(arc_into)
    head, mod = index.head, index.mod
    first, children, pairs = _modifiers(index, arc_into)
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
        if code in (ADJACENT_SIBLING, GRAND_SIBLING):
            if parts.adjacent[index.start[h + 1]] == parts.adjacent[index.start[h]]:
                continue
            if code == GRAND_SIBLING and h == 0:
                continue
            for i in range(lo, hi):
                b = children[i]
                if i < split:
                    s = children[i + 1] if i + 1 < split else NONE
                    side = index.start[h]
                else:
                    s = children[i - 1] if i > split else NONE
                    side = index.right[h]
                if code == ADJACENT_SIBLING:
                    out[c] = parts.adjacent[b] + (0 if s == NONE else 1 + s - side)
                else:
                    a = arc_into[h - 1]
                    out[c] = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, s, b)
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
            if code == VALENCY:
                largest = parts.valency[h + 1] - parts.valency[h] - 1
                out[c] = parts.valency[h] + min(hi - lo, largest)
                c += 1
            elif code == GRANDCHILD:
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
