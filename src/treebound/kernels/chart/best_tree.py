"""The tree that maximises a sum of weights: one interface to dynamic programs and to arborescences.

`graph` is the Hypergraph of a backbone (projective trees), or None (all trees, over the arcs of an ArcIndex). Weights
are of variables 0 .. V - 1 (see `treebound.kernels.bounded`), the first A of which are arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.arborescence import ArborescenceScratch, arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import best_variables, compact, inside, mark
from treebound.kernels.reference import where_none
from treebound.support.jit import kernel


class OracleScratch(NamedTuple):
    """Working memory: of items (value, best, outside), edges (keep), a tree (stack), arborescences.

    `value`, `best` and `outside` hold on to the last call until the next one. trees: None under a hypergraph.
    """

    value: np.ndarray
    best: np.ndarray
    outside: np.ndarray
    keep: np.ndarray
    stack: np.ndarray
    trees: ArborescenceScratch | None


def _scratch_of_arcs(graph, n, A):
    return OracleScratch(
        np.empty(0), np.empty(0, np.int32), np.empty(0), np.empty(0, np.bool_), np.empty(0, np.int32),
        arborescence_scratch(n, A),
    )  # fmt: skip


@where_none(_scratch_of_arcs)
def oracle_scratch(graph, n, A):
    """Scratch for sentences of n words and A arcs, and all that is left of `graph` later."""
    items, edges = len(graph.first) - 1, len(graph.left)
    return OracleScratch(
        np.empty(items + 1, np.float64),
        np.empty(items + 1, np.int32),
        np.empty(items + 1, np.float64),
        np.empty(edges, np.bool_),
        np.empty(2 * n + 8, np.int32),
        None,
    )


def _best_of_arcs(graph, index, weight, single_root, chosen, scratch):
    return arborescence(index, weight, len(index.right) - 1, single_root, chosen, weight[:0], scratch.trees)


@where_none(_best_of_arcs)
def best_tree(graph, index, weight, single_root, chosen, scratch):
    """The largest weight of a tree, at most NEG_TEST where there is none. `tree_variables` says which tree."""
    return inside(graph, weight, scratch.value, scratch.best)


def _variables_of_arcs(graph, index, chosen, scratch):
    return 0.0, len(index.right) - 1


@where_none(_variables_of_arcs)
def tree_variables(graph, index, chosen, scratch):
    """(what the graph itself adds to the score, number of variables) of the tree of the last `best_tree`.

    OUT chosen int32[2 n + 1]: its variables.
    """
    return best_variables(graph, len(index.head), scratch.best, chosen, scratch.stack, True)


def _bound_arcs(graph, index, weight, single_root, cut, chosen, arc_max, scratch):
    arborescence(index, weight, len(index.right) - 1, single_root, chosen, arc_max, scratch.trees)
    return 1, 0


@where_none(_bound_arcs)
def bound_variables(graph, index, weight, single_root, cut, chosen, arc_max, scratch):
    """(edges, items) in which some tree weighs more than `cut`, after `best_tree` with the same weights.

    OUT arc_max float64[V]: an upper bound of the trees with each variable (exact but for arborescences).
    """
    return mark(graph, weight, scratch.value, cut, scratch.outside, scratch.keep, arc_max)


def _all_arcs(graph, edges, items, scratch):
    return graph, True


@where_none(_all_arcs)
def without_losers(graph, edges, items, scratch):
    """The graph without the edges that `bound_variables` found beaten, and whether there were enough to bother."""
    if edges < 0.8 * len(graph.left):
        return compact(graph, scratch.outside, scratch.keep, edges, items), True
    return graph, False


@kernel
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


@kernel
def lift_tree(chosen, size, z):
    """Take a tree out of z again. O(n)."""
    for i in range(size):
        z[chosen[i]] = 0


@kernel
def keep_arcs(chosen, size, A, out):
    """The arcs among the chosen variables into int32[n] out."""
    c = 0
    for i in range(size):
        if chosen[i] < A:
            out[c] = chosen[i]
            c += 1
