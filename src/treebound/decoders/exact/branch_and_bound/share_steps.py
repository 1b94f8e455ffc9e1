"""Steps on the dual variables of bounded factors, one function for each scheme of the search.

Oracle: tests/test_search.py checks that all schemes reach the same optimum, and checks their proofs.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.bounded import set_pair
from treebound.kernels.chart.hypergraph import NEG
from treebound.support.jit import kernel

POLYAK, MOMENTUM, AVERAGED, BLOCK_COORDINATE = range(4)


@kernel
def step_length(rho, gap, moved, unit):
    """Return the step length of Polyak: rho times the gap over the squared length of the subgradient.

    For integer scores it is a whole number and at least 1.
    """
    alpha = rho * gap / moved
    return max(1.0, np.floor(alpha + 0.5)) if unit > 0.0 else alpha


@kernel
def needs_ambiguities(scheme):
    """Return whether the steps of a scheme use the ambiguities of arcs."""
    return scheme == BLOCK_COORDINATE


@kernel
def needs_trace(scheme):
    """Return whether the steps of a scheme use earlier steps."""
    return scheme in (MOMENTUM, AVERAGED)


@kernel
def move_pairs(pairs, direction, alpha, weight):
    """Make a subgradient step of length alpha on the shares of pairs. O(F).

    Returns the change of the bound's constant.
    """
    constant = 0.0
    for i in range(len(pairs.phi)):
        if direction[i] != 0:
            constant += set_pair(pairs, i, pairs.share[i] + direction[i] * alpha, weight)
    return constant


@kernel
def move_with_momentum(pairs, direction, alpha, trace, unit, weight):
    """Make a step as `move_pairs` does, plus 0.5 times the step before; return the change of the bound's constant.
    O(F).

    trace  float64[shares]: the step before, indexed by the number of the share
    """
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
    """Add the shares to trace float64[shares]. If `last`, replace the shares by their mean over `count` steps. O(F).

    Returns the change of the bound's constant.
    """
    constant = 0.0
    for i in range(len(pairs.phi)):
        trace[pairs.number[i]] += pairs.share[i]
        if last:
            mean = trace[pairs.number[i]] / count
            constant += set_pair(pairs, i, np.floor(mean + 0.5) if unit > 0.0 else mean, weight)
    return constant


@kernel
def ambiguities(index, arc_max, out):
    """Compute the ambiguity of every arc from max-marginals, and write it to `out` float64[A].

    The ambiguity of an arc is the weight of the best tree with the arc minus the weight of the best tree without it.
    """
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
    """Make a block-coordinate step: every pair evens out its part of the ambiguities of its two variables.

    Returns the change of the bound's constant. `degree` is float64[V]: number of pairs of a variable, plus one. A
    positive pair moves its score to the variable with the lower ambiguity. A negative pair charges its variables up to
    the lower of the two ambiguities.
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
    """Make a subgradient step of length alpha on the slopes of `majorants`. O(A).

    `number` and `wanted` int32[n + 1] count the dependents of each word: at the tree, and where the majorant is tight.
    """
    for h in range(len(slope)):
        delta = alpha * (wanted[h] - number[h])
        if delta != 0.0 and counts.first[h + 1] > counts.first[h]:
            slope[h] += delta
            for a in range(index.start[h], index.start[h + 1]):
                weight[a] += delta


@kernel
def add_count_slack(index, counts, slope, number, wanted, gap):
    """Add to gap[a] the slack of the majorant of a's head at a tree. O(A).

    `number` and `wanted` int32[n + 1] count the dependents of each word: at the tree, and where the majorant is tight.
    """
    for h in range(len(slope)):
        first, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size == 0 or number[h] == wanted[h]:
            continue
        slack = counts.score[first + min(wanted[h], size - 1)] - slope[h] * wanted[h]
        slack -= counts.score[first + min(number[h], size - 1)] - slope[h] * number[h]
        for a in range(index.start[h], index.start[h + 1]):
            gap[a] += slack
