"""Data of a search (task, options, nodes, best tree so far), and functions that make small decisions about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.decoders.exact.branch_and_bound.share_steps import POLYAK, needs_ambiguities, needs_trace
from treebound.decoders.exact.branch_and_bound.trace import Log, Record
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import PartIndex
from treebound.kernels.bounded import Counts, Pairs, Products
from treebound.kernels.chart.best_tree import OracleScratch, oracle_scratch
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph
from treebound.kernels.head_stars.tables import Multipliers
from treebound.kernels.reference import by_reference
from treebound.kernels.sibling_spans import Adjacency, Neighbours, Spans, neighbours_of
from treebound.support.jit import kernel

DEPTH_FIRST, BEST_FIRST, LEVEL = range(3)
SLACK, MAX_MARGINAL = range(2)
OPTIMAL, LIMIT, INFEASIBLE = range(3)
EVERYTHING = 1e300  #: bound of a node before its first tree
#: relative difference up to which a bound of real scores closes a node. It is half of the checker's tolerance, so that
#: a bound at the limit does not exceed the tolerance in the checker's exact arithmetic
CLOSING = 5e-10


class Task(NamedTuple):
    """A sentence in the form that the search reads: the scores of the backbone, and the bounded factors.

    theta                    float64[V] scores of the variables (see `treebound.kernels.bounded`); entry A is 0
    pairs, products, counts  factors that are bounded
    spans, adjacent          parts that are bounded by the adjacent siblings of a tree; empty if no parts are
    unit                     > 0 if all scores are integers
    """

    arcs: ArcIndex
    parts: PartIndex
    theta: np.ndarray
    pairs: Pairs
    products: Products
    counts: Counts
    spans: Spans
    adjacent: Adjacency
    unit: float


@by_reference
@dataclass
class SharedTask:
    """The fields of a `Task` in a struct that compiled functions pass by reference."""

    arcs: ArcIndex
    parts: PartIndex
    theta: np.ndarray
    pairs: Pairs
    products: Products
    counts: Counts
    spans: Spans
    adjacent: Adjacency
    unit: float


class SearchResult(NamedTuple):
    """The result of a search: best score, bound of all trees, the tree (arcs int32[n]), and the work that was done.

    status       OPTIMAL, LIMIT or INFEASIBLE
    root_solved  whether the bound of the root node closed this node
    record       Record, empty unless requested
    """

    value: float
    bound: float
    arcs: np.ndarray
    status: int
    dp_calls: int
    nodes: int
    root_solved: bool
    record: Record


class Options(NamedTuple):
    """Parameters of the search.

    - root_steps, node_steps: steps on the shares at the root and at other nodes.
    - rho, patience: Polyak factor, which is halved after `patience` steps without a better bound.
    - max_dp_calls, max_nodes: limits; 0 for none.
    - order: DEPTH_FIRST, BEST_FIRST (by bound) or LEVEL (first in, first out).
    - scheme: POLYAK makes plain steps. MOMENTUM adds 0.5 times the step before. AVERAGED ends a node with the mean of
      its shares. BLOCK_COORDINATE lets shares even out the max-marginals of their arcs.
    - branching: SLACK chooses the arc with the largest slack. MAX_MARGINAL chooses the most ambiguous arc with slack.
    - eliminate: whether arcs and edges that cannot be part of a better tree are removed.
    - stars: steps at the root with head stars in place of shares, before the search branches; 0 for none.
    - floor: the search looks only for trees that score more than `floor`. If there are none, the value is `floor`.
    - record: whether the search fills its `Record`.
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
    record: bool = False


#: options with the fewest DP calls and the least time in our comparison (docs/decisions): few steps, then branching
TUNED = Options(20, 6, 1.5, 3, 0, 0, DEPTH_FIRST, POLYAK, SLACK, True, 0)


@by_reference
@dataclass
class State:
    """The data that determine the bound of a node; its children begin with a copy of them.

    - graph: Hypergraph, or NO_GRAPH
    - pairs, products, spans: factors that are not decided
    - theta, weight: scores of the variables, without and with the dual variables
    - slope: float64[n + 1], slopes of the majorants of valency scores; empty if valencies are not scored
    - multipliers: multipliers of arcs in their two roles at stars
    - settled: shares of factors that were decided and removed, for the record
    - offset: float64[1], constant of the bound
    """

    graph: Hypergraph
    pairs: Pairs
    products: Products
    spans: Spans
    theta: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    multipliers: Multipliers
    settled: np.ndarray
    offset: np.ndarray


class Node(NamedTuple):
    """An open node: its parent's state and number, and the arc that is decided (-1 at the root).

    serial  a number that increases with the level of the node
    """

    state: State
    bound: float
    branch: int
    value: int
    parent: int
    serial: int


