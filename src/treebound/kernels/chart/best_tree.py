"""The tree that maximises a sum of weights: one interface to dynamic programs and to arborescences.

`graph` is the Hypergraph of a backbone for projective trees, or NO_GRAPH for all trees over the arcs of an ArcIndex.
Weights belong to variables 0 .. V - 1 (see `treebound.kernels.bounded`). The first A variables are arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.arborescence import ArborescenceScratch, arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import NEG, best_variables, compact, inside, mark
from treebound.kernels.reference import where_none
from treebound.support.jit import kernel


class OracleScratch(NamedTuple):
    """Working memory for items, edges, a tree (`stack`) and arborescences (`trees`).

    `value`, `best` and `outside` have one entry per item and hold the results of the last call. `keep` has one entry
    per edge. If `trees` is None, every graph is a Hypergraph, and no arborescences are compiled.
    """

    value: np.ndarray
    best: np.ndarray
    outside: np.ndarray
    keep: np.ndarray
    stack: np.ndarray
    trees: ArborescenceScratch | None


def _no_arborescences(crossing, graph, n, A):
    return None


@where_none(_no_arborescences)
def _trees_scratch(crossing, graph, n, A):
    return arborescence_scratch(n, A) if len(graph.first) == 0 else arborescence_scratch(0, 0)


@kernel
def oracle_scratch(crossing, graph, n, A):
    """Return scratch for sentences of n words and A arcs, and for the items and edges of `graph`.

    `crossing` is None if the graph is a Hypergraph in all calls, and any other value if it may be NO_GRAPH.
    """
    items, edges = max(0, len(graph.first) - 1), len(graph.left)
    return OracleScratch(
        np.empty(items + 1),
        np.empty(items + 1, np.int32),
        np.empty(items + 1),
        np.empty(edges, np.bool_),
        np.empty(2 * n + 8, np.int32),
        _trees_scratch(crossing, graph, n, A),
    )


def _no_tree(trees, index, weight, single_root, chosen, arc_max):
    return NEG


@where_none(_no_tree)
def _arborescence(trees, index, weight, single_root, chosen, arc_max):
    return arborescence(index, weight, len(index.right) - 1, single_root, chosen, arc_max, trees)


@kernel
def best_tree(graph, index, weight, single_root, chosen, scratch):
    """Return the largest weight of a tree, at most NEG_TEST if there is no tree.

    `tree_variables` returns this tree afterwards.
    """
    if len(graph.first) > 0:
        return inside(graph, weight, scratch.value, scratch.best)
    return _arborescence(scratch.trees, index, weight, single_root, chosen, weight[:0])


@kernel
def tree_variables(graph, index, chosen, scratch):
    """Return (score that the graph itself adds, number of variables) for the tree of the last call of `best_tree`.

    Write `chosen` int32[2 n + 1]: the variables of the tree.
    """
    if len(graph.first) > 0:
        return best_variables(graph, len(index.head), scratch.best, chosen, scratch.stack, True)
    return 0.0, len(index.right) - 1


@kernel
def bound_variables(graph, index, weight, single_root, cut, chosen, arc_max, scratch):
    """Return (number of edges, number of items) that occur in a tree with a weight above `cut`; (1, 0) for NO_GRAPH.

    Call this function after `best_tree`, with the same weights. Write `arc_max` float64[V]: for each variable, an upper
    bound on the weight of all trees with the variable. The bound is exact except for arborescences.
    """
    if len(graph.first) > 0:
        return mark(graph, weight, scratch.value, cut, scratch.outside, scratch.keep, arc_max)
    _arborescence(scratch.trees, index, weight, single_root, chosen, arc_max)
    return 1, 0


@kernel
def without_losers(graph, edges, items, scratch):
    """Return (graph without the edges that `bound_variables` excluded, True) if many edges were excluded.

    Otherwise, return (the graph itself, False). NO_GRAPH is returned unchanged, with True. `edges` and `items` are the
    results of `bound_variables`.
    """
    if len(graph.first) == 0:
        return graph, True
    if edges < 0.8 * len(graph.left):
        return compact(graph, scratch.outside, scratch.keep, edges, items), True
    return graph, False


@kernel
def mark_tree(index, theta, chosen, size, z, modifiers):
    """Mark the variables of a tree in z; return the score of the tree under theta. O(n).

    `z` int8[V] must be 0 before the call. Write `modifiers` int32[n + 1]: the number of modifiers of each word.
    """
    modifiers[:] = 0
    score = 0.0
    for i in range(size):
        z[chosen[i]] = 1
        score += theta[chosen[i]]
        if chosen[i] < len(index.head):
            modifiers[index.head[chosen[i]]] += 1
    return score


@kernel
def unmark_tree(chosen, size, z):
    """Remove the marks of a tree from z. O(n)."""
    for i in range(size):
        z[chosen[i]] = 0


@kernel
def keep_arcs(chosen, size, A, out):
    """Write the arcs among the chosen variables to `out` int32[n]."""
    c = 0
    for i in range(size):
        if chosen[i] < A:
            out[c] = chosen[i]
            c += 1
