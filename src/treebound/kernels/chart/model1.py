"""Third-order projective dynamic programs of Koo & Collins (2010), on dense tables.

A g-span is a span of head h that knows h's own head g. It is represented by the arc a = (g, h), or by the number of
arcs A if h is the root, which has no head. Tables are indexed by arcs, so that pruned arcs cost nothing. With all arcs,
they are the (g, h, e), (g, h, m) and (h, s, m) tables of the paper. The end of a half span is a *gap*: gap j is the
position before word j. C(a, j) is h with all its descendants on one side, up to gap j: words j..h for j <= h, words
h..j - 1 for j > h. Two neighbouring halves meet in one gap j, so a split adds column j of two rows of C.

| table | recursion | scores |
|---|---|---|
| I(a, b), Model 0 | max over gaps j between h and m of C(a, j) + C(b, j) | grandchild(a, b), arc b |
| I(a, b), Model 1 | C(b, gap beside h), or max over s of I(a, s) + S(s, b) | also adjacent-sibling, grand-sibling |
| S(s, b), Model 1 | max over gaps j between s and m of C(s, j) + C(b, j) | |
| C(a, j) | max over modifiers b of h up to gap j of I(a, b) + C(b, j) | outermost-grandchild(a, b) (Model 1) |

Here b = (h, m) is an arc out of the head of a = (g, h), and s is an arc of h nearer than b. No back pointers are
stored. For the O(n) items of the best tree, the same functions compute the best choice a second time.

O(n^4) time and O(n^3) space; with k candidate heads per word, O(n^2 k^2) time and O(n k (n + k)) space. Reference: Koo
& Collins (2010), sections 4.1, 4.2. Oracle: enumeration, and the hypergraph backbones under branch and bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.parts import NONE, below_rank
from treebound.kernels.arcs.wide_parts import grand_sibling_rank
from treebound.kernels.chart.backbones import arcs_by_length, no_grandchild, pairs_by_length
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel

NOTHING = -1  #: no split, no modifier
COMPLETE, INCOMPLETE, SIBLINGS = range(3)  #: kinds of items C, I, S in the reconstruction


class Chart(NamedTuple):
    """Scores, tables and part numbers of a sentence.

    - `arc`, `grandchild`: float64[A], float64[G]. The scores of arcs and of grandchild parts.
    - `adjacent`, `outermost`, `grand_sibling`: float64, one score for every part of the family. Used by Model 1, empty
      in Model 0.
    - `complete`: float64[A + 1, n + 2]. C(a, j).
    - `incomplete`: float64[G + A]. I(a, b) at the number of grandchild part (a, b); I(A, b) at G + b.
    - `siblings`: float64[adjacent]. S(s, b) at the number of adjacent-sibling part (s, b).
    """

    arc: np.ndarray
    grandchild: np.ndarray
    adjacent: np.ndarray
    outermost: np.ndarray
    grand_sibling: np.ndarray
    complete: np.ndarray
    incomplete: np.ndarray
    siblings: np.ndarray


@kernel
def _best_gap(x, y, lo, hi):
    """Return (value, j) of the largest sum x[j] + y[j] of two rows of `Chart.complete` over gaps lo < j <= hi."""
    top = NEG_TEST
    arg = NOTHING
    for j in range(lo + 1, hi + 1):
        v = x[j] + y[j]
        if v > top:
            top = v
            arg = j
    return (top if arg >= 0 else NEG), arg


@kernel
def _side(index, parts, a, h, rightward):
    """Return (first arc of h on a side, number of arcs there that form parts with a, index of I(a, first arc))."""
    A = len(index.head)
    if a == A:
        return 0, index.start[1], parts.grandchild[A]  # the root: all modifiers to its right
    if rightward:
        return index.right[h], parts.below[a, 1], parts.grandchild[a] + parts.below[a, 0]
    return index.start[h], parts.below[a, 0], parts.grandchild[a]


@kernel
def _complete(index, parts, chart, a, j):
    """Return (value, b) of the half span C(a, j) of at least two words, where b is its last arc. O(k)."""
    A = len(index.head)
    h = index.mod[a] if a < A else 0
    b0, count, first_item = _side(index, parts, a, h, j > h)
    second = len(chart.outermost) > 0 and a < A
    below = parts.outermost[a] + 2 + (first_item - parts.grandchild[a]) if second else 0
    top = NEG_TEST
    arg = NOTHING
    for i in range(count):
        b = b0 + i
        if index.mod[b] >= j if j > h else index.mod[b] < j:
            break
        v = chart.incomplete[first_item + i] + chart.complete[b, j]
        if second:
            v += chart.outermost[below + i]
        if v > top:
            top = v
            arg = b
    return (top if arg >= 0 else NEG), arg


@kernel
def _meeting(index, chart, a, b):
    """Return (value, gap) of the span I(a, b) in Model 0, whose two half spans meet in the gap. O(n).

    The value leaves out the scores of grandchild part (a, b) and of arc b.
    """
    h, m = index.head[b], index.mod[b]
    return _best_gap(chart.complete[a], chart.complete[b], min(h, m), max(h, m))


@kernel
def _between(index, chart, s, b):
    """Return (value, gap) of the span S(s, b) between two modifiers, whose half spans meet in the gap. O(n)."""
    x, y = index.mod[s], index.mod[b]
    return _best_gap(chart.complete[s], chart.complete[b], min(x, y), max(x, y))


@kernel
def _next_sibling(index, parts, chart, a, b):
    """Return (value, s or NOTHING, gap of b's inner half) of I(a, b) in Model 1, without grandchild and arc scores.
    O(k).
    """
    A = len(index.head)
    h, m = index.head[b], index.mod[b]
    b0, _, first_item = _side(index, parts, a, h, m > h)
    rank = b - b0
    gap = h + 1 if m > h else h
    value = chart.complete[b, gap]
    scored = parts.adjacent[b + 1] > parts.adjacent[b]  # all but the arcs of a single root
    pair = parts.adjacent[b]
    triple = np.int64(0)
    if a < A:
        triple = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, NONE, b)
        value += chart.grand_sibling[triple]
    if scored:
        value += chart.adjacent[pair]
    arg = NOTHING
    if scored:
        for i in range(rank):
            v = chart.incomplete[first_item + i] + chart.siblings[pair + 1 + i] + chart.adjacent[pair + 1 + i]
            if a < A:
                v += chart.grand_sibling[triple + 1 + i]
            if v > value:
                value = v
                arg = b0 + i
    return (value if value > NEG_TEST else NEG), arg, gap


@kernel
def _fill_complete(index, parts, chart, n, d, single_root):
    """Write all half spans C(a, j) of d + 1 words to `chart.complete`. O(A k)."""
    head, mod = index.head, index.mod
    A = len(head)
    for a in range(A):
        g, h = head[a], mod[a]
        left, right = h - d, h + d + 1  # a half span cannot contain the head of its own head word
        if left >= 1 and (g > h or g < left):
            chart.complete[a, left] = _complete(index, parts, chart, a, left)[0]
        if right <= n + 1 and (g < h or g >= right):
            chart.complete[a, right] = _complete(index, parts, chart, a, right)[0]
    if not single_root:
        chart.complete[A, d + 1] = _complete(index, parts, chart, A, d + 1)[0]


@kernel
def _own_score(index, parts, chart, a, b):
    """Return (index of the span I(a, b), score of grandchild part (a, b) plus the score of arc b). O(1).

    The index is NOTHING if (a, b) is not a grandchild part.
    """
    A = len(index.head)
    if a == A:
        return parts.grandchild[A] + b, chart.arc[b]
    rank = below_rank(index, parts, a, b)
    if rank < 0:
        return NOTHING, NEG
    part = parts.grandchild[a] + rank
    return part, chart.grandchild[part] + chart.arc[b]


@kernel
def _best_root(index, chart, n, single_root):
    """Return (score of the best tree, its root arc); the arc is NOTHING if several root arcs are allowed."""
    A = len(index.head)
    if not single_root:
        return chart.complete[A, n + 1], NOTHING
    top = NEG_TEST
    arg = NOTHING
    for b in range(index.start[1]):
        v = chart.arc[b] + chart.complete[b, 1] + chart.complete[b, n + 1]
        if v > top:
            top = v
            arg = b
    return (top if arg >= 0 else NEG), arg


@kernel
def _push(stack, i, kind, a, x):
    """Write an item that is still to be expanded to row i of the stack: its kind, `a`, and its second index `x`."""
    stack[i, 0], stack[i, 1], stack[i, 2] = kind, a, x


@kernel
def _reconstruct(index, parts, chart, n, single_root, third):
    """Return (value, arcs int32[n]) from filled tables, without arcs if there is no tree. O(n (n + k)).

    `third` is True for Model 1.
    """
    head, mod = index.head, index.mod
    A = len(head)
    out = np.empty(n, np.int32)
    value, root = _best_root(index, chart, n, single_root)
    if value <= NEG_TEST:
        return NEG, out[:0]
    count = 0
    stack = np.empty((4 * n + 8, 3), np.int32)
    _push(stack, 0, COMPLETE, A, n + 1)
    top = 1
    if root != NOTHING:
        out[0], count = root, 1
        _push(stack, 0, COMPLETE, root, 1)
        _push(stack, 1, COMPLETE, root, n + 1)
        top = 2
    while top > 0:
        top -= 1
        kind, a, x = stack[top, 0], stack[top, 1], stack[top, 2]
        if kind == COMPLETE:
            h = mod[a] if a < A else 0
            if x != h and x != h + 1:
                _, b = _complete(index, parts, chart, a, x)
                _push(stack, top, INCOMPLETE, a, b)
                _push(stack, top + 1, COMPLETE, b, x)
                top += 2
        elif kind == SIBLINGS:
            _, gap = _between(index, chart, a, x)
            _push(stack, top, COMPLETE, a, gap)
            _push(stack, top + 1, COMPLETE, x, gap)
            top += 2
        else:
            out[count] = x
            count += 1
            if third:
                _, s, gap = _next_sibling(index, parts, chart, a, x)
                if s == NOTHING:
                    _push(stack, top, COMPLETE, x, gap)
                    top += 1
                else:
                    _push(stack, top, INCOMPLETE, a, s)
                    _push(stack, top + 1, SIBLINGS, s, x)
                    top += 2
            else:
                _, gap = _meeting(index, chart, a, x)
                _push(stack, top, COMPLETE, a, gap)
                _push(stack, top + 1, COMPLETE, x, gap)
                top += 2
    return value, out


@kernel
def model0(index, parts, arc, grandchild):
    """Find the best projective tree under the scores of arcs and all grandchildren.

    `arc` float64[A] and `grandchild` float64[G] are the scores; NEG forbids. Return (value, arcs int32[n]); NEG and no
    arcs if there is no tree. O(n^4) time, O(n^3) space.
    """
    A, n, single_root = len(index.head), len(index.right) - 1, parts.single_root
    none = np.zeros(0, np.float64)
    chart = Chart(
        arc,
        grandchild,
        none,
        none,
        none,
        np.full((A + 1, n + 2), NEG),
        np.full(parts.grandchild[A] + A, NEG),
        none,
    )
    for a in range(A):
        chart.complete[a, index.mod[a]] = 0.0
        chart.complete[a, index.mod[a] + 1] = 0.0
    chart.complete[A, 1] = 0.0
    order, first = arcs_by_length(index, n)
    for d in range(1, n + 1):
        for o in range(first[d], first[d + 1]):
            b = order[o]
            h = index.head[b]
            if h == 0:
                if not single_root:
                    chart.incomplete[parts.grandchild[A] + b] = arc[b] + _meeting(index, chart, A, b)[0]
                continue
            for q in range(index.into_start[h], index.into_start[h + 1]):
                a = index.into[q]
                item, score = _own_score(index, parts, chart, a, b)
                if score > NEG_TEST:
                    chart.incomplete[item] = score + _meeting(index, chart, a, b)[0]
        _fill_complete(index, parts, chart, n, d, single_root)
    return _reconstruct(index, parts, chart, n, single_root, False)


@kernel
def model1(index, parts, arc, scores):
    """Find the best projective tree under the scores of arcs, adjacent siblings, all grandchildren and grand-siblings.

    - `arc`: float64[A].
    - `scores`: ChartScores, all of full length; NEG forbids. The scores of outermost-grandchild may be empty. The paper
      does not have these parts, but the step that completes a g-span can score them.

    Return (value, arcs int32[n]); NEG and no arcs if there is no tree. O(n^4) time, O(n^3) space.
    """
    A, n, single_root = len(index.head), len(index.right) - 1, parts.single_root
    chart = Chart(
        arc,
        scores.grandchild,
        scores.adjacent,
        scores.outermost,
        scores.grand_sibling,
        np.full((A + 1, n + 2), NEG),
        np.full(parts.grandchild[A] + A, NEG),
        np.full(parts.adjacent[A], NEG),
    )
    for a in range(A):
        for side in range(2):
            chart.complete[a, index.mod[a] + side] = no_grandchild(index, parts, scores.outermost, a, side)
    chart.complete[A, 1] = 0.0
    order, first = arcs_by_length(index, n)
    pairs, pair_first = pairs_by_length(index, parts, n)
    for d in range(1, n + 1):
        for q in range(pair_first[d], pair_first[d + 1]):
            s, b = pairs[q, 0], pairs[q, 1]
            h = index.head[b]
            first_arc = index.right[h] if index.mod[b] > h else index.start[h]
            chart.siblings[parts.adjacent[b] + 1 + s - first_arc] = _between(index, chart, s, b)[0]
        for o in range(first[d], first[d + 1]):
            b = order[o]
            h = index.head[b]
            if h == 0:
                if not single_root:
                    value = _next_sibling(index, parts, chart, A, b)[0]
                    chart.incomplete[parts.grandchild[A] + b] = arc[b] + value
                continue
            for q in range(index.into_start[h], index.into_start[h + 1]):
                a = index.into[q]
                item, score = _own_score(index, parts, chart, a, b)
                if score > NEG_TEST:
                    chart.incomplete[item] = score + _next_sibling(index, parts, chart, a, b)[0]
        _fill_complete(index, parts, chart, n, d, single_root)
    return _reconstruct(index, parts, chart, n, single_root, True)
