"""Arc marginals of the log-linear model p(tree) ~ exp(score): inside-outside on a hypergraph, and matrix-tree theorem.

Both methods are exact for scores of any size. Oracle: tests enumerate all trees, in rational numbers if scores are
large.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.spanning import spanning_tree_marginals
from treebound.support.jit import kernel

#: the largest error of a marginal for which the result of the matrix-tree theorem is used
PRECISION = 1e-10
#: logarithms with a larger absolute value are too coarse for their differences to be used directly
COARSE = 2.0**20


@kernel
def log_inside_outside(graph, score, inner, outer, marginal):
    """Return the log partition function; write `marginal` float64[V], the probability of every variable. O(edges).

    - `score`: float64[V] as in `hypergraph.inside`, in natural logarithms; -inf for impossible variables.
    - `inner`, `outer`: float64[>= items]. Scratch.

    Every tree must have exactly one derivation. The entry of "no variable" in `marginal` has no meaning.
    """
    first, left, right, var, weight = graph.first, graph.left, graph.right, graph.var, graph.weight
    items = len(first) - 1
    inner[0] = 0.0
    for i in range(1, items):
        top = -np.inf
        for e in range(first[i], first[i + 1]):
            top = max(top, weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]])
        total = 0.0
        if top > -np.inf:
            for e in range(first[i], first[i + 1]):
                total += np.exp(weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]] - top)
        inner[i] = top + np.log(total) if total > 0.0 else -np.inf
    marginal[:] = 0.0
    log_z = inner[items - 1] if items > 1 else -np.inf
    if log_z == -np.inf:
        return log_z
    # from here on, `outer` contains probabilities of items, not logarithms; an item receives them from its parents
    outer[:items] = 0.0
    outer[items - 1] = 1.0
    for i in range(items - 1, 0, -1):
        if outer[i] == 0.0:
            continue
        log_total = inner[i]
        if abs(log_total) > COARSE:  # sum again relative to the best edge, so that shares sum to 1
            top = -np.inf
            for e in range(first[i], first[i + 1]):
                top = max(top, weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]])
            total = 0.0
            for e in range(first[i], first[i + 1]):
                total += np.exp(weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]] - top)
            log_total, outer[i] = top, outer[i] / total
        for e in range(first[i], first[i + 1]):
            p = weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]] - log_total
            if p > -np.inf:
                flow = outer[i] * np.exp(p)
                marginal[var[e]] += flow
                outer[left[e]] += flow
                outer[right[e]] += flow
    return log_z


def matrix_tree_marginals(n, head, mod, score, single_root):
    """Return (log partition function, float64[A] arc probabilities) over non-projective trees. O(n^3).

    `score` float64[A] contains natural logarithms, -inf for impossible arcs. The method is by Koo, Globerson, Carreras
    & Collins (2007). For any number of root arcs, it uses the Laplacian of all arcs. For a single root, the root scores
    replace the first row of the Laplacian.

    If scores differ greatly, the error of the inverse may exceed `PRECISION`. The result is then computed by
    `spanning_tree_marginals`, which needs no subtractions, but takes ten to a thousand times as long.
    """
    top = np.max(score, initial=-np.inf, where=np.isfinite(score))
    shift = top if np.isfinite(top) else 0.0
    potential = np.zeros((n + 1, n + 1))
    potential[head, mod] = np.exp(score - shift)
    inner = potential[1:, 1:]
    root = potential[0, 1:]
    laplacian = np.diag(inner.sum(axis=0)) - inner
    if single_root:
        laplacian[0] = root
    else:
        laplacian += np.diag(root)
    sign, logdet = np.linalg.slogdet(laplacian)
    inverse = np.linalg.inv(laplacian) if sign > 0 and np.isfinite(logdet) else np.full((n, n), np.inf)
    with np.errstate(all="ignore"):  # an infinite or undefined error also counts as too large
        error = np.abs(laplacian).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max() * np.abs(inverse).max() * 2**-53
    if not error < PRECISION:
        matrix, out = np.full((n + 1, n + 1), -np.inf), np.empty((n + 1, n + 1))
        matrix[head, mod] = score
        log_z = spanning_tree_marginals(matrix, single_root, out)
        return log_z, out[head, mod]
    diagonal = np.diag(inverse)
    first = 1.0 if single_root else 0.0
    out = np.empty((n + 1, n + 1))
    keep = np.ones(n)
    keep[0] -= first
    out[1:, 1:] = inner * (keep[None, :] * diagonal[None, :] - keep[:, None] * inverse.T)
    out[0, 1:] = root * (inverse[:, 0] if single_root else diagonal)
    return logdet + n * shift, out[head, mod]
