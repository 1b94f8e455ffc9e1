"""A tree for sentences that are too large to search."""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.backbones import eisner_graph
from treebound.kernels.chart.hypergraph import NEG_TEST, best_arcs, inside
from treebound.support.jit import kernel


@kernel
def first_order_tree(index, n, single_root, theta):
    """int32[n]: the arc into each word of the best projective tree of theta float64[A + 1]; none if there is no tree.

    O(n^2 k).
    """
    graph = eisner_graph(index, n, single_root, 2**62)
    value = np.empty(len(graph.first), np.float64)
    best = np.empty(len(graph.first), np.int32)
    arcs = np.zeros(n, np.int32)
    if inside(graph, theta, value, best) <= NEG_TEST:
        return arcs[:0]
    best_arcs(graph, len(index.head), best, arcs, np.empty(2 * n + 8, np.int32))
    into = np.empty(n, np.int32)
    for a in arcs:
        into[index.mod[a] - 1] = a
    return into
