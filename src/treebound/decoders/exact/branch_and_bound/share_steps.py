"""Steps on the dual variables of bounded factors: the schemes of the search.

Oracle: tests/test_search.py holds every scheme to the same optimum and checks its proof.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.bounded import set_pair
from treebound.kernels.chart.hypergraph import NEG
from treebound.support.jit import kernel

POLYAK, MOMENTUM, AVERAGED, BLOCK_COORDINATE = range(4)


@kernel
def step_length(rho, gap, moved, unit):
    """Polyak's: rho times the gap over the squared length of the subgradient; at least 1 for integers."""
    alpha = rho * gap / moved
    return max(1.0, np.floor(alpha + 0.5)) if unit > 0.0 else alpha


@kernel
def evens_out(scheme):
    """Whether steps need the ambiguities of arcs."""
    return scheme == BLOCK_COORDINATE


@kernel
def traces(scheme):
    """Whether steps need the steps before them."""
    return scheme in (MOMENTUM, AVERAGED)


@kernel
def move_pairs(pairs, direction, alpha, weight):
    """A subgradient step of length alpha on the shares of pairs; returns the change of the bound's constant. O(F)."""
    constant = 0.0
    for i in range(len(pairs.phi)):
        if direction[i] != 0:
            constant += set_pair(pairs, i, pairs.share[i] + direction[i] * alpha, weight)
    return constant


@kernel
def move_with_momentum(pairs, direction, alpha, trace, unit, weight):
    """As `move_pairs`, with 0.5 of the step before added; trace float64[shares] holds that, by number. O(F)."""
    constant = 0.0
    for i in range(len(pairs.phi)):
        k = pairs.number[i]
        trace[k] = 0.5 * trace[k] + direction[i] * alpha
        move = np.floor(trace[k] + 0.5) if unit > 0.0 else trace[k]
        if move != 0.0:
            constant += set_pair(pairs, i, pairs.share[i] + move, weight)
    return constant


@kernel
def average_pairs(pairs, count, last, trace, unit, weight):
    """Add the shares to trace float64[shares]; with the last of `count` steps, they become their mean. O(F)."""
    constant = 0.0
    for i in range(len(pairs.phi)):
        trace[pairs.number[i]] += pairs.share[i]
        if last:
            mean = trace[pairs.number[i]] / count
            constant += set_pair(pairs, i, np.floor(mean + 0.5) if unit > 0.0 else mean, weight)
    return constant


@kernel
def ambiguities(index, arc_max, out):
    """OUT float64[A]: by how much the best tree with an arc beats the best one without it, from max-marginals."""
    for m in range(1, len(index.right)):
        top, second = NEG, NEG
        for i in range(index.into_start[m], index.into_start[m + 1]):
            x = arc_max[index.into[i]]
            if x > top:
                top, second = x, top
            elif x > second:
                second = x
        for i in range(index.into_start[m], index.into_start[m + 1]):
            x = arc_max[index.into[i]]
            out[index.into[i]] = x - (second if x == top else top)


@kernel
def even_out(pairs, ambiguity, degree, unit, weight):
    """Block-coordinate step: every pair evens out its part of its variables' ambiguities; returns the change of the
    constant.

    degree float64[V]: pairs of a variable, plus one. A positive pair leaves its score where it is least decided; a
    negative one charges its variables as far as both are wanted.
    """
    degree[:] = 1.0
    for i in range(len(pairs.phi)):
        degree[pairs.e[i]] += 1.0
        degree[pairs.f[i]] += 1.0
    constant = 0.0
    for i in range(len(pairs.phi)):
        a = ambiguity[pairs.e[i]] / degree[pairs.e[i]]
        b = ambiguity[pairs.f[i]] / degree[pairs.f[i]]
        step = (b - a) / 2 if pairs.phi[i] >= 0.0 else min(a, b)
        step = min(1e15, max(-1e15, step))
        constant += set_pair(pairs, i, pairs.share[i] + (np.floor(step + 0.5) if unit > 0.0 else step), weight)
    return constant


@kernel
def move_slopes(index, counts, slope, number, wanted, alpha, weight):
    """A subgradient step of length alpha on the slopes of `majorants`. O(A)."""
    for h in range(len(slope)):
        delta = alpha * (wanted[h] - number[h])
        if delta != 0.0 and counts.first[h + 1] > counts.first[h]:
            slope[h] += delta
            for a in range(index.start[h], index.start[h + 1]):
                weight[a] += delta


@kernel
def add_count_slack(index, counts, slope, number, wanted, gap):
    """gap[a] += slack of the majorant of the head of a, at a tree with number[h] modifiers of h. O(A)."""
    for h in range(len(slope)):
        at, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size == 0 or number[h] == wanted[h]:
            continue
        slack = counts.score[at + min(wanted[h], size - 1)] - slope[h] * wanted[h]
        slack -= counts.score[at + min(number[h], size - 1)] - slope[h] * number[h]
        for a in range(index.start[h], index.start[h + 1]):
            gap[a] += slack
