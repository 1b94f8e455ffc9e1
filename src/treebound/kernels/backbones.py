"""Backbone dynamic programs for projective trees, written as hypergraphs.

Spans follow Eisner (1996): C(h, e) is a head with its modifiers towards e, complete; I(h, m) spans h..m and holds the
arc h -> m. What a backbone adds to the item tells which parts it scores exactly:

| backbone | item | scores beside arcs | edges |
|---|---|---|---|
| eisner | C(h, e) | - | O(n^2 k) |
| carreras | C(h, e, outermost modifier) | adjacent-sibling, outermost-grandchild | O(n^2 k^2) |
| grandparent-sibling | C(g, h, e) | adjacent-sibling, outermost-grandchild, grandchild | O(n^2 k^2) |

with k candidate heads a word (k = n: O(n^3), O(n^4), O(n^4)). Every projective tree has exactly one derivation.
References: Carreras (2007), section 3; Koo & Collins (2010), Model 1. Oracle: tests/oracles enumerate all trees.

In the comments, b = (h, m) is an arc, a = (g, h) the arc into its head, s a modifier of h between h and m. The empty
half of a word is the axiom; its "no grandchild" score is added where it is used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.kernels.hypergraph import NEG_TEST, Hypergraph
from treebound.kernels.parts import below_rank


@njit(cache=True, nogil=True)
def _arcs_by_length(index, n):
    """(order int32[A], first int32[n + 2]): arcs grouped by |h - m|."""
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


@njit(cache=True, nogil=True)
def _too_large():
    """A hypergraph without items beside the axiom."""
    none = np.zeros(0, np.int32)
    return Hypergraph(np.zeros(1, np.int32), none, none, none, np.zeros(0, np.float64))


@njit(cache=True, nogil=True)
def _none_score(index, parts, outermost, a, side):
    """Score of 'no modifier' on a side (0 left, 1 right) of the modifier of arc a."""
    if len(outermost) == 0:
        return 0.0
    inner = index.head[a] < index.mod[a]  # the left side is the inner one
    return outermost[parts.outermost[a] + (0 if (side == 0) == inner else 1)]


@njit(cache=True, nogil=True)
def eisner_graph(index, n, single_root, limit):
    """First-order hypergraph; empty if it might exceed `limit` edges.

    I(b):  C(h, r) + C(m, r +- 1)   for every split r between h and m
    C(h, e): I(h, m) + C(m, e)      for every m between h and e; the axiom if h = e
    goal:  C(0, n), or for a single root C(m, 1) + C(m, n) + arc (0, m)
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    bound = 0
    for a in range(A):
        bound += abs(head[a] - mod[a]) + (n - mod[a] + 1 if mod[a] > head[a] else mod[a])
    bound += n + 1
    if bound > limit:
        return _too_large()
    first = np.empty(A + (n + 1) * (n + 1) + 3, np.int32)
    left = np.empty(bound, np.int32)
    rght = np.empty(bound, np.int32)
    arc = np.empty(bound, np.int32)
    items = 1
    E = 0
    first[0] = 0
    done = np.full((n + 1, n + 1), -1, np.int32)  # C(h, e); 0 on the diagonal
    half = np.full(A, -1, np.int32)  # I(b)
    for h in range(n + 1):
        done[h, h] = 0
    order, by_length = _arcs_by_length(index, n)
    for d in range(1, n + 1):
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            if h == 0 and single_root:
                continue
            begin = E
            lo, hi = (h, m) if h < m else (m, h)
            for r in range(lo, hi):
                x, y = done[lo, r], done[hi, r + 1]
                if x >= 0 and y >= 0:
                    left[E], rght[E], arc[E] = x, y, b
                    E += 1
            if begin < E:
                half[b] = items
                first[items] = begin
                items += 1
        for h in range(n + 1):
            for side in range(2):
                e = h - d if side == 0 else h + d
                if e < (0 if h == 0 else 1) or e > n or (h == 0 and single_root):
                    continue
                begin = E
                lo, hi = (start[h], right[h]) if side == 0 else (right[h], start[h + 1])
                for b in range(lo, hi):
                    m = mod[b]
                    if abs(m - h) > d:
                        break
                    if half[b] >= 0 and done[m, e] >= 0:
                        left[E], rght[E], arc[E] = half[b], done[m, e], A
                        E += 1
                if begin < E:
                    done[h, e] = items
                    first[items] = begin
                    items += 1
    begin = E
    if single_root:
        for b in range(start[0], start[1]):
            m = mod[b]
            if done[m, 1] >= 0 and done[m, n] >= 0:
                left[E], rght[E], arc[E] = done[m, 1], done[m, n], b
                E += 1
    elif done[0, n] >= 0:
        left[E], rght[E], arc[E] = done[0, n], 0, A
        E += 1
    first[items] = begin
    items += 1
    first[items] = E
    return Hypergraph(first[: items + 1], left[:E], rght[:E], arc[:E], np.zeros(E, np.float64))


