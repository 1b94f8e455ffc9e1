"""Parts of each factor family: their number, their arcs, their words, and the parts that a tree selects.

Parts are ordered as docs/architecture.md describes. The number of a part is computed from the numbers of its arcs,
without searching or hashing. Family codes are the codes of `treebound.factors`. Families beyond second order are listed
by `kernels.arcs.wide_parts`.
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
#: families of the usual models; kernels that list other families are compiled only if a model uses them
USUAL = (ARC, ADJACENT_SIBLING, OUTERMOST_GRANDCHILD, GRANDCHILD, SIBLING, COMB, PATTERN)
#: number of columns of `PartTable.arcs`, by family code
WIDTH = (1, 2, 2, 2, 2, 2, 3, 3, 8, 3, 2, 6)


class PartIndex(NamedTuple):
    """The first part of each arc or head, by family.

    - `below`: int32[A, 2]. The number of arcs of m, to its left and to its right, that can be combined with arc (h, m).
      In projective trees, these are the arcs that do not cross (h, m). In non-projective trees, these are all arcs of
      m. They include an arc back to h, so that ranks can be computed; no tree has a part with that arc.
    - `adjacent`, `outermost`, `grandchild`, `grand_sibling`: int64[A + 1]. The first part of each arc.
    - `sibling`, `tri_sibling`, `valency`: int64[n + 2]. The first part of each head.
    - `single_root`, `projective`: the set of trees for which parts are numbered.
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
    """Build the PartIndex of an ArcIndex. O(arcs * modifiers)."""
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
        left_count = right[m] - start[m]
        right_count = start[m + 1] - right[m]
        if projective and h < m:
            left_count = 0
            while start[m] + left_count < right[m] and mod[start[m] + left_count] > h:
                left_count += 1
        elif projective:
            right_count = 0
            while right[m] + right_count < start[m + 1] and mod[right[m] + right_count] < h:
                right_count += 1
        below[a, 0], below[a, 1] = left_count, right_count
        grandchild[a + 1] = grandchild[a] + left_count + right_count
        outermost[a + 1] = outermost[a] + left_count + right_count + 2
        grand_sibling[a + 1] = grand_sibling[a] + (left_count * (left_count + 1) + right_count * (right_count + 1)) // 2
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
    """Return the number of parts of a family.

    O(1), except for families whose parts are counted by listing them; see `kernels.arcs.wide_parts`. The result for
    PATTERN is 0, because its parts depend on the words and are listed elsewhere.
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
    """Return the number of parts of a family in USUAL, like `count_parts`."""
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
    """Return (arcs int32[F, r], words int32[F, 4]) of all parts of a family, as written by `fill_parts`. O(F)."""
    F = count_parts(code, index, parts)
    arcs = np.empty((F, WIDTH[code]), np.int32)
    words = np.empty((F, 4), np.int32)
    fill_parts(code, index, parts, arcs, words)
    return arcs, words


@kernel
def fill_parts(code, index, parts, arcs, words):
    """Write the parts of a family: arcs int32[F, r] as in `PartTable`, and words int32[F, 4]. O(F).

    Empty slots are NONE. The words of siblings are (h, s, m): for adjacent siblings, s is nearer to h, and for all
    pairs, s is left of m. The words of grandchildren are (g, h, m); m is NONE or NONE_OUTER if there is no grandchild.
    The functions that list the other families describe their words.
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
    """Write the parts of a family in USUAL, like `fill_parts`."""
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
    """Return the rank of arc c = (m, g) among the arcs that can be combined with a = (h, m), or -1. O(1)."""
    m = index.mod[a]
    if c < index.right[m]:
        r = c - index.start[m]
        return r if r < parts.below[a, 0] else -1
    r = c - index.right[m]
    return parts.below[a, 0] + r if r < parts.below[a, 1] else -1


@kernel
def sibling_rank(index, i, j):
    """Return the rank of the pair i < j of arcs of one head among the sibling parts of this head. O(1)."""
    h = index.head[i]
    k = index.start[h + 1] - index.start[h]
    x = i - index.start[h]
    y = j - index.start[h]
    return x * (2 * k - x - 1) // 2 + y - x - 1


@kernel
def _modifiers(index, arc_into):
    """Return (first int32[n + 2], arcs int32[n], number of pairs of arcs with the same head) of a tree. O(n).

    The arcs out of head h, by ascending modifier, are arcs[first[h] : first[h + 1]].
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
    """Return int32[*]: the parts of a family that a tree selects; `arc_into` is the result of `arcs_of_tree`.

    O(n d), where d is the number of modifiers of a head. O(F) for the families that `products_of_tree` handles.
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
