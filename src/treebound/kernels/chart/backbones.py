"""Backbone dynamic programs for projective trees, written as hypergraphs.

Spans follow Eisner (1996). C(h, e) is a head with its modifiers towards e, complete. I(h, m) spans h..m and contains
the arc h -> m. The additional information in an item determines the parts that a backbone scores exactly:

| backbone | item | scores beside arcs | edges |
|---|---|---|---|
| eisner | C(h, e) | - | O(n^2 k) |
| carreras | C(h, e, outermost modifier) | adjacent-sibling, outermost-grandchild | O(n^2 k^2) |
| grandparent-sibling | C(g, h, e) | adjacent-sibling, outermost-grandchild, grandchild, grand-sibling | O(n^2 k^2) |

Here k is the number of candidate heads per word (for k = n: O(n^3), O(n^4), O(n^4)). Every projective tree has exactly
one derivation. References: Carreras (2007), section 3; Koo & Collins (2010), Model 1. Oracle: tests/oracles enumerate
all trees; the dense dynamic programs of `treebound.kernels.chart.model1`.

In the comments, b = (h, m) is an arc, a = (g, h) is the arc into its head, and s is a modifier of h between h and m.
The empty half of a word is the axiom. Its "no grandchild" score is added when the axiom is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.parts import NONE, below_rank
from treebound.kernels.arcs.wide_parts import grand_sibling_rank
from treebound.kernels.chart.hypergraph import NEG_TEST, Hypergraph
from treebound.kernels.reference import read_only
from treebound.support.jit import kernel

ABSENT = read_only(np.zeros(0, np.float64))


class ChartScores(NamedTuple):
    """Scores float64[F] of the families that a backbone can score; empty if absent."""

    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    grand_sibling: np.ndarray


def chart_scores(scores: Mapping[str, np.ndarray]) -> ChartScores:
    """Return read-only ChartScores from a mapping of families to scores float64[F]; other families are ignored."""
    families = ("adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling")
    return ChartScores(*[read_only(scores[family]) if family in scores else ABSENT for family in families])


class _Writer(NamedTuple):
    """A hypergraph under construction: the arrays of `Hypergraph`, and `size` int64[1], the number of items.

    Edges are written one after another. The caller counts them, and `_close` then makes an item of the edges since the
    last item. first[items] is the index of the first edge of the next item.
    """

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    var: np.ndarray
    weight: np.ndarray
    size: np.ndarray


@kernel
def _writer(items, edges, limit, width):
    """Return a hypergraph that contains only the axiom and has space for `items` items and min(edges, limit) edges.

    `width` is the largest number of edges of an item. The arrays have space for `width` further edges, so that `_full`
    needs to be called only once per item.
    """
    capacity = min(np.int64(edges), np.int64(limit)) + width
    first = np.empty(min(np.int64(items), capacity) + 3, np.int32)
    first[0], first[1] = 0, 0
    return _Writer(
        first,
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.float64),
        np.array([1]),
    )


@kernel(inline="always")
def _full(out, edges, width):
    """Return whether the space that remains in `out` may be too small for the edges of another item."""
    return edges > len(out.left) - width


@kernel
def _edge(out, edges, left, right, var, weight):
    """Write an edge of the next item and return the new number of edges, which excludes impossible edges.

    An edge is impossible if a tail is below 0 or the weight is too low. An impossible edge is written as well, but the
    next edge overwrites it. Half of the edges of some items are impossible, and a branch would be mispredicted.
    Unsigned indices, here and below, avoid the test for negative indices.
    """
    e = np.uint64(edges)
    out.left[e], out.right[e], out.var[e], out.weight[e] = left, right, var, weight
    return edges + ((left >= 0) & (right >= 0) & (weight > NEG_TEST))


@kernel
def _close(out, edges):
    """Make an item of the edges that were written after the last item; return its number, or -1 without such edges."""
    i = out.size[0]
    if edges == out.first[i]:
        return -1
    out.first[i + 1] = edges
    out.size[0] = i + 1
    return i


@kernel
def _finish(out, edges):
    """Return the finished hypergraph; the goal gets the edges that were written after the last item.

    The goal has no edges if there is no tree.
    """
    items = out.size[0] + 1
    out.first[items] = edges
    return Hypergraph(out.first[: items + 1], out.left[:edges], out.right[:edges], out.var[:edges], out.weight[:edges])


@kernel(inline="always")
def _beyond(bound, cells, limit, counted):
    """Return whether a graph is refused before it is built, because it may have more than `limit` edges.

    - `bound`: upper bound of the number of edges.
    - `cells`: number of cells of the table from which the graph is built.
    - `counted`: if True, edges are counted during construction. The graph is then refused in advance only if the number
      of cells is above the limit, too.
    """
    return bound > limit and (cells > limit or not counted)


@kernel
def _too_large():
    """Return a hypergraph without items except the axiom, which means that the graph is too large."""
    none = np.zeros(0, np.int32)
    return Hypergraph(np.zeros(1, np.int32), none, none, none, np.zeros(0, np.float64))


@kernel
def arcs_by_length(index, n):
    """Return (order int32[A], first int32[n + 2]): arcs grouped by length |h - m|. O(A + n).

    The arcs of length d are order[first[d] : first[d + 1]].
    """
    A = len(index.head)
    first = np.zeros(n + 2, np.int32)
    for a in range(A):
        first[abs(index.head[a] - index.mod[a]) + 1] += 1
    for d in range(n + 1):
        first[d + 1] += first[d]
    order = np.empty(A, np.int32)
    fill = first.copy()
    for a in range(A):
        d = abs(index.head[a] - index.mod[a])
        order[fill[d]] = a
        fill[d] += 1
    return order, first


@kernel
def pairs_by_length(index, parts, n):
    """Return (pairs int32[P, 2], first int64[n + 2]): pairs of arcs of adjacent siblings, by distance. O(P + n).

    Both arcs of a pair (s, b) have the same head and side, and s is nearer to the head. A single root has no pairs. The
    pairs whose modifiers have the distance d are pairs[first[d] : first[d + 1]].
    """
    mod = index.mod
    A = len(mod)
    first = np.zeros(n + 2, np.int64)
    for b in range(A):
        for s in range(b + 1 - max(1, parts.adjacent[b + 1] - parts.adjacent[b]), b):
            first[abs(mod[b] - mod[s]) + 1] += 1
    for d in range(n + 1):
        first[d + 1] += first[d]
    pairs = np.empty((first[n + 1], 2), np.int32)
    fill = first.copy()
    for b in range(A):
        for s in range(b + 1 - max(1, parts.adjacent[b + 1] - parts.adjacent[b]), b):
            d = abs(mod[b] - mod[s])
            pairs[fill[d], 0], pairs[fill[d], 1] = s, b
            fill[d] += 1
    return pairs, first


@kernel
def no_grandchild(index, parts, outermost, a, side):
    """Return the score of 'no modifier' on a side (0 left, 1 right) of the modifier of arc a. O(1)."""
    if len(outermost) == 0:
        return 0.0
    inner = index.head[a] < index.mod[a]  # the left side is the inner one
    return outermost[parts.outermost[a] + (0 if (side == 0) == inner else 1)]


@kernel
def eisner_graph(index, n, single_root, limit, counted=False):
    """Return the first-order hypergraph, or an empty one if an upper bound of the number of edges exceeds `limit`.

    If `counted`, the edges are counted during construction. The result is then empty only if the graph has more than
    `limit` edges, or if the table of its items has more than `limit` cells. The items are:

        I(b):    C(h, r) + C(m, r +- 1)  for every split r between h and m
        C(h, e): I(h, m) + C(m, e)       for every m between h and e; the axiom if h = e
        goal:    C(0, n), or for a single root C(m, 1) + C(m, n) + arc (0, m)
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    bound = np.int64(n + 1)
    for a in range(A):
        bound += abs(head[a] - mod[a]) + (n - mod[a] + 1 if mod[a] > head[a] else mod[a])
    if _beyond(bound, (n + 1) * (n + 1), limit, counted):
        return _too_large()
    width = n + 2
    out = _writer(A + (n + 1) * (n + 1) + 1, bound, limit, width)
    edges = np.int64(0)
    done = np.full((n + 1, n + 1), -1, np.int32)  # C(h, e); 0 on the diagonal
    half = np.full(A, -1, np.int32)  # I(b)
    for h in range(n + 1):
        done[h, h] = 0
    order, by_length = arcs_by_length(index, n)
    for d in range(1, n + 1):
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            if h == 0 and single_root:
                continue
            if _full(out, edges, width):
                return _too_large()
            lo, hi = min(h, m), max(h, m)
            for r in range(lo, hi):
                edges = _edge(out, edges, done[lo, r], done[hi, r + 1], b, 0.0)
            half[b] = _close(out, edges)
        for h in range(n + 1):
            for side in range(2):
                e = h - d if side == 0 else h + d
                if e < (0 if h == 0 else 1) or e > n or (h == 0 and single_root):
                    continue
                if _full(out, edges, width):
                    return _too_large()
                lo, hi = (start[h], right[h]) if side == 0 else (right[h], start[h + 1])
                for b in range(lo, hi):
                    m = mod[b]
                    if abs(m - h) > d:
                        break
                    edges = _edge(out, edges, half[b], done[m, e], A, 0.0)
                done[h, e] = _close(out, edges)
    if _full(out, edges, width):
        return _too_large()
    if single_root:
        for b in range(start[0], start[1]):
            edges = _edge(out, edges, done[mod[b], 1], done[mod[b], n], b, 0.0)
    else:
        edges = _edge(out, edges, done[0, n], 0, A, 0.0)
    return _finish(out, edges)


