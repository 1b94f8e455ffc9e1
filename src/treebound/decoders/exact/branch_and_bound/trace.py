"""What a search leaves behind for a proof: its bounds, its nodes, the dual variables that closed them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

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


@njit(cache=True, nogil=True)
def dual_variables(settled, pairs, products, slope, child, parent, stars):
    """All dual variables, in the order of `Record`: factors still in play, those that were settled, slopes, stars."""
    out = settled.copy()
    for i in range(len(pairs.phi)):
        out[pairs.number[i]] = pairs.share[i]
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi if products.phi[i] >= 0.0 else lo + 1):
            out[products.number[j]] = products.share[j]
    at = len(out) - len(slope) - 2 * len(child) - (len(child) > 0)
    out[at : at + len(slope)] = slope
    at += len(slope)
    if len(child) > 0:
        out[at : at + len(child)] = child
        out[at + len(child) : at + 2 * len(child)] = parent
        out[-1] = stars
    return out


@njit(cache=True, nogil=True)
def with_room(table, count):
    """`table`, or a copy of twice its length, with room for row `count`."""
    while count >= len(table):
        table = np.concatenate((table, np.zeros_like(table)))
    return table


@njit(cache=True, nogil=True)
def log_call(calls, call, node, upper, incumbent):
    """Write row `call` of Record.calls; returns the perhaps larger table."""
    calls = with_room(calls, call)
    calls[call, 0], calls[call, 1], calls[call, 2] = node, upper, incumbent
    return calls


@njit(cache=True, nogil=True)
def keep_step(step_node, step_dual, count, node, dual):
    """Append a step; returns the perhaps larger tables."""
    step_node, step_dual = with_room(step_node, count), with_room(step_dual, count)
    step_node[count] = node
    step_dual[count] = dual
    return step_node, step_dual
