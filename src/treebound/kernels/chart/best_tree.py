"""The tree that maximises a sum of weights: one interface to dynamic programs and to arborescences.

`graph` is the Hypergraph of a backbone (projective trees), or None (all trees, over the arcs of an ArcIndex). Weights
are of variables 0 .. V - 1 (see `treebound.kernels.bounded`), the first A of which are arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.kernels.chart.arborescence import ArborescenceScratch, arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import best_variables, compact, inside, mark


class OracleScratch(NamedTuple):
    """Working memory: of items (value, best, outside), edges (keep), a tree (stack), arborescences.

    `value`, `best` and `outside` hold on to the last call until the next one.
    """

    value: np.ndarray
    best: np.ndarray
    outside: np.ndarray
    keep: np.ndarray
    stack: np.ndarray
    trees: ArborescenceScratch


@njit(cache=True, nogil=True)
def oracle_scratch(graph, n, A):
    """Scratch for sentences of n words and A arcs, and all that is left of `graph` later."""
    items, edges, arcs = 0, 0, A
    if graph is not None:
        items, edges, arcs = len(graph.first) - 1, len(graph.left), 0
    return OracleScratch(
        np.empty(items + 1, np.float64),
        np.empty(items + 1, np.int32),
        np.empty(items + 1, np.float64),
        np.empty(edges, np.bool_),
        np.empty(2 * n + 8, np.int32),
        arborescence_scratch(n, arcs),
    )


@njit(cache=True, nogil=True)
def best_tree(graph, index, weight, single_root, chosen, scratch):
    """The largest weight of a tree, at most NEG_TEST where there is none. `tree_variables` says which tree."""
    if graph is not None:
        return inside(graph, weight, scratch.value, scratch.best)
    return arborescence(index, weight, len(index.right) - 1, single_root, chosen, weight[:0], scratch.trees)


@njit(cache=True, nogil=True)
def tree_variables(graph, index, chosen, scratch):
    """(what the graph itself adds to the score, number of variables) of the tree of the last `best_tree`.

    OUT chosen int32[2 n + 1]: its variables.
    """
    if graph is not None:
        return best_variables(graph, len(index.head), scratch.best, chosen, scratch.stack, True)
    return 0.0, len(index.right) - 1


@njit(cache=True, nogil=True)
def bound_variables(graph, index, weight, single_root, cut, chosen, arc_max, scratch):
    """(edges, items) in which some tree weighs more than `cut`, after `best_tree` with the same weights.

    OUT arc_max float64[V]: an upper bound of the trees with each variable (exact but for arborescences).
    """
    if graph is not None:
        return mark(graph, weight, scratch.value, cut, scratch.outside, scratch.keep, arc_max)
    arborescence(index, weight, len(index.right) - 1, single_root, chosen, arc_max, scratch.trees)
    return 1, 0


@njit(cache=True, nogil=True)
def without_losers(graph, edges, items, scratch):
    """The graph without the edges that `bound_variables` found beaten, and whether there were enough to bother."""
    if graph is not None:
        if edges < 0.8 * len(graph.left):
            return compact(graph, scratch.keep, edges, items), True
        return graph, False
    return graph, True


@njit(cache=True, nogil=True)
def lay_tree(index, theta, chosen, size, z, modifiers):
    """Put a tree into z int8[V] (zeros) and count its modifiers, int32[n + 1]; its score under theta. O(n)."""
    modifiers[:] = 0
    score = 0.0
    for i in range(size):
        z[chosen[i]] = 1
        score += theta[chosen[i]]
        if chosen[i] < len(index.head):
            modifiers[index.head[chosen[i]]] += 1
    return score


@njit(cache=True, nogil=True)
def lift_tree(chosen, size, z):
    """Take a tree out of z again. O(n)."""
    for i in range(size):
        z[chosen[i]] = 0


@njit(cache=True, nogil=True)
def keep_arcs(chosen, size, A, out):
    """The arcs among the chosen variables into int32[n] out."""
    c = 0
    for i in range(size):
        if chosen[i] < A:
            out[c] = chosen[i]
            c += 1