# this is one function because a function for each kind of item takes 2.4 times as long on sentences of 17 words: numba
# passes structures by value
@kernel
def carreras_graph(index, parts, scores, limit, counted=False):
    """Return the second-order hypergraph of Carreras (2007); `scores` are ChartScores.

    The arguments `limit` and `counted` are as in `eisner_graph`. The items are:

        X(b, r): C(h, r, s)              over the outermost modifier s of h up to r, + adjacent-sibling(s, b)
        Y(b, r): C(m, r, c)              over m's outermost modifier c on the side of h, + outermost-grandchild(b, c)
        I(b):    X(b, r) + Y(b, r +- 1)  over splits r
        C(b, e): I(b) + C(m, e, c)       over m's outermost modifier c on the other side, + outermost-grandchild(b, c)
        goal:    I(b) + ... = C(b, n) over root arcs b

    If grand-siblings are scored outside the graph, they are pairs of an arc and an adjacent-sibling part. The edges of
    X(b, r) then choose variable A + 1 + p instead of A, where p is the number of the adjacent-sibling part. A
    derivation has one such edge for every arc that has adjacent-sibling parts (with a single root, every arc except the
    root's). A pass over the graph then takes the scores of A + 1 + P variables, P being the number of adjacent-sibling
    parts.
    """
    adjacent, outermost = scores.adjacent, scores.outermost
    n, single_root = len(index.right) - 1, parts.single_root
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    bound = np.int64(n + 2)
    for b in range(A):
        h, m = head[b], mod[b]
        d = abs(h - m)
        reach = n - m + 1 if m > h else m
        siblings = b - (right[h] if m > h else start[h]) + 1
        inner = right[m] - start[m] if m > h else start[m + 1] - right[m]
        outer = start[m + 1] - right[m] if m > h else right[m] - start[m]
        bound += d * (siblings + inner + 3) + reach * (outer + 1)
    if _beyond(bound, A * (n + 1), limit, counted):
        return _too_large()
    width = n + 2
    out = _writer(A * (3 * n + 2) + 1, bound, limit, width)
    edges = np.int64(0)
    done = np.full((A, n + 1), -1, np.int32)  # C(b, e)
    half = np.full(A, -1, np.int32)  # I(b)
    xs = np.empty(n + 1, np.int32)
    ys = np.empty(n + 1, np.int32)
    order, by_length = arcs_by_length(index, n)
    has_adjacent = len(adjacent) > 0
    has_outermost = len(outermost) > 0
    for d in range(1, n + 1):
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            rightward = m > h
            step = 1 if rightward else -1
            side0 = right[h] if rightward else start[h]
            pair = parts.adjacent[b]
            paired = parts.adjacent[b + 1] > pair
            scored = has_adjacent and paired
            x_var, x_step = (A + 1 + pair, 1) if len(scores.grand_sibling) > 0 and paired else (A, 0)
            only_first = h == 0 and single_root
            inner_side = 0 if rightward else 1
            c0 = start[m] if inner_side == 0 else right[m]
            for i in range(d):
                r = h + step * i  # end of h's half; m's inner half ends at r + step
                xs[i] = -1
                ys[i] = -1
                if only_first and i > 0:
                    continue
                if _full(out, edges, width):
                    return _too_large()
                if i == 0:
                    edges = _edge(out, edges, 0, 0, x_var, adjacent[pair] if scored else 0.0)
                else:
                    for s in range(side0, b):
                        if abs(mod[s] - h) > i:
                            break
                        q = 1 + s - side0
                        w = adjacent[pair + q] if scored else 0.0
                        edges = _edge(out, edges, done[s, r], 0, x_var + x_step * q, w)
                xs[i] = _close(out, edges)
                if xs[i] < 0:
                    continue
                if _full(out, edges, width):
                    return _too_large()
                if i == d - 1:
                    edges = _edge(out, edges, 0, 0, A, no_grandchild(index, parts, outermost, b, inner_side))
                else:
                    q = parts.outermost[b] + 2 + below_rank(index, parts, b, c0)
                    for c in range(c0, c0 + parts.below[b, inner_side]):
                        if abs(mod[c] - m) > d - 1 - i:
                            break
                        w = outermost[q + c - c0] if has_outermost else 0.0
                        edges = _edge(out, edges, done[c, r + step], 0, A, w)
                ys[i] = _close(out, edges)
            if _full(out, edges, width):
                return _too_large()
            for i in range(d):
                edges = _edge(out, edges, xs[i], ys[i], b, 0.0)
            half[b] = _close(out, edges)
        # C(b, e) with |e - h| = d
        for b in range(A):
            if half[b] < 0:
                continue
            h, m = head[b], mod[b]
            rightward = m > h
            e = h + d if rightward else h - d
            if abs(m - h) > d or e > n or e < 1:
                continue
            if _full(out, edges, width):
                return _too_large()
            outer_side = 1 if rightward else 0
            if e == m:
                edges = _edge(out, edges, half[b], 0, A, no_grandchild(index, parts, outermost, b, outer_side))
            else:
                c0 = start[m] if outer_side == 0 else right[m]
                q = parts.outermost[b] + 2 + below_rank(index, parts, b, c0)
                for c in range(c0, c0 + parts.below[b, outer_side]):
                    if abs(mod[c] - m) > abs(e - m):
                        break
                    edges = _edge(out, edges, half[b], done[c, e], A, outermost[q + c - c0] if has_outermost else 0.0)
            done[b, e] = _close(out, edges)
    if _full(out, edges, width):
        return _too_large()
    for b in range(start[0], start[1]):
        edges = _edge(out, edges, done[b, n], 0, A, 0.0)
    return _finish(out, edges)


