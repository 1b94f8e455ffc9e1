"""The best tree under scores of arcs only, without a hypergraph or back pointers, for a dense matrix or candidate arcs.

If a parser is confident, the best heads of all words usually form a tree, which is then the best tree. Otherwise,
Eisner's algorithm (1996) finds the best projective tree. The algorithm of Chu & Liu and Edmonds
(`treebound.kernels.chart.dense_arborescence`) finds the best non-projective tree. Oracle: tests/test_scores.py
enumerates trees.
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
    """Return (FOUND, NO_TREE or NOT_A_SCORE; score of the best tree; largest absolute score; sum of absolute scores).

    - `score`: float64[n + 1, n + 1]. score[h, m] belongs to the arc from head h to modifier m; -inf forbids an arc. The
      diagonal and column 0 are never read.
    - `projective`, `single_root`: the set of trees.
    - `heads`: int32[n + 1], written. The best tree with heads[0] = -1, or 0 for all words if there is no tree.

    NOT_A_SCORE means that a score is NaN or +inf. O(n^2) for non-projective trees, O(n^3) for projective trees, space
    O(n^2).

    Python calls `BEST_TREE[projective]`, so that only the search of one space is compiled.
    """
    if projective:
        return best_projective_tree(score, single_root, heads)
    return best_crossing_tree(score, single_root, heads)


@kernel
def best_projective_tree(score, single_root, heads):
    """Find the best projective tree, with the arguments and results of `best_tree`."""
    outcome, complete, largest, total = _best_heads(score, heads)
    if outcome == FOUND and not (complete and is_tree(heads, True, single_root)):
        outcome = FOUND if eisner(score, single_root, heads) else NO_TREE
    return outcome, _value(score, heads, outcome), largest, total


@kernel
def best_crossing_tree(score, single_root, heads):
    """Find the best tree, projective or not, with the arguments and results of `best_tree`."""
    outcome, complete, largest, total = _best_heads(score, heads)
    if outcome == FOUND and not (complete and is_tree(heads, False, single_root)):
        outcome = FOUND if dense_arborescence(score, single_root, heads) else NO_TREE
    return outcome, _value(score, heads, outcome), largest, total


BEST_TREE = {True: best_projective_tree, False: best_crossing_tree}


@kernel
def _best_heads(score, heads):
    """Return (FOUND or NOT_A_SCORE, whether every word has a head, largest absolute score, sum of absolute scores).

    `heads` int32[n + 1] is written: the best head of every word, 0 if it has none; heads[0] = -1.
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
    """Return the score of a tree, -inf if there is no tree, or 0 if a score is NaN or +inf.

    If there is no tree, all heads are set to 0. `outcome` is FOUND, NO_TREE or NOT_A_SCORE.
    """
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
    """Return whether heads int32[n + 1] are a tree of the space. O(n), for projective trees O(n^2)."""
    n = len(heads) - 1
    seen = np.zeros(n + 1, np.int32)  # the word whose path to the root visited the node
    roots = 0
    for m in range(1, n + 1):
        roots += heads[m] == 0
        node = m
        while node > 0 and seen[node] == 0:
            seen[node] = m
            node = heads[node]
        if node > 0 and seen[node] == m:
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

    - `score`: as in `best_tree`.
    - `heads`: int32[n + 1]; heads[1:] of the best tree are written. Unchanged if there is no tree. Ties go to the
      leftmost split.

    The spans follow Eisner (1996), Figure 3. In `right[i, j]`, word i is the head, and its modifiers reach up to j. In
    `left[i, j]`, word j is the head, and its modifiers reach down to i. The spans `to_right` and `to_left` contain the
    arc between i and j as well. Spans that begin at i are completed from the shortest to the longest. Each complete
    span is immediately joined with all spans that continue it. This is one pass over a row, which the processor
    vectorises. The split of a span is only searched for if the span is part of the best tree, because storing the
    splits of all spans would take longer than computing the maxima.
    """
    n = len(score) - 1
    right, to_right = np.full((n + 1, n + 1), NEG), np.full((n + 1, n + 1), NEG)
    left, to_left = np.full((n + 1, n + 1), NEG), np.full((n + 1, n + 1), NEG)
    # [j]: the best joins so far for a span from i to j: between two heads, of head i, and of head j
    facing, of_first, of_last = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    first_word = 1 if single_root else 0  # the arc of a single root is chosen at the end
    for i in range(n, first_word - 1, -1):
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
    stack = np.empty((2 * n + 4, 3), np.int32)  # spans to be expanded: head, other end, whether their arc is inside
    stack[0, 0], stack[0, 1], stack[0, 2] = root, first_word, 0
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
    """Join a span with all spans that continue it: raise best[j] to span + row[j], the score of join j, if higher."""
    for j in range(len(best)):  # from 0, so that the compiler knows that no index is negative
        x = span + row[j]
        best[j] = x if x > best[j] else best[j]


@kernel
def _first_best(first_spans, second_spans):
    """Return the first index at which the sum of two arrays of span scores is largest."""
    index, best = 0, first_spans[0] + second_spans[0]
    for k in range(1, len(first_spans)):
        x = first_spans[k] + second_spans[k]
        if x > best:
            index, best = k, x
    return index


@kernel
def best_candidates(index, score, single_root, into):
    """Return the best score of a projective tree of candidate arcs, or NEG; write its arcs by word to `into` int32[n].

    - `index`: ArcIndex.
    - `score`: float64[>= A]; NEG forbids an arc.

    The tree is the one that `hypergraph.inside` finds in an `eisner_graph`, also in case of ties. Sums are computed in
    the same order, and the first of equal splits or arcs is chosen. Memory is 16 (n + 1)^2 bytes plus 8 bytes per arc,
    independent of the number of splits: splits are searched only for the O(n) spans of the best tree. Time is O(n^2 k),
    with all arcs O(n^3).
    """
    head, mod, start, right = index.head, index.mod, index.start, index.right
    n, A = len(right) - 1, len(head)
    done = np.full((n + 1, n + 1), NEG)  # C(h, e) at [h, e]: h with its modifiers up to e
    ends = np.full((n + 1, n + 1), NEG)  # C(h, e) at [e, h], so that the modifiers of h are in one row
    half = np.full(A, NEG)  # I(b): the words between the ends of arc b, including the arc
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
    stack = np.empty((2 * n + 4, 2), np.int32)  # heads and ends of the spans to be expanded
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
def _best_split(score, x, y, first, last):
    """Return the largest score + x[k] + y[k + 1] for first <= k < last, at least NEG."""
    best = NEG
    for k in range(first, last):
        best = max(best, score + x[k] + y[k + 1])
    return best


@kernel(fastmath={"nnan", "nsz"})
def _best_last(index, half, ends, low, end, h, d):
    """Return C(h, e), the best score of head h with modifiers up to e. O(end - low).

    The last arc of h is chosen among its arcs low .. end - 1 of length at most d.

    For an arc b = (h, m), half[b] is I(b), and ends[m] is C(m, e).
    """
    best = NEG
    for b in range(low, end):
        m = index.mod[b]
        if abs(m - h) > d:
            break
        best = max(best, half[b] + ends[m])
    return best if best > NEG_TEST else NEG