@by_reference
@dataclass
class Scratch:
    """Working memory of a search.

    - oracle, chosen, arc_max, z: working memory of the tree oracle, see `kernels.chart.best_tree`
    - alive, certain: bool[V], variables that remain, and arcs that are the only ones into their words
    - gap: float64[V], slack of the factors of a variable
    - direction: int8[F], whether a step raises or lowers the share of each pair, see `visit_pairs`
    - on: int32[F], number of selected variables of each product at a tree, see `visit_products`
    - span_direction: like direction, for spans
    - neighbours: the neighbours of each variable among the siblings of a tree, see `set_neighbours`
    - modifiers, wanted: int32[n + 1], number of dependents of each word in a tree, and at the maximum of its majorant
    - low, high: int32[n + 1], smallest and largest number of dependents that each word can have
    - ambiguity, degree, trace: float64 arrays of the schemes that use them
    """

    oracle: OracleScratch
    chosen: np.ndarray
    arc_max: np.ndarray
    z: np.ndarray
    alive: np.ndarray
    certain: np.ndarray
    gap: np.ndarray
    direction: np.ndarray
    on: np.ndarray
    span_direction: np.ndarray
    neighbours: Neighbours
    modifiers: np.ndarray
    wanted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ambiguity: np.ndarray
    degree: np.ndarray
    trace: np.ndarray


@by_reference
@dataclass
class Run:
    """A running search: the state of the current node, the best tree so far, and its arcs int32[n].

    Compiled functions pass it on by reference. Counting the references of its hundred arrays at every call took a tenth
    of the time of a search.
    """

    task: SharedTask
    options: Options
    scratch: Scratch
    log: Log
    state: State
    best: float
    best_arcs: np.ndarray


@kernel
def search_scratch(handover, graph, task, options):
    """Return working memory for a task and its graph. Only searches with a Handover may have NO_GRAPH."""
    A, n, V = len(task.arcs.head), len(task.arcs.right) - 1, len(task.theta)
    with_ambiguities, with_trace = needs_ambiguities(options.scheme), needs_trace(options.scheme)
    return Scratch(
        oracle_scratch(handover, graph, n, A),
        np.empty(2 * n + 1, np.int32),
        np.full(V, NEG),
        np.zeros(V, np.int8),
        np.ones(V, np.bool_),
        np.zeros(V, np.bool_),
        np.zeros(V),
        np.empty(len(task.pairs.phi), np.int8),
        np.empty(len(task.products.phi), np.int32),
        np.empty(len(task.spans.phi), np.int8),
        neighbours_of(len(task.adjacent.first)),
        np.zeros(n + 1, np.int32),
        np.zeros(n + 1, np.int32),
        np.zeros(n + 1, np.int32),
        np.zeros(n + 1, np.int32),
        np.empty(V if with_ambiguities or options.branching == MAX_MARGINAL else 0),
        np.empty(V if with_ambiguities else 0),
        np.zeros(len(task.pairs.phi) if with_trace else 0),
    )


@kernel
def closed(bound, value, unit, rounding):
    """Return whether a bound proves that no tree of a node beats `value`.

    If unit > 0, scores are integers and bounds are exact up to `rounding`.
    """
    if unit > 0.0:
        return bound < value + 1.0 - rounding
    return bound <= value + CLOSING * max(1.0, abs(value))


@kernel
def conclude(value, open_bound, status):
    """Return (bound, status) of a finished search; `open_bound` is the largest bound of nodes that are not closed."""
    if status == LIMIT:
        return max(value, open_bound), LIMIT
    return value, (INFEASIBLE if value <= NEG_TEST else OPTIMAL)


@kernel
def next_node(open_nodes, order):
    """Remove the node that comes next in the search order from the list of open nodes, and return it."""
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


@kernel
def limit_reached(limit, used):
    """Return whether the number `used` reaches the limit; limit 0 means no limit."""
    return limit > 0 and used >= limit


@kernel
def copy_state(state):
    """Return a copy of a state with its own factors and numbers. Both states share the graph."""
    p, q, r, m = state.pairs, state.products, state.spans, state.multipliers
    return State(
        state.graph,
        Pairs(p.number.copy(), p.e.copy(), p.f.copy(), p.phi.copy(), p.share.copy()),
        Products(q.first.copy(), q.var.copy(), q.number.copy(), q.phi.copy(), q.share.copy()),
        Spans(r.s.copy(), r.b.copy(), r.phi.copy(), r.share.copy()),
        state.theta.copy(),
        state.weight.copy(),
        state.slope.copy(),
        Multipliers(m.child.copy(), m.parent.copy()),
        state.settled.copy(),
        state.offset.copy(),
    )


@kernel(inline="always")
def with_factors(state, graph, pairs, products, spans):
    """Return the state with another graph and other factors."""
    return State(
        graph,
        pairs,
        products,
        spans,
        state.theta,
        state.weight,
        state.slope,
        state.multipliers,
        state.settled,
        state.offset,
    )


@kernel
def decide(index, weight, arc, value):
    """Forbid an arc if `value` is 0, or all other arcs into its word if `value` is 1, by the weight NEG."""
    if value == 0:
        weight[arc] = NEG
    else:
        m = index.mod[arc]
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if index.into[i] != arc:
                weight[index.into[i]] = NEG


@kernel
def find_certain(index, alive, certain):
    """Write to `certain` bool[V] which arcs are the only remaining arcs into their words. O(A)."""
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


@kernel
def branching_arc(index, weight, certain, gap, ambiguity):
    """Return the undecided arc with the largest slack `gap`, or -1 if every arc is decided.

    If ambiguities are given, return the most ambiguous arc among the arcs with slack.
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
