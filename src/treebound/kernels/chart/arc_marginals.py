"""Marginals of projective trees under scores of arcs only, by inside-outside over Eisner's spans, without a hypergraph.

These functions serve sentences whose hypergraph would be too large. C(h, e) is head h with all its modifiers up to e.
I(h, m) consists of the words between the ends of an arc, including the arc (Eisner 1996, Figure 3). Oracle: tests
enumerate all trees.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.marginals import COARSE
from treebound.support.jit import kernel


@kernel(inline="always")
def _sums(x, y, first, last):
    """Return (largest x[k] + y[k] for first <= k < last, sum of exp(x[k] + y[k] - largest)).

    If all sums are -inf, the result is (-inf, 0).
    """
    top = -np.inf
    for k in range(first, last):
        top = max(top, x[k] + y[k])
    total = 0.0
    if top > -np.inf:
        for k in range(first, last):
            total += np.exp(x[k] + y[k] - top)
    return top, total


@kernel(inline="always")
def _log_sum(x, y, first, last):
    top, total = _sums(x, y, first, last)
    return top + np.log(total) if total > 0.0 else -np.inf


@kernel(inline="always")
def _flow(x_terms, y_terms, first, last, log_total, p, to_x, to_y):
    """Distribute the probability p of a span over the derivations that `log_total`, its log sum, adds up.

    Derivation k has the term x_terms[k] + y_terms[k], first <= k < last. Its probability is added to to_x[k], to_y[k].
    """
    if p == 0.0:
        return
    if abs(log_total) > COARSE:  # sum again relative to the largest, so that shares sum to 1
        log_total, total = _sums(x_terms, y_terms, first, last)
        p /= total
    for k in range(first, last):
        difference = x_terms[k] + y_terms[k] - log_total
        if difference > -np.inf:
            share = p * np.exp(difference)
            to_x[k] += share
            to_y[k] += share


@kernel
def projective_arc_marginals(score, single_root, marginal):
    """Return the log partition function; write `marginal` float64[n + 1, n + 1], the probability of every arc.

    `score` float64[n + 1, n + 1] contains natural logarithms, head first; -inf if there is no such arc. The probability
    of an absent arc is 0. If there is no tree, the result is -inf and zeros. O(n^3), space O(n^2).
    """
    n = len(score) - 1
    marginal[:] = 0.0
    complete, ends = np.full((n + 1, n + 1), -np.inf), np.full((n + 1, n + 1), -np.inf)  # C(h, e) at [h, e] and [e, h]
    half = np.full((n + 1, n + 1), -np.inf)  # I(h, m)
    for h in range(n + 1):
        complete[h, h] = ends[h, h] = 0.0
    first_word = 1 if single_root else 0
    for width in range(1, n + 1 - first_word):
        for i in range(first_word, n + 1 - width):
            j = i + width
            inner = _log_sum(complete[i], complete[j, 1:], i, j)
            half[i, j] = inner + score[i, j]
            complete[i, j] = ends[j, i] = _log_sum(half[i], ends[j], i + 1, j + 1)
            if i > 0:
                half[j, i] = inner + score[j, i]
                complete[j, i] = ends[i, j] = _log_sum(half[j], ends[i], i, j)
    # the probability of C(h, e) is p_spans[h, e] + p_ends[e, h]
    p_spans, p_ends = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    if single_root:
        both_sides, roots = np.full(n + 1, -np.inf), score[0]
        for m in range(1, n + 1):
            both_sides[m] = complete[m, 1] + complete[m, n]
        log_z = _log_sum(roots, both_sides, 1, n + 1)
        if log_z == -np.inf:
            return log_z
        p_root = np.zeros(n + 1)
        _flow(roots, both_sides, 1, n + 1, log_z, 1.0, marginal[0], p_root)
        for m in range(1, n + 1):
            p_spans[m, 1] += p_root[m]
            p_spans[m, n] += p_root[m]
    else:
        log_z = complete[0, n]
        if log_z == -np.inf:
            return log_z
        p_spans[0, n] = 1.0
    for width in range(n - first_word, 0, -1):
        for i in range(first_word, n + 1 - width):
            j = i + width
            _flow(half[i], ends[j], i + 1, j + 1, complete[i, j], p_spans[i, j] + p_ends[j, i], marginal[i], p_ends[j])
            if i > 0:
                _flow(half[j], ends[i], i, j, complete[j, i], p_spans[j, i] + p_ends[i, j], marginal[j], p_ends[i])
            p = marginal[i, j] + (marginal[j, i] if i > 0 else 0.0)
            if p > 0.0:
                inner = _log_sum(complete[i], complete[j, 1:], i, j)
                _flow(complete[i], complete[j, 1:], i, j, inner, p, p_spans[i], p_spans[j, 1:])
    return log_z
