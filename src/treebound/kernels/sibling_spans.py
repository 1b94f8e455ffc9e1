"""Bounds on the scores of sibling pairs on one side of their head, as linear functions of arcs and adjacent siblings.

A backbone that scores adjacent siblings determines, for every modifier in a tree, the next modifier on the same side.
Let s be nearer to the head than b. The tree has both s and b exactly if X = 1 and Y = 1:
    X = 1, the next modifier after s is b or nearer:   X = sum of adjacent(s, t) over s < t <= b
    Y = 1, the modifier before b is s or farther:      Y = sum of adjacent(t, b) over s <= t < b

A score phi of the pair has these bounds, which are linear in the arcs z and in the adjacent pairs:
    phi >= 0:  share X + (phi - share) Y               0 <= share <= phi
    phi <  0:  share (1 - z_s - z_b) + (phi + share) adjacent(s, b)      0 <= share <= -phi

X is at most z_s and Y at most z_b. The first bound is therefore never above the bound of `treebound.kernels.bounded`.
The second bound is exact for every share if s and b are adjacent. A positive pair is exact unless the tree has a
modifier between s and b.

The variable of the adjacent pair (s, b) is first[b] + s. Oracle: tests/test_sibling_spans.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.bounded import Pairs, make_products
from treebound.support.jit import kernel

FAR = 1 << 30  #: "no next arc", a number larger than every arc number


class Adjacency(NamedTuple):
    """The numbering of variables for pairs of arcs to adjacent siblings, which a backbone scores.

    - `first`: int64[A]. The pair of arc s and arc b is variable first[b] + s. Empty if there are no pair variables.
    - `start`: int32[A]. For each arc, the first arc with the same head on the same side of the head.
    """

    first: np.ndarray
    start: np.ndarray


class Spans(NamedTuple):
    """Pairs of siblings on one side of their head.

    - `s`, `b`: int32[F]. The arcs of the nearer and of the farther sibling.
    - `phi`: float64[F]. The score of each pair.
    - `share`: float64[F]. The number `share` in the bound of each pair (docstring of the module).
    """

    s: np.ndarray
    b: np.ndarray
    phi: np.ndarray
    share: np.ndarray


class Neighbours(NamedTuple):
    """The arcs to the next (`after`) and the previous (`before`) modifier on the same side, for each arc of a tree.

    Both are int32[A]. Without a next modifier, `after` is FAR; without a previous one, `before` is -1. An arc that is
    not in the tree has neither.
    """

    after: np.ndarray
    before: np.ndarray


@kernel
def adjacency(index, parts):
    """Return the Adjacency: variable A + 1 + i belongs to the pair of arcs of adjacent-sibling part i. O(A)."""
    A = len(index.head)
    first = np.empty(A, np.int64)
    start = np.empty(A, np.int32)
    for b in range(A):
        h = index.head[b]
        start[b] = index.right[h] if index.mod[b] > h else index.start[h]
        if parts.adjacent[b + 1] == parts.adjacent[b]:  # a single root has no pairs
            start[b] = b
        first[b] = A + 2 + parts.adjacent[b] - start[b]
    return Adjacency(first, start)


@kernel
def split_siblings(adjacent, arcs, phi, unit):
    """Return the sibling parts whose score is not 0, with their initial shares, as (Pairs, Spans). O(F).

    The Pairs have their head between the two siblings, and the Spans have both siblings on one side.

    `arcs` int32[F, 2] and `phi` float64[F] are the arcs and scores of a `PartTable`. The share of a positive part is
    half its score, rounded down if unit > 0. The share of a negative part is 0.
    """
    F = len(phi)
    e, f, score, share = np.empty(F, np.int32), np.empty(F, np.int32), np.empty(F), np.empty(F)
    c, k = 0, F  # pairs are written from the front, spans from the back
    for i in range(F):
        if phi[i] == 0.0:
            continue
        a, b = arcs[i, 0], arcs[i, 1]
        if adjacent.start[a] == adjacent.start[b]:
            k -= 1
            row = k
        else:
            row = c
            c += 1
        half = max(0.0, phi[i] / 2)
        e[row], f[row], score[row], share[row] = a, b, phi[i], np.floor(half) if unit > 0.0 else half
    number = np.arange(c).astype(np.int32)
    return Pairs(number, e[:c], f[:c], score[:c], share[:c]), Spans(e[k:], f[k:], score[k:], share[k:])


@kernel
def as_runs(adjacent, arcs):
    """Return the variables of the pairs of neighbouring arcs of each comb, int32[F, r - 1], -1 in empty slots.

    `arcs` int32[F, r] contains the arcs of each comb, from the nearest modifier on.

    A tree has all arcs of a comb exactly if it has all adjacent pairs of the comb.
    """
    F, r = arcs.shape
    out = np.full((F, max(0, r - 1)), -1, np.int32)
    for i in range(F):
        for j in range(r - 1):
            if arcs[i, j + 1] < 0:
                break
            out[i, j] = adjacent.first[arcs[i, j + 1]] + arcs[i, j]
    return out


@kernel
def adjacent_factors(index, parts, arc, sibling, comb, unit):
    """Build the sibling and comb factors of a search, bounded by variables of arcs and of adjacent pairs.

    - `arc`: float64[A]. The scores of the arcs.
    - `sibling`, `comb`: (arcs int32[F, r], scores float64[F]) of the parts of both families, as in `PartTable`.

    Return (Adjacency, theta, Pairs, Products, Spans). theta float64[V] holds the scores of the variables: the scores of
    the arcs, and 0 for the adjacent pairs.
    """
    adjacent = adjacency(index, parts)
    A = len(index.head)
    theta = np.zeros(A + 1 + parts.adjacent[A])
    for a in range(A):
        theta[a] = arc[a]
    pairs, spans = split_siblings(adjacent, sibling[0], sibling[1], unit)
    products = make_products(as_runs(adjacent, comb[0]), comb[1], unit, len(pairs.phi))
    return adjacent, theta, pairs, products, spans


@kernel
def apply_spans(spans, adjacent, weight):
    """Add the bounds of all spans to `weight` float64[V], their coefficients by variable. O(F + V).

    Return the sum of the constants of the bounds.
    """
    if len(spans.phi) == 0:
        return 0.0
    first, start = adjacent
    constant = 0.0
    of_s, of_b = np.zeros(len(weight)), np.zeros(len(weight))  # the share of s, and the remainder for b
    for i in range(len(spans.phi)):
        s, b, phi, share = spans.s[i], spans.b[i], spans.phi[i], spans.share[i]
        v = np.uint64(first[b] + s)
        if phi >= 0.0:
            of_s[v], of_b[v] = share, phi - share
        else:
            weight[v] += phi + share
            weight[s] -= share
            weight[b] -= share
            constant += share
    beyond = np.zeros(len(first))  # for each arc s, the sum of the shares of its pairs with arcs from b on
    for b in range(len(first) - 1, -1, -1):
        total = 0.0
        for s in range(start[b], b):
            v = np.uint64(first[b] + s)
            total += of_b[v]
            beyond[s] += of_s[v]
            weight[v] += total + beyond[s]
    return constant


@kernel
def _shift(adjacent, s, b, of_s, of_b, weight):
    """Add of_s to the weight of each variable in the sum X of the pair (s, b), and of_b to each in its sum Y. O(b - s).

    The docstring of the module defines X and Y.
    """
    first = adjacent.first
    if of_s != 0.0:
        for t in range(s + 1, b + 1):
            weight[np.uint64(first[t] + s)] += of_s
    if of_b != 0.0:
        for v in range(np.uint64(first[b] + s), np.uint64(first[b] + b)):
            weight[v] += of_b


@kernel
def fold_spans(spans, adjacent, alive, certain, theta, weight):
    """Remove the spans that are decided because one of their arcs is dead or certain, in place.

    No remaining tree has a dead arc, and every remaining tree has a certain arc. A span with a dead arc is dropped. The
    score of a span with a certain arc is added to the score of the other arc.

    - `alive`, `certain`: bool[V]. False for dead variables; True for certain variables.
    - `theta`, `weight`: float64[V]. The scores of the variables without and with the coefficients of the bounds.

    Return (remaining Spans, change of the bound's constant). O(F), plus O(b - s) for each span that is removed.
    """
    spans_s, spans_b, phi, share = spans
    constant = 0.0
    c = 0
    for i in range(len(phi)):
        s, b, p, q = spans_s[i], spans_b[i], phi[i], share[i]
        both_alive = alive[s] and alive[b]
        if both_alive and not certain[s] and not certain[b]:
            spans_s[c], spans_b[c], phi[c], share[c] = s, b, p, q
            c += 1
            continue
        if p < 0.0:
            weight[first_of(adjacent, s, b)] -= p + q
            weight[s] += q
            weight[b] += q
            constant -= q
        else:  # no tree has a variable of a dead arc, so its coefficient needs no change
            _shift(adjacent, s, b, -q if alive[s] else 0.0, q - p if alive[b] else 0.0, weight)
        if both_alive:
            free_arc = b if certain[s] else s
            theta[free_arc] += p
            weight[free_arc] += p
    return Spans(spans_s[:c], spans_b[:c], phi[:c], share[:c]), constant


@kernel(inline="always")
def first_of(adjacent, s, b):
    """Return the number of the variable of the adjacent pair (s, b)."""
    return adjacent.first[b] + s


@kernel
def neighbours_of(A):
    """Return empty Neighbours of A arcs, none of which is in the tree."""
    return Neighbours(np.full(A, FAR, np.int32), np.full(A, -1, np.int32))


@kernel
def set_neighbours(adjacent, chosen, size, z, neighbours):
    """Write the neighbours of the arcs of a tree to `neighbours`, which must be empty. O(arcs out of the tree's heads).

    The tree has the variables chosen[: size], and `z` is 1 for them.
    """
    after, before = neighbours
    for i in range(size):
        b = chosen[i]
        if b >= len(after):
            continue
        s = b - 1
        first = adjacent.start[b]
        while s >= first and z[s] == 0:
            s -= 1
        if s >= first:
            after[s], before[b] = b, s


@kernel
def clear_neighbours(chosen, size, neighbours):
    """Empty `neighbours`, which holds the neighbours of a tree with the variables chosen[: size]. O(n)."""
    after, before = neighbours
    for i in range(size):
        if chosen[i] < len(after):
            after[chosen[i]], before[chosen[i]] = FAR, -1


@kernel
def visit_spans(spans, z, neighbours, direction):
    """Compare the spans with a tree: compute their score, and the direction in which each share lowers the bound. O(F).

    - `z`, `neighbours`: 1 for each variable of the tree, and the Neighbours of the tree.
    - `direction`: int8[F], written. 1 if the share has to be raised, -1 if it has to be lowered, 0 if no change lowers
      the bound at the tree.

    Return (sum of the scores of the spans whose two arcs are in the tree, number of directions other than 0).
    """
    after, before = neighbours
    score = 0.0
    moved = 0
    for i in range(len(spans.phi)):
        s, b, phi, share = spans.s[i], spans.b[i], spans.phi[i], spans.share[i]
        direction[i] = 0
        if phi >= 0.0:
            x, y = after[s] <= b, before[b] >= s
            if x and y:
                score += phi
            elif x and share > 0.0:
                direction[i] = -1
                moved += 1
            elif y and share < phi:
                direction[i] = 1
                moved += 1
        elif z[s] == 1 and z[b] == 1:
            score += phi
            if after[s] != b and share < -phi:
                direction[i] = 1
                moved += 1
        elif z[s] == 0 and z[b] == 0 and share > 0.0:
            direction[i] = -1
            moved += 1
    return score, moved


@kernel
def move_spans(spans, adjacent, direction, alpha, weight):
    """Move each share by alpha in its `direction`, a subgradient step; return the change of the bound's constant.

    A share stays between 0 and abs(phi). `direction` int8[F] comes from `visit_spans`. O(F + n for each share that
    moves).
    """
    constant = 0.0
    for i in range(len(spans.phi)):
        if direction[i] == 0:
            continue
        s, b, phi = spans.s[i], spans.b[i], spans.phi[i]
        new_share = min(abs(phi), max(0.0, spans.share[i] + direction[i] * alpha))
        delta = new_share - spans.share[i]
        spans.share[i] = new_share
        if phi >= 0.0:
            _shift(adjacent, s, b, delta, -delta, weight)
        else:
            weight[first_of(adjacent, s, b)] += delta
            weight[s] -= delta
            weight[b] -= delta
            constant += delta
    return constant


@kernel
def add_span_slack(spans, z, neighbours, gap):
    """Add the slack of every span, its bound minus its score at a tree, to `gap` at both arcs of the span. O(F).

    `z` is 1 for the variables of the tree, and `neighbours` are the Neighbours of the tree.
    """
    after, before = neighbours
    for i in range(len(spans.phi)):
        s, b, phi, share = spans.s[i], spans.b[i], spans.phi[i], spans.share[i]
        slack = 0.0
        if phi >= 0.0:
            x, y = after[s] <= b, before[b] >= s
            if x and not y:
                slack = share
            elif y and not x:
                slack = phi - share
        elif z[s] == 1 and z[b] == 1:
            slack = -phi - share if after[s] != b else 0.0
        elif z[s] == 0 and z[b] == 0:
            slack = share
        gap[s] += slack
        gap[b] += slack


@kernel
def spread_slack(adjacent, gap):
    """Add the slack gap[v] of the variable v of every adjacent pair to the gaps of its two arcs. O(V).

    A search branches on arcs, so it needs the slack by arc.
    """
    for b in range(len(adjacent.first)):
        for s in range(adjacent.start[b], b):
            v = np.uint64(adjacent.first[b] + s)
            if v < len(gap) and gap[v] > 0.0:
                gap[s] += gap[v]
                gap[b] += gap[v]
