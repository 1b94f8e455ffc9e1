"""A tree for sentences that are too large to search."""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.first_order import best_candidates
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.support.jit import kernel


@kernel
def first_order_tree(index, n, single_root, theta):
    """int32[n]: the arc into each word of the best projective tree of theta float64[>= A]; none if there is no tree.

    O(n^2 k), space O(n^2).
    """
    into = np.zeros(n, np.int32)
    return into if best_candidates(index, theta, single_root, into) > NEG_TEST else into[:0]
