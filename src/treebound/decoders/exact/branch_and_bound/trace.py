"""The log of a search, from which its proof is made: its bounds, its nodes, and the dual variables that closed them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

NO_STARS, SOME_STARS, ALL_STARS = range(3)  #: head stars in use: none, those from the start, all


class Record(NamedTuple):
    """The log of a finished search. All arrays are empty if no record was requested.

    - calls: float64[dp_calls, 3]: number of the node, upper bound of its trees by this call, incumbent after the call.
    - nodes: float64[nodes, 5]: parent, decided arc, decision, upper bound, status. The root has parent -1 and arc -1.
      The decision is 1 if the arc is required, 0 if it is forbidden. The status is 1 if the search branched on the
      node, and otherwise 0.
    - step_node: int32[S]: the node of each bound that removed an arc or closed a node.
    - step_dual: float64[S, D]: the dual variables of each such bound. A row holds the shares of pairs, the shares of
      products, and slopes float64[n + 1] if valencies are scored. With stars, it also holds the multipliers u and w of
      all arcs. The last entry of a row is then the mode: NO_STARS, SOME_STARS (those from the start) or ALL_STARS.
    """

    calls: np.ndarray
    nodes: np.ndarray
    step_node: np.ndarray
    step_dual: np.ndarray


class Log(NamedTuple):
    """A `Record` that is being written: lists of rows float64[*].

    latest  the dual variables of the best bound of a node, until they become part of the proof
    kept    whether anything is recorded
    """

    calls: list
    nodes: list
    step_node: list
    step_dual: list
    latest: list
    kept: bool


@kernel
def empty_log(kept):
    """Return a log without rows; `kept` says whether the search will record rows in it."""
    return Log(
        [np.empty(0) for _ in range(0)],
        [np.empty(0) for _ in range(0)],
        [0 for _ in range(0)],
        [np.empty(0) for _ in range(0)],
        [np.empty(0) for _ in range(0)],
        kept,
    )


@kernel
def log_call(log, node, upper, incumbent):
    """Add a row to `Record.calls`: number of the node, upper bound by this call, incumbent."""
    if log.kept:
        log.calls.append(np.array([node, upper, incumbent]))


@kernel
def log_node(log, parent, branch, value):
    """Add a row to `Record.nodes`, without a bound, which is not known yet."""
    if log.kept:
        log.nodes.append(np.array([parent, branch, value, 0.0, 0.0]))


@kernel
def log_branching(log, node):
    """Record that the search branched on a node."""
    if log.kept:
        log.nodes[node][4] = 1.0


@kernel
def log_best(log, state, stars):
    """Record the dual variables of the best bound of the node so far; `stars` is the mode of the head stars."""
    if log.kept:
        log.latest.clear()
        log.latest.append(dual_variables(state, stars))


@kernel
def log_step(log, node, state, stars):
    """Add the dual variables of a bound that removes an arc or an edge to the proof; `stars` is the stars' mode."""
    if log.kept:
        keep_step(log, node, dual_variables(state, stars))


@kernel
def log_bound(log, node, bound):
    """Record the bound of a node, and add the dual variables of its best bound to the proof."""
    if log.kept:
        log.nodes[node][3] = bound
        if len(log.latest) > 0:
            keep_step(log, node, log.latest[0])


@kernel
def keep_step(log, node, dual):
    """Add the dual variables of a bound of a node to the proof."""
    log.step_node.append(node)
    log.step_dual.append(dual)
    log.latest.clear()


@kernel
def stack_rows(rows, width):
    """Return the rows as one array float64[len(rows), width]."""
    array = np.empty((len(rows), width))
    for i in range(len(rows)):
        row = rows[i]
        for j in range(width):  # a loop, because numba compiles a shape check and its message for a slice
            array[i, j] = row[j]
    return array


@kernel
def no_record(size):
    """Return a Record without rows; `size` is the number of dual variables."""
    return Record(np.empty((0, 3)), np.empty((0, 5)), np.empty(0, np.int32), np.empty((0, size)))


@kernel
def record_of_log(log, size):
    """Return the Record of a log; `size` is the number of dual variables."""
    step_node = np.empty(len(log.step_node), np.int32)
    for i in range(len(step_node)):
        step_node[i] = log.step_node[i]
    of_calls, of_nodes = np.int64(3), np.int64(5)  # variables, because numba compiles a kernel for each literal
    return Record(
        stack_rows(log.calls, of_calls), stack_rows(log.nodes, of_nodes), step_node, stack_rows(log.step_dual, size)
    )


@kernel
def dual_variables(state, stars):
    """Return all dual variables in the order of `Record`.

    They are the shares of remaining and of removed factors, the slopes, the multipliers, and `stars`, the stars' mode.
    """
    pairs, products, slope = state.pairs, state.products, state.slope
    child, parent = state.multipliers.child, state.multipliers.parent
    duals = state.settled.copy()
    for i in range(len(pairs.phi)):
        duals[pairs.number[i]] = pairs.share[i]
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi if products.phi[i] >= 0.0 else lo + 1):
            duals[products.number[j]] = products.share[j]
    position = len(duals) - len(slope) - 2 * len(child) - (len(child) > 0)
    for values in (slope, child, parent):
        for value in values:
            duals[position] = value
            position += 1
    if len(child) > 0:
        duals[position] = stars
    return duals