@njit(cache=True, nogil=True)
def carreras_graph(index, parts, n, single_root, adjacent, outermost, limit):
    """Second-order hypergraph of Carreras (2007); score arrays may be empty (family absent).

    X(b, r): C(h, r, s)              over the outermost modifier s of h up to r, + adjacent-sibling(s, b)
    Y(b, r): C(m, r, c)              over m's outermost modifier c on the side of h, + outermost-grandchild(b, c)
    I(b):    X(b, r) + Y(b, r +- 1)  over splits r
    C(b, e): I(b) + C(m, e, c)       over m's outermost modifier c on the other side, + outermost-grandchild(b, c)
    goal:    I(b) + ... = C(b, n) over root arcs b
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    A = len(head)
    bound = n + 2
    for b in range(A):
        h, m = head[b], mod[b]
        d = abs(h - m)
        reach = n - m + 1 if m > h else m
        siblings = b - (right[h] if m > h else start[h]) + 1
        inner = right[m] - start[m] if m > h else start[m + 1] - right[m]
        outer = start[m + 1] - right[m] if m > h else right[m] - start[m]
        bound += d * (siblings + inner + 3) + reach * (outer + 1)
    if bound > limit:
        return _too_large()
    first = np.empty(A * (3 * n + 2) + 3, np.int32)
    left = np.empty(bound, np.int32)
    rght = np.empty(bound, np.int32)
    arc = np.empty(bound, np.int32)
    weight = np.empty(bound, np.float64)
    items = 1
    E = 0
    first[0] = 0
    done = np.full((A, n + 1), -1, np.int32)  # C(b, e)
    half = np.full(A, -1, np.int32)  # I(b)
    xs = np.empty(n + 1, np.int32)
    ys = np.empty(n + 1, np.int32)
    order, by_length = _arcs_by_length(index, n)
    has_adjacent = len(adjacent) > 0
    has_outermost = len(outermost) > 0
    for d in range(1, n + 1):
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            rightward = m > h
            step = 1 if rightward else -1
            side0 = right[h] if rightward else start[h]
            scored = has_adjacent and parts.adjacent[b + 1] > parts.adjacent[b]
            only_first = h == 0 and single_root
            inner_side = 0 if rightward else 1
            c0 = start[m] if inner_side == 0 else right[m]
            for i in range(d):
                r = h + step * i  # end of h's half; m's inner half ends at r + step
                xs[i] = -1
                ys[i] = -1
                if only_first and i > 0:
                    continue
                begin = E
                if i == 0:
                    w = adjacent[parts.adjacent[b]] if scored else 0.0
                    if w > NEG_TEST:
                        left[E], rght[E], arc[E], weight[E] = 0, 0, A, w
                        E += 1
                else:
                    for s in range(side0, b):
                        if abs(mod[s] - h) > i:
                            break
                        if done[s, r] >= 0:
                            w = adjacent[parts.adjacent[b] + 1 + s - side0] if scored else 0.0
                            if w > NEG_TEST:
                                left[E], rght[E], arc[E], weight[E] = done[s, r], 0, A, w
                                E += 1
                if begin < E:
                    xs[i] = items
                    first[items] = begin
                    items += 1
                else:
                    continue
                begin = E
                if i == d - 1:
                    w = _none_score(index, parts, outermost, b, inner_side)
                    if w > NEG_TEST:
                        left[E], rght[E], arc[E], weight[E] = 0, 0, A, w
                        E += 1
                else:
                    for c in range(c0, c0 + parts.below[b, inner_side]):
                        if abs(mod[c] - m) > d - 1 - i:
                            break
                        if done[c, r + step] >= 0:
                            w = (
                                outermost[parts.outermost[b] + 2 + below_rank(index, parts, b, c)]
                                if has_outermost
                                else 0.0
                            )
                            if w > NEG_TEST:
                                left[E], rght[E], arc[E], weight[E] = done[c, r + step], 0, A, w
                                E += 1
                if begin < E:
                    ys[i] = items
                    first[items] = begin
                    items += 1
            begin = E
            for i in range(d):
                if xs[i] >= 0 and ys[i] >= 0:
                    left[E], rght[E], arc[E], weight[E] = xs[i], ys[i], b, 0.0
                    E += 1
            if begin < E:
                half[b] = items
                first[items] = begin
                items += 1
        # C(b, e) with |e - h| = d
        for b in range(A):
            if half[b] < 0:
                continue
            h, m = head[b], mod[b]
            rightward = m > h
            e = h + d if rightward else h - d
            if abs(m - h) > d or e > n or e < 1:
                continue
            outer_side = 1 if rightward else 0
            begin = E
            if e == m:
                w = _none_score(index, parts, outermost, b, outer_side)
                if w > NEG_TEST:
                    left[E], rght[E], arc[E], weight[E] = half[b], 0, A, w
                    E += 1
            else:
                c0 = start[m] if outer_side == 0 else right[m]
                for c in range(c0, c0 + parts.below[b, outer_side]):
                    if abs(mod[c] - m) > abs(e - m):
                        break
                    if done[c, e] >= 0:
                        w = outermost[parts.outermost[b] + 2 + below_rank(index, parts, b, c)] if has_outermost else 0.0
                        if w > NEG_TEST:
                            left[E], rght[E], arc[E], weight[E] = half[b], done[c, e], A, w
                            E += 1
            if begin < E:
                done[b, e] = items
                first[items] = begin
                items += 1
    begin = E
    for b in range(start[0], start[1]):
        if done[b, n] >= 0:
            left[E], rght[E], arc[E], weight[E] = done[b, n], 0, A, 0.0
            E += 1
    first[items] = begin
    items += 1
    first[items] = E
    return Hypergraph(first[: items + 1], left[:E], rght[:E], arc[:E], weight[:E])


@njit(cache=True, nogil=True)
def grandparent_sibling_graph(index, parts, n, single_root, adjacent, outermost, grandchild, limit):
    """Hypergraph in the shape of Koo & Collins (2010) Model 1; score arrays may be empty (family absent).

    S(s, b):    C(s, r) + C(b, r +- 1)              the span between two adjacent modifiers of h, over splits r
    I(a, b):    C(b, h +- 1)                        b is h's first modifier on its side, + adjacent-sibling(NONE, b)
                I(a, s) + S(s, b)                   + adjacent-sibling(s, b);   both + grandchild(a, b)
    C(a, e):    I(a, b) + C(b, e)                   b is h's outermost modifier up to e, + outermost-grandchild(a, b)
    goal:       C(b, 1) + C(b, n) for a single root b; else the automaton I(root, b), S(s, b) of node 0
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    into, into_start = index.into, index.into_start
    A = len(head)
    pairs = parts.grandchild[A]
    # upper bounds of the number of items and edges
    items_bound = np.int64(3) + pairs + A * np.int64(n + 1)
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
    if bound > limit:
        return _too_large()
    items_bound += between + A
    first = np.empty(items_bound + 1, np.int32)
    left = np.empty(bound, np.int32)
    rght = np.empty(bound, np.int32)
    arc = np.empty(bound, np.int32)
    weight = np.empty(bound, np.float64)
    items = 1
    E = 0
    first[0] = 0
    has_adjacent = len(adjacent) > 0
    has_outermost = len(outermost) > 0
    has_grandchild = len(grandchild) > 0
    done = np.full((A, n + 1), -1, np.int32)  # C(a, e), e != mod[a]
    half = np.full(pairs, -1, np.int32)  # I(a, b), at the grandchild part of (a, b)
    half_root = np.full(A, -1, np.int32)  # I(root, b)
    none = np.empty((A, 2), np.float64)
    for a in range(A):
        none[a, 0] = _none_score(index, parts, outermost, a, 0)
        none[a, 1] = _none_score(index, parts, outermost, a, 1)
    # pairs (s, b) of one side, grouped by |m - s|
    pair_at = np.zeros(A + 1, np.int64)
    for b in range(A):
        h, m = head[b], mod[b]
        single = h == 0 and single_root
        pair_at[b + 1] = pair_at[b] + (0 if single else b - (right[h] if m > h else start[h]))
    total = pair_at[A]
    span = np.full(total, -1, np.int32)  # S(s, b)
    pair_first = np.zeros(n + 2, np.int64)
    for b in range(A):
        k = pair_at[b + 1] - pair_at[b]
        for s in range(b - k, b):
            pair_first[abs(mod[b] - mod[s]) + 1] += 1
    for d in range(n + 1):
        pair_first[d + 1] += pair_first[d]
    pair_s = np.empty(total, np.int32)
    pair_b = np.empty(total, np.int32)
    fill = pair_first.copy()
    for b in range(A):
        k = pair_at[b + 1] - pair_at[b]
        for s in range(b - k, b):
            d = abs(mod[b] - mod[s])
            pair_s[fill[d]], pair_b[fill[d]] = s, b
            fill[d] += 1
    order, by_length = _arcs_by_length(index, n)
    for d in range(1, n + 1):
        # S(s, b) with |m - s| = d
        for q in range(pair_first[d], pair_first[d + 1]):
            s, b = pair_s[q], pair_b[q]
            x, y = (s, b) if mod[s] < mod[b] else (b, s)  # x is the left one
            begin = E
            lo, hi = mod[x], mod[y]
            for r in range(lo, hi):
                i = 0 if r == lo else done[x, r]
                j = 0 if r + 1 == hi else done[y, r + 1]
                if i >= 0 and j >= 0:
                    w = (none[x, 1] if r == lo else 0.0) + (none[y, 0] if r + 1 == hi else 0.0)
                    if w > NEG_TEST:
                        left[E], rght[E], arc[E], weight[E] = i, j, A, w
                        E += 1
            if begin < E:
                h = head[b]
                span[pair_at[b] + s - (right[h] if mod[b] > h else start[h])] = items
                first[items] = begin
                items += 1
        # I(a, b) with |m - h| = d
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            h, m = head[b], mod[b]
            rightward = m > h
            inner_side = 0 if rightward else 1
            side0 = right[h] if rightward else start[h]
            scored = has_adjacent and parts.adjacent[b + 1] > parts.adjacent[b]
            w_none = adjacent[parts.adjacent[b]] if scored else 0.0
            near = h + 1 if rightward else h - 1
            inner = 0 if near == m else done[b, near]
            w_inner = none[b, inner_side] if near == m else 0.0
            contexts = into_start[h + 1] - into_start[h] if h > 0 else 1
            for q in range(contexts):
                a = into[into_start[h] + q] if h > 0 else -1
                gp = -1
                w = 0.0
                if a >= 0:
                    rank = below_rank(index, parts, a, b)
                    if rank < 0:
                        continue
                    gp = parts.grandchild[a] + rank
                    if has_grandchild:
                        w = grandchild[gp]
                        if w <= NEG_TEST:
                            continue
                begin = E
                if inner >= 0 and w + w_none + w_inner > NEG_TEST:
                    left[E], rght[E], arc[E], weight[E] = inner, 0, b, w + w_none + w_inner
                    E += 1
                if a >= 0 or not single_root:
                    for s in range(side0, b):
                        i = half_root[s]
                        if a >= 0:
                            rank = below_rank(index, parts, a, s)
                            i = half[parts.grandchild[a] + rank] if rank >= 0 else -1
                        j = span[pair_at[b] + s - side0]
                        if i >= 0 and j >= 0:
                            w_s = adjacent[parts.adjacent[b] + 1 + s - side0] if scored else 0.0
                            if w + w_s > NEG_TEST:
                                left[E], rght[E], arc[E], weight[E] = i, j, b, w + w_s
                                E += 1
                if begin < E:
                    if a >= 0:
                        half[gp] = items
                    else:
                        half_root[b] = items
                    first[items] = begin
                    items += 1
        # C(a, e) with |e - h| = d
        for a in range(A):
            g, h = head[a], mod[a]
            for side in range(2):
                e = h - d if side == 0 else h + d
                if e < 1 or e > n or (side == 0 and g < h and e <= g) or (side == 1 and g > h and e >= g):
                    continue
                begin = E
                b0 = start[h] if side == 0 else right[h]
                base = parts.grandchild[a] + (0 if side == 0 else parts.below[a, 0])
                o_base = parts.outermost[a] + 2 + (0 if side == 0 else parts.below[a, 0])
                for q in range(parts.below[a, side]):
                    b = b0 + q
                    m = mod[b]
                    if abs(m - h) > d:
                        break
                    i = half[base + q]
                    j = 0 if m == e else done[b, e]
                    if i >= 0 and j >= 0:
                        w = outermost[o_base + q] if has_outermost else 0.0
                        if m == e:
                            w += none[b, side]
                        if w > NEG_TEST:
                            left[E], rght[E], arc[E], weight[E] = i, j, A, w
                            E += 1
                if begin < E:
                    done[a, e] = items
                    first[items] = begin
                    items += 1
    begin = E
    for b in range(start[0], start[1]):
        m = mod[b]
        j = 0 if m == n else done[b, n]
        i = half_root[b]
        if i >= 0 and j >= 0:
            w = none[b, 1] if m == n else 0.0
            if w > NEG_TEST:
                left[E], rght[E], arc[E], weight[E] = i, j, A, w
                E += 1
    first[items] = begin
    items += 1
    first[items] = E
    return Hypergraph(first[: items + 1], left[:E], rght[:E], arc[:E], weight[:E])
