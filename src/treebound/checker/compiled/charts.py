"""The chart of `treebound.checker.chart` as arrays of edges, built and pruned by the same rules in int64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.checker.compiled.tables import NO, Arcs, Tables
from treebound.support.jit import kernel


class Edges(NamedTuple):
    """Edges of a chart, ordered such that every item is complete before it is used; the goal is item 0.

    head, left, right  int32[E]: the item that the edge builds, and the two items it is built from; -1 for none
    arc                int32[E]: the arc that the edge selects, -1 for none
    pair               int64[E]: the adjacent pair that the edge completes, as a position in `Tables.adjacent`; -1 for
                       none
    score              int64[E]: score of the families of the chart, without arcs
    items              number of items
    """

    head: np.ndarray
    left: np.ndarray
    right: np.ndarray
    arc: np.ndarray
    pair: np.ndarray
    score: np.ndarray
    items: int


class _Items(NamedTuple):
    """The number of every item, or -1 as long as the item has no edge.

    A slot stands for a word in an item. If items keep the arc into their word (`heads`), the slot is that arc, or A for
    the root; otherwise the slot is the word. The head is h, with deg arcs to possible modifiers; s and b are such arcs.

    - `complete`: C(slot, e, side) at (slot (n + 1) + e) 2 + side
    - `half`: I(slot, b) at half_at[slot] + rank(b)
    - `between`: S(s, b) at between_at[h] + rank(s) deg + rank(b)
    - `half_at`: the index in `half` at which the items of a slot begin
    - `between_at`: the index in `between` at which the items of a head begin
    - `sizes`, int64[2]: numbers of edges and of items so far
    """

    complete: np.ndarray
    half: np.ndarray
    half_at: np.ndarray
    between: np.ndarray
    between_at: np.ndarray
    sizes: np.ndarray
    heads: bool


class _Chart(NamedTuple):
    """The arguments of `build` from which edges are made, and the numbers of the items that are built so far."""

    n: int
    alive: np.ndarray
    arcs: Arcs
    scores: Tables
    adjacent_at: np.ndarray
    items: _Items


@kernel
def _no_items(n, arcs, heads):
    """Return the tables of item numbers, in which no item has a number yet.

    heads  whether items keep the arc into their head
    """
    A, deg = len(arcs.head), np.diff(arcs.out_first)
    slots = A + 1 if heads else n + 1
    half_at, between_at = np.zeros(slots + 1, np.int64), np.zeros(n + 2, np.int64)
    for slot in range(slots):
        word = (0 if slot == A else arcs.mod[slot]) if heads else slot
        half_at[slot + 1] = half_at[slot] + deg[word]
    for h in range(n + 1):
        between_at[h + 1] = between_at[h] + deg[h] * deg[h]
    complete = np.full(slots * (n + 1) * 2, -1, np.int64)
    half, between = np.full(half_at[slots], -1, np.int64), np.full(between_at[n + 1], -1, np.int64)
    return _Items(complete, half, half_at, between, between_at, np.array([0, 1]), heads)


@kernel
def _add(edges, sizes, table, place, fields):
    """Append an edge and return the array of edges, which is enlarged if it is full.

    edges, sizes  edges int64[.., 6], and the numbers of edges and items so far
    table, place  table of item numbers, and the position in it of the item that the edge builds
    fields        the other fields of the edge: left, right, arc, pair, score
    """
    if table[place] < 0:
        table[place] = sizes[1]
        sizes[1] += 1
    if sizes[0] == len(edges):
        edges = np.concatenate((edges, np.empty_like(edges)))
    row = edges[sizes[0]]
    row[0] = table[place]
    row[1], row[2], row[3], row[4], row[5] = fields
    sizes[0] += 1
    return edges


@kernel
def _above(arcs, heads, h):
    """Return the range (first, end) of positions in `Arcs.into` that hold the arcs into word h.

    The range is (0, 1) if h is the root, or if items do not store the arc into their head (`heads` is False).
    """
    if heads and h > 0:
        return arcs.into_first[h], arcs.into_first[h + 1]
    return 0, 1


@kernel
def _slot(arcs, heads, h, j):
    """Return (arc, slot) for position j of the range that `_above` returns for word h.

    arc   the arc into h at position j of `Arcs.into`; -1 if h is the root or items do not store this arc
    slot  the slot of h with this arc, see `_Items`
    """
    if not heads:
        return -1, h
    return (-1, len(arcs.head)) if h == 0 else (arcs.into[j], arcs.into[j])


@kernel
def _between_siblings(edges, chart, h, d, width):
    """Add the edges that build items S of head h on side d, where `width` is the distance from s to m."""
    n, alive, arcs, _, _, items = chart
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    side = (d + 1) // 2
    for i in range(deg):
        nearer = arcs.out[arcs.out_first[h] + i]
        s = arcs.mod[nearer]
        m = s + d * width
        if (s - h) * d <= 0 or not alive[nearer] or m < 1 or m > n:
            continue
        b = arcs.number[h, m]
        if b < 0 or not alive[b]:
            continue
        place = items.between_at[h] + i * deg + arcs.rank_out[b]
        slot_s, slot_m = (nearer, b) if items.heads else (s, m)
        r = s
        while r != m:
            left = items.complete[(slot_s * (n + 1) + r) * 2 + side]
            right = items.complete[(slot_m * (n + 1) + r + d) * 2 + 1 - side]
            if left >= 0 and right >= 0:
                edges = _add(edges, items.sizes, items.between, place, (left, right, -1, -1, 0))
            r += d
    return edges


@kernel
def _incomplete(edges, chart, h, d, width):
    """Add the edges that build items I of head h on side d, where `width` is the distance from h to m."""
    n, alive, arcs, scores, adjacent_at, items = chart
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    m = h + d * width
    if m < 1 or m > n or arcs.number[h, m] < 0 or not alive[arcs.number[h, m]]:
        return edges
    b = arcs.number[h, m]
    inner = items.complete[((b if items.heads else m) * (n + 1) + h + d) * 2 + (1 - d) // 2]
    first, last = _above(arcs, items.heads, h)
    for j in range(first, last):
        x, slot = _slot(arcs, items.heads, h, j)
        if x >= 0 and not alive[x]:
            continue
        for i in range(-1, deg):
            left, right = inner, np.int64(-1)
            if i >= 0:
                nearer = arcs.out[arcs.out_first[h] + i]
                away = (arcs.mod[nearer] - h) * d
                if not alive[nearer] or away <= 0 or away >= width:
                    continue
                left = items.half[items.half_at[slot] + i]
                right = items.between[items.between_at[h] + i * deg + arcs.rank_out[b]]
                if right < 0:
                    continue
            score = modifier_score(arcs, scores, deg, h, x, i, b)
            if left >= 0 and score != NO:
                pair = adjacent_at[h] + arcs.rank_out[b] * (deg + 1) + i + 1
                place = items.half_at[slot] + arcs.rank_out[b]
                edges = _add(edges, items.sizes, items.half, place, (left, right, b, pair, score))
    return edges


@kernel
def _complete(edges, chart, h, d, width):
    """Add the edges that build items C of head h on side d, where `width` is the distance from h to e."""
    n, alive, arcs, scores, _, items = chart
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    e, side = h + d * width, (d + 1) // 2
    if (e < 1 or e > n) and e != h:
        return edges
    first, last = _above(arcs, items.heads, h)
    for j in range(first, last):
        x, slot = _slot(arcs, items.heads, h, j)
        if x >= 0 and not alive[x]:
            continue
        place = (slot * (n + 1) + e) * 2 + side
        if width == 0:
            score = end_score(arcs, scores, deg, h, x, side, -1)
            if score != NO:
                edges = _add(edges, items.sizes, items.complete, place, (-1, -1, -1, -1, score))
            continue
        for i in range(deg):
            b = arcs.out[arcs.out_first[h] + i]
            away = (arcs.mod[b] - h) * d
            if not alive[b] or away <= 0 or away > width:
                continue
            left = items.half[items.half_at[slot] + i]
            right = items.complete[((b if items.heads else arcs.mod[b]) * (n + 1) + e) * 2 + side]
            score = end_score(arcs, scores, deg, h, x, side, i)
            if left >= 0 and right >= 0 and score != NO:
                edges = _add(edges, items.sizes, items.complete, place, (left, right, -1, -1, score))
    return edges


@kernel
def build(n, single_root, alive, arcs, scores, heads, adjacent_at):
    """Build a chart, and return its edges (int64[E, 6], the fields of `Edges` in order) and its number of items.

    alive        bool[A]: arcs that are not forbidden
    scores       `Tables` of the families that the chart scores
    heads        whether items keep the arc into their head
    adjacent_at  number of the first adjacent pair of each head

    Takes O(E) time for E edges.
    """
    items = _no_items(n, arcs, heads)
    chart = _Chart(n, alive, arcs, scores, adjacent_at, items)
    edges = np.empty((1024, 6), np.int64)
    for width in range(n + 1):
        for h in range(1 if single_root else 0, n + 1):
            for d in (-1, 1):
                if width > 0:
                    edges = _between_siblings(edges, chart, h, d, width)
                    edges = _incomplete(edges, chart, h, d, width)
                edges = _complete(edges, chart, h, d, width)
    goal = np.zeros(1, np.int64)
    if single_root:
        for i in range(arcs.out_first[0], arcs.out_first[1]):
            a = arcs.out[i]
            first = (a if heads else arcs.mod[a]) * (n + 1)
            left, right = items.complete[(first + 1) * 2], items.complete[(first + n) * 2 + 1]
            if alive[a] and left >= 0 and right >= 0:
                edges = _add(edges, items.sizes, goal, 0, (left, right, a, -1, 0))
    else:
        whole = items.complete[((len(arcs.head) if heads else 0) * (n + 1) + n) * 2 + 1]
        if whole >= 0:
            edges = _add(edges, items.sizes, goal, 0, (whole, -1, -1, -1, 0))
    return edges[: items.sizes[0]].copy(), items.sizes[1]


@kernel
def modifier_score(arcs, scores, deg, h, x, s, b):
    """Return the score that modifier arc b adds; NO (-inf) if it is forbidden.

    deg  number of arcs out of h
    x    arc into h, or -1
    s    rank of the modifier before b, which is nearer to h; -1 if b is the first on its side
    """
    rank = arcs.rank_out[b]
    total = np.int64(0)
    if len(scores.adjacent) > 0:
        score = scores.adjacent[scores.adjacent_at[h] + rank * (deg + 1) + s + 1]
        if score == NO:
            return NO
        total += score
    if x >= 0 and len(scores.grandchild) > 0:
        score = scores.grandchild[scores.grandchild_at[h] + arcs.rank_in[x] * deg + rank]
        if score == NO:
            return NO
        total += score
    if x >= 0 and len(scores.grand) > 0:
        score = scores.grand[scores.grand_at[h] + (arcs.rank_in[x] * (deg + 1) + s + 1) * deg + rank]
        if score == NO:
            return NO
        total += score
    return total


@kernel
def end_score(arcs, scores, deg, h, x, side, last):
    """Return the score that the farthest modifier of a side adds; NO (-inf) if it is forbidden.

    deg   number of arcs out of h
    x     arc into h, or -1
    side  0 for left, 1 for right
    last  rank of the farthest modifier, or -1
    """
    if x < 0 or len(scores.outermost) == 0:
        return np.int64(0)
    place = last + 2
    if last < 0:
        place = 0 if (arcs.head[x] > h) == (side == 1) else 1
    return scores.outermost[scores.outermost_at[h] + arcs.rank_in[x] * (deg + 2) + place]


@kernel
def above(edges, arc_score, pair_score, threshold):
    """Return bool[E]: the edges whose best derivation scores more than `threshold`.

    The threshold NO (-inf) accepts any derivation.

    pair_score  int64, indexed by `Edges.pair`; empty if no pair has a score
    """
    count = len(edges.head)
    inside = np.full(edges.items, NO, np.int64)
    outside = np.full(edges.items, NO, np.int64)
    scores = edges.score.copy()
    for i in range(count):
        if edges.arc[i] >= 0:
            scores[i] += arc_score[edges.arc[i]]
        if len(pair_score) > 0 and edges.pair[i] >= 0:
            scores[i] += pair_score[edges.pair[i]]
        total = scores[i]
        left, right = edges.left[i], edges.right[i]
        if (left >= 0 and inside[left] == NO) or (right >= 0 and inside[right] == NO):
            continue
        if left >= 0:
            total += inside[left]
        if right >= 0:
            total += inside[right]
        if total > inside[edges.head[i]]:
            inside[edges.head[i]] = total
    outside[0] = 0
    keep = np.zeros(count, np.bool_)
    for i in range(count - 1, -1, -1):
        left, right = edges.left[i], edges.right[i]
        if outside[edges.head[i]] == NO or (left >= 0 and inside[left] == NO) or (right >= 0 and inside[right] == NO):
            continue
        total = outside[edges.head[i]] + scores[i]
        if left >= 0:
            total += inside[left]
        if right >= 0:
            total += inside[right]
        keep[i] = total > threshold
        if left >= 0:
            outside[left] = max(outside[left], total - inside[left])
        if right >= 0:
            outside[right] = max(outside[right], total - inside[right])
    return keep
