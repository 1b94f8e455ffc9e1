"""The best tree of scores of arcs alone, without a hypergraph or pointers: of a dense matrix, or of candidate arcs.

For scores of arcs alone, where nothing is bounded. Where a parser is sure of itself, the best heads of all words mostly
make up a tree, which is then the best one; else Eisner's algorithm (1996) finds it, or that of Chu & Liu and Edmonds
(`treebound.kernels.chart.dense_arborescence`) where arcs may cross. Oracle: tests/test_scores.py enumerates trees.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.backbones import arcs_by_length
from treebound.kernels.chart.dense_arborescence import dense_arborescence
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel

FOUND, NO_TREE, NOT_A_SCORE = range(3)


@kernel
def best_tree(score, projective, single_root, heads):
    """Return (FOUND, NO_TREE or NOT_A_SCORE, score of the best tree, largest absolute score, their sum).

    score      float64[n + 1, n + 1], score[h, m] that of the arc from head h to modifier m; -inf forbids an arc. What
               stands on the diagonal and in column 0 is no arc, and is not looked at
    projective, single_root  the trees among which it is the best
    heads      int32[n + 1] OUT: the tree, heads[0] = -1, if one was found; all 0 if not
    NOT_A_SCORE: NaN or +inf somewhere. O(n^2) where arcs may cross, O(n^3) for projective trees, space O(n^2).

    Python calls `BEST_TREE[projective]`, which compiles the search of that space alone.
    """
    if projective:
        return best_projective_tree(score, single_root, heads)
    return best_crossing_tree(score, single_root, heads)


@kernel
def best_projective_tree(score, single_root, heads):
    """`best_tree` among projective trees."""
    outcome, complete, largest, total = _best_heads(score, heads)
    if outcome == FOUND and not (complete and is_tree(heads, True, single_root)):
        outcome = FOUND if eisner(score, single_root, heads) else NO_TREE
    return outcome, _value(score, heads, outcome), largest, total


@kernel
def best_crossing_tree(score, single_root, heads):
    """`best_tree` among all trees."""
    outcome, complete, largest, total = _best_heads(score, heads)
    if outcome == FOUND and not (complete and is_tree(heads, False, single_root)):
        outcome = FOUND if dense_arborescence(score, single_root, heads) else NO_TREE
    return outcome, _value(score, heads, outcome), largest, total


BEST_TREE = {True: best_projective_tree, False: best_crossing_tree}


@kernel
def _best_heads(score, heads):
    """Return (FOUND or NOT_A_SCORE, whether every word has a head, largest absolute score, their sum).

    heads  int32[n + 1] OUT: the best head of every word, 0 if it has none; heads[0] = -1
    """
    n = len(score) - 1
    heads[:] = 0
    heads[0] = -1
    best = np.full(n + 1, NEG)
    largest = 0.0
    total = 0.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            x = score[h, m]
            if h == m or x == -np.inf:
                continue
            if not x < np.inf:
                return NOT_A_SCORE, False, 0.0, 0.0
            largest = max(largest, abs(x))
            total += abs(x)
            if x > best[m]:
                best[m] = x
                heads[m] = h
    return FOUND, best[1:].min() > NEG, largest, total


@kernel
def _value(score, heads, outcome):
    """Return the score of a tree; -inf without one, whose heads become 0, and 0 where something was no score."""
    if outcome == NO_TREE:
        heads[1:] = 0
        return -np.inf
    if outcome == NOT_A_SCORE:
        return 0.0
    value = 0.0
    for m in range(1, len(heads)):
        value += score[heads[m], m]
    return value


@kernel
def is_tree(heads, projective, single_root):
    """Whether heads int32[n + 1] are a tree of the space. O(n), projective O(n^2)."""
    n = len(heads) - 1
    seen = np.zeros(n + 1, np.int32)  # the word from which a walk up came here
    roots = 0
    for m in range(1, n + 1):
        roots += heads[m] == 0
        at = m
        while at > 0 and seen[at] == 0:
            seen[at] = m
            at = heads[at]
        if at > 0 and seen[at] == m:
            return False
    if single_root and roots > 1:
        return False
    if projective:
        for m in range(1, n + 1):
            low, high = min(m, heads[m]), max(m, heads[m])
            for k in range(low + 1, high):
                if heads[k] < low or heads[k] > high:
                    return False
    return True


@kernel
def eisner(score, single_root, heads):
    """Find the best projective tree of a matrix; return whether there is one. O(n^3) time, O(n^2) space.

    score   as in `best_tree`
    heads   int32[n + 1] OUT: heads[1:] of the best tree; ties go to the leftmost split. Unchanged if there is none

    Spans follow Eisner (1996), Figure 3: `right[i, j]` is head i with its modifiers up to j, `left[i, j]` head j with
    its modifiers down to i; `to_right` and `to_left` contain the arc between i and j as well. Spans that begin at i are
    completed from the shortest to the longest. Each complete span is at once joined with all spans that continue it:
    one pass over a row, which processors do for many numbers at a time. The split of a span is searched for when the
    span is part of the best tree: storing the splits of all spans would cost more than the maxima.
    """
    n = len(score) - 1
    right, to_right = np.full((n + 1, n + 1), NEG), np.full((n + 1, n + 1), NEG)
    left, to_left = np.full((n + 1, n + 1), NEG), np.full((n + 1, n + 1), NEG)
    # [j]: the best joins so far that make up a span from i to j: between two heads, of head i, and of head j
    facing, of_first, of_last = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    least = 1 if single_root else 0  # with one root its arc is chosen at the end
    for i in range(n, least - 1, -1):
        facing[:] = NEG
        of_first[:] = NEG
        of_last[:] = NEG
        right[i, i] = left[i, i] = 0.0
        for k in range(i, n + 1):
            if k > i:
                to_right[i, k] = max(NEG, facing[k] + score[i, k])
                if i > 0:
                    to_left[i, k] = max(NEG, facing[k] + score[k, i])
                right[i, k] = max(of_first[k], to_right[i, k])
                left[i, k] = max(of_last[k], to_left[i, k])
            if k < n:
                _join(facing[k + 1 :], right[i, k], left[k + 1, k + 1 :])
                _join(of_first[k + 1 :], to_right[i, k], right[k, k + 1 :])
                _join(of_last[k + 1 :], left[i, k], to_left[k, k + 1 :])
    root = 0
    if single_root:
        best = NEG_TEST
        for m in range(1, n + 1):
            x = score[0, m] + left[1, m] + right[m, n]
            if x > best:
                best, root = x, m
        if root == 0:
            return False
        heads[root] = 0
    elif right[0, n] <= NEG_TEST:
        return False
    stack = np.empty((2 * n + 4, 3), np.int32)  # spans to be opened: head, other end, whether it holds their arc
    stack[0, 0], stack[0, 1], stack[0, 2] = root, least, 0
    stack[1, 0], stack[1, 1], stack[1, 2] = root, n, 0
    top = 2
    while top > 0:
        top -= 1
        h, e, has_arc = stack[top, 0], stack[top, 1], stack[top, 2]
        if h == e:
            continue
        i, j = min(h, e), max(h, e)
        if has_arc:
            heads[e] = h
            k = i + _first_best(right[i, i:j], left[i + 1 : j + 1, j])
            stack[top, 0], stack[top, 1], stack[top, 2] = i, k, 0
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = j, k + 1, 0
        else:
            if h < e:
                k = i + 1 + _first_best(to_right[i, i + 1 : j + 1], right[i + 1 : j + 1, j])
            else:
                k = i + _first_best(left[i, i:j], to_left[i:j, j])
            stack[top, 0], stack[top, 1], stack[top, 2] = h, k, 1
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = k, e, 0
        top += 2
    return True


@kernel(inline="always")
def _join(best, span, row):
    """Join one span with all spans that continue it; keep the better score for each."""
    for j in range(len(best)):  # from 0, so that the compiler knows that no index is negative
        x = span + row[j]
        best[j] = x if x > best[j] else best[j]


@kernel
def _first_best(one, other):
    """Return the first place where the sum of two spans is largest."""
    place, best = 0, one[0] + other[0]
    for k in range(1, len(one)):
        x = one[k] + other[k]
        if x > best:
            place, best = k, x
    return place


@kernel
def best_candidates(index, score, single_root, into):
    """Score of the best projective tree of candidate arcs, NEG if there is none; OUT int32[n] into: its arcs by word.

    index  ArcIndex
    score  float64[>= A]; NEG forbids an arc

    The tree that `hypergraph.inside` finds in an `eisner_graph`, ties included: sums are added in the same order, and
    the first of equal splits or arcs wins. Memory is 16 (n + 1)^2 bytes and 8 an arc, however many splits there are:
    the O(n) spans of the best tree find their splits again. O(n^2 k), with all arcs O(n^3).
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    n, A = len(right) - 1, len(head)
    done = np.full((n + 1, n + 1), NEG)  # C(h, e) at [h, e]: h with its modifiers up to e
    ends = np.full((n + 1, n + 1), NEG)  # the same at [e, h], so that modifiers of h are read in one row
    half = np.full(A, NEG)  # I(b): the words between the ends of arc b, which it holds
    for h in range(n + 1):
        done[h, h] = ends[h, h] = 0.0
    order, by_length = arcs_by_length(index, n)
    for d in range(1, n + 1):
        for o in range(by_length[d], by_length[d + 1]):
            b = order[o]
            if head[b] == 0 and single_root:
                continue
            lo, hi = min(head[b], mod[b]), max(head[b], mod[b])
            half[b] = _possible(_best_split(score[b], done[lo], done[hi], lo, hi))
        for h in range(1 if single_root else 0, n + 1):
            if h - d >= 1:
                done[h, h - d] = ends[h - d, h] = _best_last(index, half, ends[h - d], start[h], right[h], h, d)
            if h + d <= n:
                done[h, h + d] = ends[h + d, h] = _best_last(index, half, ends[h + d], right[h], start[h + 1], h, d)
    value, root = done[0, n], -1
    if single_root:
        value = NEG_TEST
        for b in range(start[0], start[1]):
            x = score[b] + done[mod[b], 1] + done[mod[b], n]
            if x > value:
                value, root = x, b
    if value <= NEG_TEST:
        return NEG
    stack = np.empty((2 * n + 4, 2), np.int32)  # heads and ends of the spans to be opened
    stack[0, 0], stack[0, 1] = 0, n
    top = 1
    if root >= 0:
        into[mod[root] - 1] = root
        stack[0, 0], stack[0, 1], stack[1, 0], stack[1, 1] = mod[root], 1, mod[root], n
        top = 2
    while top > 0:
        top -= 1
        h, e = stack[top, 0], stack[top, 1]
        if h == e:
            continue
        b = start[h] if e < h else right[h]
        while half[b] + ends[e, mod[b]] != done[h, e]:
            b += 1
        m = mod[b]
        into[m - 1] = b
        lo, hi = min(h, m), max(h, m)
        r = lo
        while score[b] + done[lo, r] + done[hi, r + 1] != half[b]:
            r += 1
        stack[top, 0], stack[top, 1] = m, e
        stack[top + 1, 0], stack[top + 1, 1] = lo, r
        stack[top + 2, 0], stack[top + 2, 1] = hi, r + 1
        top += 3
    return value


@kernel(inline="always")
def _possible(x):
    return x if x > NEG_TEST else NEG


@kernel(fastmath={"nnan", "nsz"})
def _best_split(score, one, other, first, last):
    """The largest score + one[k] + other[k + 1] for first <= k < last, not below NEG."""
    best = NEG
    for k in range(first, last):
        best = max(best, score + one[k] + other[k + 1])
    return best


@kernel(fastmath={"nnan", "nsz"})
def _best_last(index, half, ends, low, end, h, d):
    """C(h, e): the best of the arcs low .. end - 1 of h, at most d long, as its last one; ends[m] is C(m, e)."""
    best = NEG
    for b in range(low, end):
        m = index.mod[b]
        if abs(m - h) > d:
            break
        best = max(best, half[b] + ends[m])
    return best if best > NEG_TEST else NEG
