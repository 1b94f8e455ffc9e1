"""What a search leaves behind for a proof: its bounds, its nodes, the dual variables that closed them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

NO_STARS, SOME_STARS, ALL_STARS = range(3)  #: head stars: none, those from the beginning, all of them


class Record(NamedTuple):
    """What a search did; empty unless asked for.

    calls   float64[dp_calls, 3]  node, upper bound of its trees by this call, incumbent after it
    nodes   float64[nodes, 5]     parent (-1), arc decided (-1), its value, upper bound, 1 if it was branched on
    step_node, step_dual  int32[S], float64[S, D]: the dual variables of every bound that removed something or closed a
            node: shares of pairs, shares of products, slopes float64[n + 1] where counts are scored; where stars are
            used, multipliers u and w of all arcs, and NO_STARS, SOME_STARS (as from the beginning) or ALL_STARS
    """

    calls: np.ndarray
    nodes: np.ndarray
    step_node: np.ndarray
    step_dual: np.ndarray


class Log(NamedTuple):
    """A `Record` that is being written: lists of rows float64[*].

    latest  the dual variables of the best bound of a node, until they are kept
    kept    whether anything is written at all
    """

    calls: list
    nodes: list
    step_node: list
    step_dual: list
    latest: list
    kept: bool


@kernel
def empty_log(kept):
    """Return a log without rows."""
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
    """Add a row of Record.calls."""
    if log.kept:
        log.calls.append(np.array([node, upper, incumbent]))


@kernel
def log_node(log, parent, branch, value):
    """Add a row of Record.nodes; its bound is not known yet."""
    if log.kept:
        log.nodes.append(np.array([parent, branch, value, 0.0, 0.0]))


@kernel
def log_branching(log, node):
    """Note that the search branched on a node."""
    if log.kept:
        log.nodes[node][4] = 1.0


@kernel
def log_best(log, state, stars):
    """Note the dual variables of the best bound of the node so far."""
    if log.kept:
        log.latest.clear()
        log.latest.append(dual_variables(state, stars))


@kernel
def log_step(log, node, state, stars):
    """Keep the dual variables of a bound that removes something: they become part of the proof."""
    if log.kept:
        keep_step(log, node, dual_variables(state, stars))


@kernel
def log_bound(log, node, bound):
    """Note the bound of a node, and keep the dual variables of its best one."""
    if log.kept:
        log.nodes[node][3] = bound
        if len(log.latest) > 0:
            keep_step(log, node, log.latest[0])


@kernel
def keep_step(log, node, dual):
    """The duals of a bound become part of the proof."""
    log.step_node.append(node)
    log.step_dual.append(dual)
    log.latest.clear()


@kernel
def stacked(rows, width):
    """float64[len(rows), width]."""
    out = np.empty((len(rows), width))
    for i in range(len(rows)):
        row = rows[i]
        for j in range(width):  # not a slice: numba compiles a message about shapes with it
            out[i, j] = row[j]
    return out


@kernel
def no_record(size):
    """Return a Record without rows; size: number of dual variables."""
    return Record(np.empty((0, 3)), np.empty((0, 5)), np.empty(0, np.int32), np.empty((0, size)))


@kernel
def recorded(log, size):
    """Return the Record of a log; size: number of dual variables."""
    step_node = np.empty(len(log.step_node), np.int32)
    for i in range(len(step_node)):
        step_node[i] = log.step_node[i]
    of_calls, of_nodes = np.int64(3), np.int64(5)  # literals would be compiled each for itself
    return Record(stacked(log.calls, of_calls), stacked(log.nodes, of_nodes), step_node, stacked(log.step_dual, size))


@kernel
def dual_variables(state, stars):
    """All dual variables, in the order of `Record`: factors still in play, those that were settled, slopes, stars."""
    pairs, products, slope = state.pairs, state.products, state.slope
    child, parent = state.multipliers.child, state.multipliers.parent
    out = state.settled.copy()
    for i in range(len(pairs.phi)):
        out[pairs.number[i]] = pairs.share[i]
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi if products.phi[i] >= 0.0 else lo + 1):
            out[products.number[j]] = products.share[j]
    at = len(out) - len(slope) - 2 * len(child) - (len(child) > 0)
    for values in (slope, child, parent):
        for value in values:
            out[at] = value
            at += 1
    if len(child) > 0:
        out[at] = stars
    return out