# one function for the same reason as `carreras_graph`
@kernel
def grandparent_sibling_graph(index, parts, scores, limit, counted=False, named=False):
    """Return a hypergraph in the form of Koo & Collins (2010), Model 1.

    The arguments `scores`, `limit` and `counted` are as in `carreras_graph`. If `named`, the edges of S(s, b) choose
    the variable of the adjacent-sibling part (s, b). The items are:

        S(s, b):  C(s, r) + C(b, r +- 1)            the span between two adjacent modifiers of h, over splits r
        I(a, b):  C(b, h +- 1)                      b is h's first modifier on its side, + adjacent-sibling(NONE, b)
                  I(a, s) + S(s, b)                 + adjacent-sibling(s, b)
                                                    both + grandchild(a, b) and + grand-sibling(a, s or NONE, b)
        C(a, e):  I(a, b) + C(b, e)                 b is h's outermost modifier up to e, + outermost-grandchild(a, b)
        goal:     I(root, b) + C(b, n); for a single root, I(root, b) consists of C(b, 1)
    """
    adjacent, outermost, grandchild, triples = scores
    n = len(index.right) - 1
    head, mod, start, right = index.head, index.mod, index.start, index.right
    into, into_start = index.into, index.into_start
    A = len(head)
    pairs = parts.grandchild[A]
    # upper bounds of the number of items and edges
    bound = np.int64(n + 2)
    between = np.int64(0)  # pairs (s, b) of one side
    for b in range(A):
        h, m = head[b], mod[b]
        rank = b - (right[h] if m > h else start[h])
        contexts = into_start[h + 1] - into_start[h] if h > 0 else 1
        reach = n - m + 1 if m > h else m
        bound += np.int64(contexts) * (1 + rank + reach)
        for s in range(b - rank, b):
            bound += abs(m - mod[s])
        between += rank
    if _beyond(bound, A * (n + 1), limit, counted):
        return _too_large()
    width = n + 2
    out = _writer(2 + pairs + A * np.int64(n + 2) + between, bound, limit, width)
    edges = np.int64(0)
    has_adjacent = len(adjacent) > 0
    has_outermost = len(outermost) > 0
    has_grandchild = len(grandchild) > 0
    has_triples = len(triples) > 0
    done = np.full((A, n + 1), -1, np.int32)  # C(a, e); the axiom for e = mod[a]
    half = np.full(pairs + A, -1, np.int32)  # I(a, b) at the grandchild part of (a, b); I(root, b) at pairs + b
    span = np.full(parts.adjacent[A], -1, np.int32)  # S(s, b) at the adjacent-sibling part of (s, b)
    none = np.empty((A, 2), np.float64)
    # shared by all arcs into one head: ranks of its modifiers, the items of the modifiers, and their own scores
    rank_of, tail, own_score = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32), np.empty(n + 1)
    for a in range(A):
        done[a, mod[a]] = 0
        for side in range(2):
            none[a, side] = no_grandchild(index, parts, outermost, a, side)
    pair_of, pair_first = pairs_by_length(index, parts, n)
    order, by_length = arcs_by_length(index, n)
    for d in range(1, n + 1):
        # S(s, b) with |m - s| = d
        for q in range(pair_first[d], pair_first[d + 1]):
            if _full(out, edges, width):
                return _too_large()
            s, b = pair_of[q, 0], pair_of[q, 1]
            x, y = (s, b) if mod[s] < mod[b] else (b, s)  # x is the left one of the two modifiers
            lo, hi = mod[x], mod[y]
            x_end, y_end = none[x, 1], none[y, 0]
            h = head[b]
            part = parts.adjacent[b] + 1 + s - (right[h] if mod[b] > h else start[h])
            var = A + 1 + part if named else A
            for r in range(lo, hi):
                w = (x_end if r == lo else 0.0) + (y_end if r + 1 == hi else 0.0)
                left_half, right_half = done[np.uint64(x), np.uint64(r)], done[np.uint64(y), np.uint64(r + 1)]
                edges = _edge(out, edges, left_half, right_half, var, w)
            span[part] = _close(out, edges)
        # I(a, b) with |m - h| = d
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            rightward = m > h
            side0 = right[h] if rightward else start[h]
            rank = b - side0
            pair = parts.adjacent[b]
            paired = parts.adjacent[b + 1] > pair
            scored = has_adjacent and paired
            near = h + 1 if rightward else h - 1
            w_first = adjacent[pair] if scored else 0.0
            if near == m:
                w_first += none[b, 0 if rightward else 1]
            count = 0
            for i in range(rank if paired else 0):
                if span[np.uint64(pair + 1 + i)] >= 0:
                    rank_of[count], tail[count] = i, span[np.uint64(pair + 1 + i)]
                    own_score[count] = adjacent[np.uint64(pair + 1 + i)] if scored else 0.0
                    count += 1
            contexts = into_start[h + 1] - into_start[h] if h > 0 else 1
            for q in range(contexts):
                a = into[into_start[h] + q] if h > 0 else -1
                first_part = pairs  # I(a, .) of this side begins here
                w = 0.0
                triple = np.int64(-1)
                if a >= 0:
                    if rank >= parts.below[a, 1 if rightward else 0]:
                        continue
                    first_part = parts.grandchild[a] + (parts.below[a, 0] if rightward else 0)
                    if has_grandchild:
                        w = grandchild[first_part + rank]
                    if has_triples:
                        triple = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, NONE, b)
                if _full(out, edges, width):
                    return _too_large()
                edges = _edge(out, edges, done[b, near], 0, b, w + w_first + (triples[triple] if triple >= 0 else 0.0))
                if w > NEG_TEST:
                    for c in range(count):
                        i = rank_of[np.uint64(c)]
                        w_s = w + own_score[np.uint64(c)]
                        if triple >= 0:
                            w_s += triples[np.uint64(triple + 1 + i)]
                        edges = _edge(out, edges, half[np.uint64(first_part + i)], tail[np.uint64(c)], b, w_s)
                half[first_part + rank] = _close(out, edges)
        # C(a, e) with |e - h| = d: the modifiers whose span reaches e are the same for all arcs into h
        for h in range(1, n + 1):
            for side in range(2):
                e = h - d if side == 0 else h + d
                if e < 1 or e > n:
                    continue
                b0, b_end = (start[h], right[h]) if side == 0 else (right[h], start[h + 1])
                count = 0
                for lower in range(b0, b_end):
                    m = mod[lower]
                    if abs(m - h) > d:
                        break
                    if done[np.uint64(lower), np.uint64(e)] >= 0:
                        rank_of[count], tail[count] = lower - b0, done[np.uint64(lower), np.uint64(e)]
                        own_score[count] = none[lower, side] if m == e else 0.0
                        count += 1
                for q in range(into_start[h], into_start[h + 1]):
                    a = into[q]
                    g = head[a]
                    if (side == 0 and g < h and e <= g) or (side == 1 and g > h and e >= g):
                        continue
                    if _full(out, edges, width):
                        return _too_large()
                    before = 0 if side == 0 else parts.below[a, 0]
                    first_outermost, first_half = parts.outermost[a] + 2 + before, parts.grandchild[a] + before
                    below = parts.below[a, side]
                    for c in range(count):
                        i = rank_of[np.uint64(c)]
                        if i >= below:
                            break
                        w = own_score[np.uint64(c)]
                        if has_outermost:
                            w += outermost[np.uint64(first_outermost + i)]
                        edges = _edge(out, edges, half[np.uint64(first_half + i)], tail[np.uint64(c)], A, w)
                    done[a, e] = _close(out, edges)
    if _full(out, edges, width):
        return _too_large()
    for b in range(start[0], start[1]):
        edges = _edge(out, edges, half[pairs + b], done[b, n], A, none[b, 1] if mod[b] == n else 0.0)
    return _finish(out, edges)
