"""Find the k best trees of a chart or of all arborescences, and the one that scores most under all families.

The trees other than the best one fall into disjoint sets, one for each word. The set of a word holds the trees that
agree with the best tree on all earlier words and differ on this word (Lawler 1972). Once k trees are known, all parts
of the chart that cannot lead to an equally good tree are removed, so that the many later sets cost little. Oracle:
tests/test_reranking.py enumerates all trees.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling.forest import lay
from treebound.kernels.chart.best_tree import (
    best_tree,
    bound_variables,
    keep_arcs,
    oracle_scratch,
    tree_variables,
    without_losers,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel


@kernel
def k_best(graph, index, weight, single_root, k):
    """Return (scores float64[t], arcs int32[t, n] by word, number of DP calls) of the t <= k best trees, best first.

    graph, index and weight are the arguments of `kernels.chart.best_tree`. O(k n) DP calls over the remaining chart,
    O(k A) memory.
    """
    A, n = len(index.head), len(index.right) - 1
    scratch = oracle_scratch(True, graph, n, A)
    chosen, listed = np.empty(2 * n + 1, np.int32), np.empty(n, np.int32)
    value, arcs = np.full(k, NEG), np.zeros((k, n), np.int32)
    banned, agreed = np.zeros((k, A), np.bool_), np.zeros(k, np.int64)
    done, order = np.zeros(k, np.bool_), np.full(k, NONE, np.int64)
    w, ban = weight.copy(), np.empty(A, np.bool_)
    value[0] = best_tree(graph, index, w, single_root, chosen, scratch)
    _keep(graph, index, chosen, scratch, value[0], listed, arcs[0])
    calls, count, full = 1, 0, False
    while count < k:
        top = _best_of_open(value, done)
        if top == NONE:
            break
        done[top] = True
        order[count] = top
        count += 1
        if count == k:
            break
        ban[:] = banned[top]
        for m in range(agreed[top] + 1, n + 1):
            a = arcs[top, m - 1]
            ban[a] = True
            for b in range(A):
                w[b] = NEG if ban[b] else weight[b]
            v = best_tree(graph, index, w, single_root, chosen, scratch)
            calls += 1
            place = _worst_of_open(value, done)
            if place != NONE and v > NEG_TEST and v > value[place]:
                _keep(graph, index, chosen, scratch, v, listed, arcs[place])
                value[place], agreed[place] = v, m - 1
                banned[place] = ban
            for i in range(index.into_start[m], index.into_start[m + 1]):
                ban[index.into[i]] = True
            ban[a] = False
        if not full and value.min() > NEG_TEST:
            full = True
            graph = _cut(graph, index, weight, single_root, value.min(), chosen, scratch)
            calls += 1
    return value[order[:count]], arcs[order[:count]], calls


@kernel
def _keep(graph, index, chosen, scratch, value, listed, out):
    """Write the arc into each word of the last tree of `best_tree` to `out` int32[n], unless `value` means no tree."""
    if value <= NEG_TEST:
        return
    _, size = tree_variables(graph, index, chosen, scratch)
    keep_arcs(chosen, size, len(index.head), listed)
    for a in listed:
        out[index.mod[a] - 1] = a


@kernel
def _cut(graph, index, weight, single_root, least, chosen, scratch):
    """Return the graph with only the edges of trees that score at least `least`.

    Arcs that no such tree has get the weight NEG.
    """
    bound = np.empty(len(weight))
    least -= 1e-9 * max(1.0, abs(least))
    best_tree(graph, index, weight, single_root, chosen, scratch)
    edges, items = bound_variables(graph, index, weight, single_root, least, chosen, bound, scratch)
    for a in range(len(index.head)):
        if bound[a] < least:
            weight[a] = NEG
    return without_losers(graph, edges, items, scratch)[0]


@kernel
def _best_of_open(value, done):
    """Return the index of the best tree that is not marked as done, the first among equal trees, or NONE."""
    top = NONE
    for i in range(len(value)):
        if not done[i] and value[i] > NEG_TEST and (top == NONE or value[i] > value[top]):
            top = i
    return top


@kernel
def _worst_of_open(value, done):
    """Return the index of the worst tree that is not marked as done, which a better tree may overwrite, or NONE."""
    worst = NONE
    for i in range(len(value)):
        if not done[i] and (worst == NONE or value[i] < value[worst]):
            worst = i
    return worst


@kernel
def best_in_full(ints, reals, arcs):
    """Return (score, index) of the tree in `arcs` int32[t, n] that scores most under all families of the buffers."""
    best_score, best = NEG, 0
    for i in range(len(arcs)):
        score = lay(ints, reals, arcs[i])
        if score > best_score:
            best_score, best = score, i
    return best_score, best
