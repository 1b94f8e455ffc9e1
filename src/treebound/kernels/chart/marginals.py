"""Arc marginals of the log-linear model p(tree) ~ exp(score): inside-outside on a hypergraph, matrix-tree theorem.

Both are right for scores of any size. Oracle: tests enumerate all trees, in rational numbers where scores are large.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.spanning import spanning_tree_marginals
from treebound.support.jit import kernel

#: the largest error of a marginal for which the matrix-tree theorem is trusted
PRECISION = 1e-10
#: logarithms above this size are too coarse for their differences to be used as they are
COARSE = 2.0**20


@kernel
def log_inside_outside(graph, score, inner, outer, marginal):
    """Log partition function; marginal float64[V] receives the probability of every variable ("none" is unused).

    score float64[V] as in `hypergraph.inside`, in natural logarithms; impossible variables at -inf.
    inner, outer float64[>= items] scratch. Every tree must have one derivation. O(edges).
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
    # outer holds probabilities of items here, not logarithms: p(item) is what flows from its parents
    outer[:items] = 0.0
    outer[items - 1] = 1.0
    for i in range(items - 1, 0, -1):
        if outer[i] == 0.0:
            continue
        whole = inner[i]
        if abs(whole) > COARSE:  # sum again relative to the best edge, so that shares sum to 1
            top = -np.inf
            for e in range(first[i], first[i + 1]):
                top = max(top, weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]])
            total = 0.0
            for e in range(first[i], first[i + 1]):
                total += np.exp(weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]] - top)
            whole, outer[i] = top, outer[i] / total
        for e in range(first[i], first[i + 1]):
            p = weight[e] + score[var[e]] + inner[left[e]] + inner[right[e]] - whole
            if p > -np.inf:
                flow = outer[i] * np.exp(p)
                marginal[var[e]] += flow
                outer[left[e]] += flow
                outer[right[e]] += flow
    return log_z


def matrix_tree_marginals(n, head, mod, score, single_root):
    """(log partition function, float64[A] arc probabilities) over non-projective trees. O(n^3).

    score float64[A] natural logarithms, -inf for impossible arcs. Koo, Globerson, Carreras & Collins (2007): several
    roots by the Laplacian of all arcs, a single root by replacing its first row with the root scores. Where scores are
    so far apart that the inverse of the Laplacian may be off by more than `PRECISION`, `spanning_tree_marginals`, which
    takes ten to a thousand times as long, finds the same without subtractions.
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
    with np.errstate(all="ignore"):  # an infinite error is an error
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
