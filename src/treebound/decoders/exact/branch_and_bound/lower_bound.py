"""A first incumbent: alternating maximisation of the paper's lower bound pi (Qian & Liu 2013, section 3.4)."""

from __future__ import annotations

import numpy as np

from treebound.decoders.exact.branch_and_bound.agreement import score_stars, star_state
from treebound.kernels.bounded import ascend, visit_counts, visit_pairs, visit_products
from treebound.kernels.chart.best_tree import (
    best_tree,
    keep_arcs,
    mark_tree,
    oracle_scratch,
    tree_variables,
    unmark_tree,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel

MOST = 20  #: limit of trees in an alternation; two trees were enough on average (docs/decisions/032)


@kernel
def climb(graph, task, handover, max_trees):
    """Maximise pi alternately over the tree and the shares, and return the best tree.

    Returns (best score, its arcs int32[n], number of trees computed). The first three arguments are the same as for
    `search.search`, which takes the tree as its incumbent; `max_trees` is the limit of trees. The first tree is the
    best tree under the scores of the variables alone. Without the scores of counts and stars, which pi leaves out,
    every tree scores at least as much as the tree before. The alternation therefore ends at the first tree that scores
    no more than the best one.
    """
    index, theta, pairs, products, counts = task.arcs, task.theta, task.pairs, task.products, task.counts
    A, n = len(index.head), len(index.right) - 1
    oracle = oracle_scratch(handover, graph, n, A)
    weight = theta.copy()
    z = np.zeros(len(theta), np.int8)
    chosen = np.empty(2 * n + 1, np.int32)
    arcs = np.zeros(n, np.int32)
    direction = np.empty(len(pairs.phi), np.int8)
    on = np.empty(len(products.phi), np.int32)
    number = np.zeros(n + 1, np.int32)
    star = star_state(handover, index)
    best_score = NEG
    used = 0
    while used < max_trees:
        v = best_tree(graph, index, weight, task.parts.single_root, chosen, oracle)
        used += 1
        if v <= NEG_TEST:
            break
        score, size = tree_variables(graph, index, chosen, oracle)
        score += mark_tree(index, theta, chosen, size, z, number)
        score += visit_pairs(pairs, z, direction)[0] + visit_products(products, z, on)[0]
        if len(counts.first) > 0:
            score += visit_counts(counts, number, number)[0]
        score += score_stars(star, task, z, chosen, size)
        if score > best_score:
            ascend(pairs, products, theta, z, weight)
        unmark_tree(chosen, size, z)
        if score <= best_score:
            break
        best_score = score
        keep_arcs(chosen, size, A, arcs)
    return best_score, arcs, used
