"""Parts beyond second order, parts over the heads of two neighbouring words, and valency parts.

Every function here that lists a family writes the parts to the arrays arcs int32[F, r] and words int32[F, 4], and
returns the number of parts. The number of parts of some families has no formula. The function of such a family only
counts the parts, and writes nothing, if both arrays have no rows. The docstring of each function gives the row of
`words` for one part. Parts are ordered as docs/architecture.md describes. Oracle: `parts` of tests/strategies.py.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import LONGEST_COMB, NONE, SHORTEST_COMB
from treebound.support.jit import kernel


@kernel(inline="always")
def _cross(head, mod, a, b):
    """Return whether arcs a and b cross when drawn above the words, with the root at position 0."""
    low_a, high_a = min(head[a], mod[a]), max(head[a], mod[a])
    low_b, high_b = min(head[b], mod[b]), max(head[b], mod[b])
    return (low_a < low_b and low_b < high_a and high_a < high_b) or (
        low_b < low_a and low_a < high_b and high_b < high_a
    )


@kernel(inline="always")
def _write(words, p, w0, w1, w2, w3):
    words[p, 0], words[p, 1], words[p, 2], words[p, 3] = w0, w1, w2, w3


@kernel
def head_bigrams(index, parts, arcs, words):
    """List pairs of compatible arcs into two neighbouring words; their words are (p, l, h, m). O(F).

    Word m follows word l; the arcs are p -> l and h -> m.
    """
    head, mod, into, into_start = index.head, index.mod, index.into, index.into_start
    p = 0
    for m in range(1, len(index.right) - 1):
        for i in range(into_start[m], into_start[m + 1]):
            b1 = into[i]
            for j in range(into_start[m + 1], into_start[m + 2]):
                b2 = into[j]
                if parts.single_root and head[b1] == 0 and head[b2] == 0:
                    continue
                if head[b1] == m + 1 and head[b2] == m:
                    continue
                if parts.projective and _cross(head, mod, b1, b2):
                    continue
                if len(words) > 0:
                    arcs[p, 0], arcs[p, 1] = b1, b2
                    _write(words, p, head[b1], m, head[b2], m + 1)
                p += 1
    return p


@kernel
def great_grandchildren(index, parts, arcs, words):
    """List chains of arcs a -> g -> h -> m; their words are (a, g, h, m). O(grandchild parts * arcs of a word)."""
    head, mod = index.head, index.mod
    p = 0
    for a1 in range(len(head)):
        a, g = head[a1], mod[a1]
        for side in range(2):
            first = index.start[g] if side == 0 else index.right[g]
            for a2 in range(first, first + parts.below[a1, side]):
                h = mod[a2]
                for half in range(2):
                    begin = index.start[h] if half == 0 else index.right[h]
                    for a3 in range(begin, begin + parts.below[a2, half]):
                        if mod[a3] == a or (parts.projective and _cross(head, mod, a1, a3)):
                            continue
                        if len(words) > 0:
                            arcs[p, 0], arcs[p, 1], arcs[p, 2] = a1, a2, a3
                            _write(words, p, a, g, h, mod[a3])
                        p += 1
    return p


@kernel
def tri_siblings(index, parts, arcs, words):
    """List sets of three modifiers x < y < z of one head h; their words are (h, x, y, z). O(F)."""
    mod, start = index.mod, index.start
    p = 0
    for h in range(1, len(index.right)):
        for i in range(start[h], start[h + 1]):
            for j in range(i + 1, start[h + 1]):
                for k in range(j + 1, start[h + 1]):
                    arcs[p, 0], arcs[p, 1], arcs[p, 2] = i, j, k
                    x, y, z = mod[i], mod[j], mod[k]
                    _write(words, p, h, min(x, y, z), max(min(x, y), min(max(x, y), z)), max(x, y, z))
                    p += 1
    return p


@kernel
def combs(index, parts, arcs, words):
    """List runs of consecutive modifiers on one side of a head h. O(arcs).

    The words of a run are (h, modifier nearest to h, modifier farthest from h, NONE).
    """
    mod = index.mod
    p = 0
    for h in range(1, len(index.right)):
        for side in range(2):
            first = index.start[h] if side == 0 else index.right[h]
            last = index.right[h] if side == 0 else index.start[h + 1]
            for i in range(first, last):
                for size in range(SHORTEST_COMB, LONGEST_COMB + 1):
                    j = i + size - 1
                    if j >= last or abs(mod[j] - mod[i]) != size - 1:
                        break
                    if len(words) > 0:
                        for c in range(LONGEST_COMB):
                            arcs[p, c] = i + c if c < size else NONE
                        _write(words, p, h, mod[i], mod[j], NONE)
                    p += 1
    return p


@kernel
def grand_siblings(index, parts, arcs, words):
    """List arcs (g, h), each with an adjacent-sibling part of h; their words are (g, h, s or NONE, m). O(F)."""
    head, mod = index.head, index.mod
    p = 0
    for a in range(len(head)):
        g, h = head[a], mod[a]
        for side in range(2):
            first = index.start[h] if side == 0 else index.right[h]
            for b in range(first, first + parts.below[a, side]):
                for s in range(first - 1, b):  # first - 1 stands for NONE
                    arcs[p, 0], arcs[p, 1], arcs[p, 2] = a, s if s >= first else NONE, b
                    _write(words, p, g, h, mod[s] if s >= first else NONE, mod[b])
                    p += 1
    return p


@kernel
def valencies(index, parts, arcs, words):
    """List the possible numbers of modifiers of each word h; their words are (h, count, NONE, NONE). O(F).

    A row of `arcs` contains (h, count) instead of arc numbers.
    """
    p = 0
    for h in range(1, len(index.right)):
        for c in range(parts.valency[h + 1] - parts.valency[h]):
            arcs[p, 0], arcs[p, 1] = h, c
            _write(words, p, h, c, NONE, NONE)
            p += 1
    return p


@kernel(inline="always")
def grand_sibling_rank(index, parts, a, s, b):
    """Return the rank of (a, s or NONE, b) among the grand-sibling parts of arc a. O(1)."""
    h = index.mod[a]
    if b < index.right[h]:
        offset, first = 0, index.start[h]
    else:
        offset, first = parts.below[a, 0] * (parts.below[a, 0] + 1) // 2, index.right[h]
    return offset + (b - first) * (b - first + 1) // 2 + (0 if s == NONE else 1 + s - first)


@kernel
def products_of_tree(arcs, arc_into, size):
    """Return int32[*]: the numbers of the parts whose arcs are all in a tree. O(F).

    - `arcs`: int32[F, r]. The arcs of each part, padded with NONE.
    - `arc_into`: the result of `arcs_of_tree`.
    - `size`: number of candidate arcs.
    """
    selected = np.zeros(size + 1, np.bool_)
    selected[arc_into] = True
    selected[size] = True  # the entry that the index NONE = -1 reads
    out = np.empty(len(arcs), np.int32)
    c = 0
    for p in range(len(arcs)):
        complete = True
        for i in range(arcs.shape[1]):
            if not selected[arcs[p, i]]:
                complete = False
                break
        if complete:
            out[c] = p
            c += 1
    return out[:c].copy()
