"""Nodes of the search: what they hold, which comes next, what a decision does, when one is closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.decoders.exact.branch_and_bound.share_steps import POLYAK
from treebound.kernels.bounded import Pairs, Products
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph

DEPTH_FIRST, BEST_FIRST, LEVEL = range(3)
SLACK, MAX_MARGINAL = range(2)
OPTIMAL, LIMIT, INFEASIBLE = range(3)


class Options(NamedTuple):
    """Parameters of the search.

    root_steps, node_steps  steps on the shares at the root and at other nodes
    rho, patience           Polyak factor, halved after `patience` steps without a better bound
    max_dp_calls, max_nodes limits; 0 for none
    order                   DEPTH_FIRST, BEST_FIRST (by bound) or LEVEL (first in, first out)
    scheme                  POLYAK; MOMENTUM: with 0.5 of the step before; AVERAGED: a node ends with the mean of its
                            shares; BLOCK_COORDINATE: shares even out the max-marginals of their arcs
    branching               SLACK: the arc with the largest slack; MAX_MARGINAL: the most ambiguous of those with slack
    eliminate               remove arcs and edges that cannot win
    stars                   steps at the root with head stars in the place of shares, before branching; 0: none
    floor                   only trees that score more are looked for; without one, the value is `floor`
    """

    root_steps: int
    node_steps: int
    rho: float
    patience: int
    max_dp_calls: int
    max_nodes: int
    order: int
    scheme: int
    branching: int
    eliminate: bool
    stars: int
    floor: float = NEG


#: fewest DP calls and least time among those tried (docs/decisions): short budgets, then branch
TUNED = Options(20, 6, 1.5, 3, 0, 0, DEPTH_FIRST, POLYAK, SLACK, True, 0)


class State(NamedTuple):
    """What a node hands on to its children.

    graph, theta, weight  hypergraph (or None), scores of the variables, the same with everything that the bound adds
    pairs, products       factors still in play
    slope                 float64[n + 1] of the majorants, where counts are scored
    child, parent         multipliers of arcs in their two roles at stars
    settled               shares of factors that were folded, for the record
    offset                constant of the bound
    """

    graph: Hypergraph | None
    theta: np.ndarray
    weight: np.ndarray
    pairs: Pairs
    products: Products
    slope: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    settled: np.ndarray
    offset: float


class Node(NamedTuple):
    """A node to be opened: its parent's state and number, and the arc that is decided (-1 at the root).

    serial  grows with the nodes' levels
    """

    state: State
    bound: float
    branch: int
    value: int
    parent: int
    serial: int


@njit(cache=True, nogil=True)
def closed(bound, value, unit, rounding):
    """No tree under `bound` beats `value`. unit > 0: scores are integers, and bounds are known to within `rounding`."""
    if unit > 0.0:
        return bound < value + 1.0 - rounding
    return bound <= value + 1e-9 * max(1.0, abs(value))


@njit(cache=True, nogil=True)
def conclude(value, open_bound, status):
    """(bound, status) of a finished search; open_bound is the largest bound of a node that a limit left open."""
    if status == LIMIT:
        return max(value, open_bound), LIMIT
    return value, (INFEASIBLE if value <= NEG_TEST else OPTIMAL)


@njit(cache=True, nogil=True)
def next_node(open_nodes, order):
    """Take the next node of the list."""
    last = len(open_nodes) - 1
    pick = last
    if order == BEST_FIRST:
        for i in range(last):
            if open_nodes[i].bound > open_nodes[pick].bound:
                pick = i
    elif order == LEVEL:
        for i in range(last):
            if open_nodes[i].serial < open_nodes[pick].serial:
                pick = i
    taken = open_nodes[pick]
    if pick < last:
        open_nodes[pick] = open_nodes[last]
    open_nodes.pop()
    return taken


@njit(cache=True, nogil=True)
def copied(state):
    """The state of a node, free to be changed."""
    p, q = state.pairs, state.products
    return State(
        state.graph,
        state.theta.copy(),
        state.weight.copy(),
        Pairs(p.number.copy(), p.e.copy(), p.f.copy(), p.phi.copy(), p.share.copy()),
        Products(q.first.copy(), q.var.copy(), q.number.copy(), q.phi.copy(), q.share.copy()),
        state.slope.copy(),
        state.child.copy(),
        state.parent.copy(),
        state.settled.copy(),
        state.offset,
    )


@njit(cache=True, nogil=True)
def decide(index, weight, arc, value):
    """Forbid what contradicts the decision on an arc, by its weight."""
    if value == 0:
        weight[arc] = NEG
    else:
        m = index.mod[arc]
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if index.into[i] != arc:
                weight[index.into[i]] = NEG


@njit(cache=True, nogil=True)
def find_certain(index, alive, certain):
    """OUT certain bool[V]: arcs that are the only ones into their words. O(A)."""
    certain[:] = False
    for m in range(1, len(index.right)):
        count = 0
        only = -1
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if alive[index.into[i]]:
                count += 1
                only = index.into[i]
        if count == 1:
            certain[only] = True


@njit(cache=True, nogil=True)
def branching_arc(index, weight, certain, gap, ambiguity):
    """The undecided arc with the largest slack; if ambiguities are given, the most ambiguous of those with slack.

    -1 where every arc is decided.
    """
    pick = -1
    for a in range(len(index.head)):
        if weight[a] <= NEG_TEST or certain[a]:
            continue
        if pick < 0:
            pick = a
        elif len(ambiguity) == 0 or gap[pick] <= 0.0:
            if gap[a] > gap[pick]:
                pick = a
        elif gap[a] > 0.0 and abs(ambiguity[a]) < abs(ambiguity[pick]):
            pick = a
    return pick
