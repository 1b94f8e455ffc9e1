"""Head stars: the largest score of one word, the arc into it and its modifiers (Koo et al. 2010, head automata).

A star is a head h with the arc x into it (none for the root) and the set M of arcs out of h. The multiplier u_a
belongs to arc a as the arc of a modifier, and w_a to arc a as the arc into a head. For every tree z

    score of the parts at all heads  <=  sum_a (u_a + w_a) z_a + sum_h S_h,
    S_h = max over x, M of  score_h(x, M) - w_x - sum_{m in M} u_m.

This holds for all u and w, because z has exactly one x and one M at every head. If no part connects modifiers that are
not neighbours, a dynamic program along the modifiers of each side finds M.

Oracle: tests/test_stars.py tries every x and M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.chain import FREE, IN, best_choice
from treebound.kernels.head_stars.chain_search import search_chain
from treebound.kernels.head_stars.modifiers import Worth, follow_under, modifiers_of, worth_under
from treebound.kernels.head_stars.set_search import ROUNDING, beats, search_modifiers
from treebound.kernels.head_stars.tables import pair_rank
from treebound.support.jit import kernel


class Stars(NamedTuple):
    """The best star of every head.

    - `value`: float64[n + 1]. S_h, or NEG if there is no star. If a search was cut off, the value is an
      upper bound, which may exceed the score of the star of x and y.
    - `x`: int32[n + 1]. The arc into h in the best star, NONE for the root.
    - `y`: int8[A]. 1 if the best star of the head of the arc has the modifier of the arc.
    - `x_bound`: float64[A]. For each arc, an upper bound on the scores of the stars that the arc enters. NEG if there
      is no such star.
    - `dirty`: bool[n + 1]. The heads whose best star has to be computed.
    """

    value: np.ndarray
    x: np.ndarray
    y: np.ndarray
    x_bound: np.ndarray
    dirty: np.ndarray


@kernel
def no_stars(A, n):
    """Return Stars for A arcs and n words before any best star is computed: every head is dirty."""
    return Stars(
        np.zeros(n + 1), np.full(n + 1, NONE, np.int32), np.zeros(A, np.int8), np.zeros(A), np.ones(n + 1, np.bool_)
    )


@kernel
def solve_stars(index, parts, tables, alive, multipliers, stars, node_limit, scratch):
    """Compute S_h of every dirty head, and write the results to `stars`.

    - `index`, `parts`: ArcIndex and PartIndex. The PartIndex determines which modifiers fit an arc into the head.
    - `tables`: StarTables.
    - `alive`: bool[A]. The arcs that stars may use. An arc that is the only alive arc into its word is always chosen.
      The root takes exactly one arc if parts.single_root, otherwise at least one.
    - `multipliers`: Multipliers.
    - `stars`: Stars.
    - `node_limit`: largest number of search nodes for a head and an arc into it.
    - `scratch`: StarScratch.

    Return (number of heads whose value is an upper bound only, number of search nodes). Integer scores give exact
    integers, and no memory is allocated. A head h takes O(arcs into h * (arcs out of h)^2) time. If sets of modifiers
    must be searched, the time is exponential at worst, up to node_limit.
    """
    overflows, nodes = 0, 0
    for h in range(len(index.right)):
        if not stars.dirty[h]:
            continue
        for b in range(index.start[h], index.start[h + 1]):
            stars.y[b] = 0
        mods = modifiers_of(h, index, parts, tables, alive, scratch)
        stars.value[h] = NEG
        stars.x[h] = NONE
        if h == 0:
            _solve_root(mods, multipliers.child, stars, scratch)
            continue
        _solve_under_arcs(index, parts, tables, alive, mods, multipliers, stars, scratch)
        if mods.sets:
            cut_off, searched = _search_sets(index, parts, tables, mods, multipliers.parent, stars, node_limit, scratch)
            overflows += cut_off
            nodes += searched
    return overflows, nodes


@kernel(inline="always")
def _solve_root(mods, u, stars, scratch):
    """Find the best star of the root under the multipliers `u` of the arcs to modifiers, and write it to `stars`."""
    k, item, chain = mods.size, scratch.item, scratch.chain
    status, gain, end = scratch.status[0], scratch.gain[0], chain.end[0]
    for j in range(k):
        status[j] = scratch.base[j]
        gain[j] = -u[item[j]]
        end[j] = 0.0
    end[k], end[k + 1] = 0.0, 0.0
    value = best_choice(mods, status, gain, chain.trans, end, chain)
    if value > NEG_TEST:
        stars.value[0] = value
        for j in range(k):
            stars.y[item[j]] = chain.chosen[j]


@kernel(inline="always")
def _solve_under_arcs(index, parts, tables, alive, mods, multipliers, stars, scratch):
    """Find the best star of one head, by trying each arc into the head.

    If sets of modifiers must be searched, compute only the upper bound `stars.x_bound` for each arc.
    """
    h, k, item, chain = mods.head, mods.size, scratch.item, scratch.chain
    spread, shared, chosen = scratch.spread, scratch.shared, chain.chosen
    one_by_one = not mods.chained and len(mods.count_score) == 1
    first = index.into_start[h]
    if mods.chained and len(tables.outermost) == 0:
        chain.end[: index.into_start[h + 1] - first, : k + 2] = 0.0
    for o in range(index.into_start[h + 1] - first):
        a = index.into[first + o]
        scratch.tried[o] = True
        stars.x_bound[a] = NEG
        if not alive[a] or not worth_under(o, a, index, parts, tables, mods, multipliers.child, scratch):
            continue
        status, gain = scratch.status[o], scratch.gain[o]
        v = mods.constant - multipliers.parent[a] + mods.shift
        if one_by_one:
            for j in range(k):
                t = gain[j] + spread[j]
                if status[j] == IN or (status[j] == FREE and t > 0.0):
                    v += t
        else:
            for j in range(k):
                shared[j] = gain[j] + spread[j]
            follow = follow_under(o, a, index, parts, tables, mods, scratch)
            v += best_choice(mods, status, shared, follow, chain.end[o], chain)
        if v <= NEG_TEST:
            continue
        stars.x_bound[a] = v
        if mods.sets:
            if tables.unit > 0.0:
                stars.x_bound[a] = np.floor(v + ROUNDING)
            scratch.tried[o] = False
        elif v > stars.value[h]:
            stars.value[h] = v
            stars.x[h] = a
            for j in range(k):
                if one_by_one:
                    chosen[j] = status[j] == IN or (status[j] == FREE and gain[j] > 0.0)
                stars.y[item[j]] = chosen[j]


@kernel(inline="always")
def _search_sets(index, parts, tables, mods, w, stars, node_limit, scratch):
    """Find the best star of one head by searches over sets of modifiers, one search for each arc into the head.

    The arc with the highest bound is searched first; `w` holds the multipliers of arcs into heads. Return (1 if the
    value of the head is only an upper bound, else 0; number of search nodes).
    """
    h, k, unit, chain = mods.head, mods.size, tables.unit, scratch.chain
    value, x, x_bound = stars.value, stars.x, stars.x_bound
    first, end = index.into_start[h], index.into_start[h + 1]
    nodes = 0
    top = NEG  # the highest bound of the searches that were cut off
    while True:
        a, o = NONE, NONE
        for i in range(end - first):
            b = index.into[first + i]
            if not scratch.tried[i] and (a == NONE or x_bound[b] > x_bound[a]):
                a, o = b, i
        if a == NONE or not beats(x_bound[a], value[h], unit):
            break
        scratch.tried[o] = True
        follow = follow_under(o, a, index, parts, tables, mods, scratch)
        worth = Worth(scratch.status[o], scratch.gain[o], follow, chain.end[o])
        extra = mods.constant - w[a]
        floor = value[h] - extra if value[h] > NEG_TEST else NEG
        if mods.chained and len(tables.tri_sibling) == 0:
            v, limit, searched = search_chain(mods, worth, floor, unit, node_limit, scratch)
        else:
            v, limit, searched = search_modifiers(mods, worth, floor, unit, node_limit, scratch)
        nodes += searched
        if v > floor:
            value[h] = v + extra
            x[h] = a
            for j in range(k):
                stars.y[scratch.item[j]] = scratch.solution[j]
        if limit > v:
            top = max(top, limit + extra)
            x_bound[a] = min(x_bound[a], limit + extra)
        else:
            x_bound[a] = min(x_bound[a], value[h])
    if mods.chained and len(tables.sibling) > 0:
        for j in range(k):
            for i in range(j):
                p = parts.sibling[h] + pair_rank(mods.candidates, mods.place[i], mods.place[j])
                scratch.pair_share[p] = abs(scratch.share[i, j])
    if top <= value[h]:
        return 0, nodes
    for i in range(first, end):
        # no star was found: choose an arc into h with the highest bound
        if value[h] == NEG and (x[h] == NONE or x_bound[index.into[i]] > x_bound[x[h]]):
            x[h] = index.into[i]
    value[h] = top
    return 1, nodes
