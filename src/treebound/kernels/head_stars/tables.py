"""Head stars: what one word, the arc into it and its modifiers can score at most (Koo et al. 2010, head automata).

A star is a head h with the arc x into it (none for the root) and the set M of arcs out of it. With multipliers u (of an
arc as a modifier's arc) and w (of an arc as the arc into a head), for every tree z

    score of the parts at all heads  <=  sum_a (u_a + w_a) z_a + sum_h S_h,
    S_h = max over x, M of  score_h(x, M) - w_x - sum_{m in M} u_m,

whatever u and w are: z has one x and one M at every head. Without parts that tie together modifiers which are not
neighbours, M is found by a dynamic program along the modifiers of each side.

Oracle: tests/test_stars.py tries every x and M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.arcs.wide_parts import LONGEST_COMB, SHORTEST_COMB
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.chain import (
    COUNTS,
    FREE,
    IN,
    OUT,
    ChainScratch,
    best_chain,
    best_counted_chain,
    best_free,
)
from treebound.kernels.head_stars.search import (
    ROUNDING,
    Modifiers,
    SearchScratch,
    beats,
    pair_rank,
    search_modifiers,
    triple_rank,
)
from treebound.kernels.head_stars.shares import first_shares, search_chain

COMB_SIZES = LONGEST_COMB - SHORTEST_COMB + 1
NO_ARCS = np.empty((0, LONGEST_COMB), np.int32)


class StarTables(NamedTuple):
    """Scores float64[F] of the families at one head, in the order of docs/architecture.md; empty where not scored here.

    comb_arcs int32[F, 8] arcs of the combs; comb_start int64[n + 2] first comb of each head.
    """

    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    grand_sibling: np.ndarray
    sibling: np.ndarray
    tri_sibling: np.ndarray
    comb: np.ndarray
    comb_arcs: np.ndarray
    comb_start: np.ndarray
    valency: np.ndarray


def star_tables(index, scores, comb_arcs=NO_ARCS):
    """StarTables of family -> float64[F]; comb_arcs as `list_parts` gives them. Absent families score nothing."""
    empty = np.empty(0, np.float64)
    n = len(index.right) - 1
    comb = scores.get("comb", empty)
    heads = index.head[comb_arcs[:, 0]] if len(comb) else empty
    return StarTables(
        scores.get("adjacent-sibling", empty),
        scores.get("outermost-grandchild", empty),
        scores.get("grandchild", empty),
        scores.get("grand-sibling", empty),
        scores.get("sibling", empty),
        scores.get("tri-sibling", empty),
        comb,
        comb_arcs,
        np.searchsorted(heads, np.arange(n + 2)),
        scores.get("valency", empty),
    )


class StarScratch(NamedTuple):
    """Working memory of `solve_stars` for up to K arcs out of or into a word; its contents mean nothing between calls.

    item     int32[K]  arcs of the modifiers, left ones near to far, then right ones near to far
    base     int8[K]   FREE or IN, whatever x
    status   int8[K, K], gain float64[K, K]  under each arc into the word: OUT, FREE or IN; what a modifier adds
    spread   float64[K] what the shares of parts among modifiers add to a gain
    share    float64[K, K] those shares of pairs (as of `search_chain`); pair_share float64[F] as of `first_shares`, of
             all heads: what one call has found, the next begins with
    place    int32[K]  rank of each modifier among all candidates of the head
    chosen, solution  int8[K]
    comb, comb_items  float64[5 K], int32[5 K, 8]: runs of modifiers, padded with NONE
    tried    bool[K]   arcs into the word
    count_score  float64[COUNTS]
    """

    item: np.ndarray
    base: np.ndarray
    status: np.ndarray
    gain: np.ndarray
    spread: np.ndarray
    share: np.ndarray
    pair_share: np.ndarray
    place: np.ndarray
    chosen: np.ndarray
    solution: np.ndarray
    comb: np.ndarray
    comb_items: np.ndarray
    tried: np.ndarray
    count_score: np.ndarray
    chain: ChainScratch
    search: SearchScratch


@njit(cache=True, nogil=True)
def star_scratch(index, tables):
    """Scratch for the stars of a sentence. O(K^2), with triples O(K^3)."""
    triples = len(tables.tri_sibling) > 0
    K = 1
    for h in range(len(index.right)):
        K = max(K, index.start[h + 1] - index.start[h], index.into_start[h + 1] - index.into_start[h])
    chain = ChainScratch(
        np.empty((K, K + 1), np.float64),
        np.empty((K, K + 1), np.float64),
        np.empty((K, K + 2), np.float64),
        np.empty((K, COUNTS), np.float64),
        np.empty((K, COUNTS), np.int32),
        np.empty((K, COUNTS), np.int32),
        np.empty((2, COUNTS), np.float64),
        np.empty((2, COUNTS), np.int32),
    )
    search = SearchScratch(
        np.empty((K + 2 if triples else 1, K, K), np.float64),
        np.empty((K + 1, K), np.int8),
        np.empty((K + 1, K), np.float64),
        np.empty(K + 1, np.float64),
        np.empty(K + 1, np.float64),
        np.empty(K + 1, np.int32),
        np.empty(K + 1, np.int8),
        np.empty(K, np.int32),
        np.empty(K, np.float64),
        np.empty(K, np.float64),
        np.empty(K, np.float64),
    )
    return StarScratch(
        np.empty(K, np.int32),
        np.empty(K, np.int8),
        np.empty((K, K), np.int8),
        np.empty((K, K), np.float64),
        np.empty(K, np.float64),
        np.empty((K, K), np.float64),
        first_shares(tables.sibling),
        np.empty(K, np.int32),
        np.empty(K, np.int8),
        np.empty(K, np.int8),
        np.empty(COMB_SIZES * K, np.float64),
        np.empty((COMB_SIZES * K, LONGEST_COMB), np.int32),
        np.empty(K, np.bool_),
        np.empty(COUNTS, np.float64),
        chain,
        search,
    )


@njit(cache=True, nogil=True)
def _modifiers(index, parts, tables, alive, h, scratch):
    """The candidate modifiers of h, and what is scored among them whatever x is. O(k^2), with triples O(k^3).

    Returns (number of modifiers, of those on the left, last count that matters, constant, whether neighbours are
    scored, whether sets are, what shares of pairs add to a bound whatever is chosen, number of combs).
    """
    mod, start, right, into, into_start = index.mod, index.start, index.right, index.into, index.into_start
    item, base, place, spread = scratch.item, scratch.base, scratch.place, scratch.spread
    k, left = 0, 0
    for b in range(start[h], start[h + 1]):
        if b == right[h]:
            left = k
        if alive[b]:
            item[k] = b
            place[k] = b - start[h]
            spread[k] = 0.0
            base[k] = IN
            for i in range(into_start[mod[b]], into_start[mod[b] + 1]):
                if into[i] != b and alive[into[i]]:
                    base[k] = FREE
                    break
            k += 1
    if right[h] == start[h + 1]:
        left = k
    last = 0  # 0: it does not matter
    constant = 0.0
    count_score = scratch.count_score
    if h == 0:
        last = 2 if parts.single_root else 1
        count_score[0], count_score[1], count_score[2] = NEG, 0.0, NEG
    elif len(tables.valency) > 0:
        last = parts.valency[h + 1] - parts.valency[h] - 1
        for c in range(last + 1):
            count_score[c] = tables.valency[parts.valency[h] + c]
        if last == 0:
            constant = count_score[0]  # a word without candidates
    adjacent = len(tables.adjacent) > 0 and parts.adjacent[start[h]] < parts.adjacent[start[h + 1]]
    chained = adjacent or (h > 0 and len(tables.outermost) + len(tables.grand_sibling) > 0)
    if chained:
        trans = scratch.chain.trans
        for j in range(k):
            first = parts.adjacent[item[j]]
            trans[j, 0] = tables.adjacent[first] if adjacent else 0.0
            first += 1 - (start[h] if j < left else right[h])
            for i in range(0 if j < left else left, j):
                trans[j, i + 1] = tables.adjacent[first + item[i]] if adjacent else 0.0
    sets = False
    combs = 0
    shift = 0.0
    if h == 0 or k < 2:
        return k, left, last, constant, chained, sets, shift, combs
    candidates = start[h + 1] - start[h]
    pair, share = scratch.search.pairs[-1], scratch.share
    if len(tables.sibling) > 0 or len(tables.tri_sibling) > 0:
        sets = True
        for j in range(k):
            for i in range(j):
                t, s = 0.0, 0.0
                if len(tables.sibling) > 0:
                    p = parts.sibling[h] + pair_rank(candidates, place[i], place[j])
                    t, s = tables.sibling[p], scratch.pair_share[p]
                pair[i, j] = t
                pair[j, i] = t
                if t < 0.0:
                    shift += s
                    s = -s
                share[i, j] = s
                share[j, i] = t - s if t > 0.0 else s
                spread[i] += share[i, j]
                spread[j] += share[j, i]
            pair[j, j] = 0.0
            share[j, j] = 0.0
    if len(tables.tri_sibling) > 0:
        for v in range(k):
            for j in range(v):
                for i in range(j):
                    t = tables.tri_sibling[parts.tri_sibling[h] + triple_rank(candidates, place[i], place[j], place[v])]
                    if t > 0.0:
                        spread[i] += t / 3
                        spread[j] += t / 3
                        spread[v] += t / 3
    if len(tables.comb) > 0:
        comb, comb_items = scratch.comb, scratch.comb_items
        for p in range(tables.comb_start[h], tables.comb_start[h + 1]):
            if tables.comb[p] == 0.0:
                continue
            size = 0
            j = 0
            for c in range(LONGEST_COMB):
                b = tables.comb_arcs[p, c]
                comb_items[combs, c] = NONE
                if b == NONE or not alive[b]:
                    size = size if b == NONE else -1
                    break
                while item[j] != b:
                    j += 1
                comb_items[combs, c] = j
                size += 1
            if size > 0:
                comb[combs] = tables.comb[p]
                if comb[combs] > 0.0:
                    for c in range(size):
                        spread[comb_items[combs, c]] += comb[combs] / size
                combs += 1
        if combs > 0 and not sets:
            sets = True
            pair[:k, :k] = 0.0
            share[:k, :k] = 0.0
    return k, left, last, constant, chained, sets, shift, combs


@njit(cache=True, nogil=True)
def _below(o, h, g, k, left, ranks, grandchild, outermost, item, mod, u, base, status, gain, end):
    """Row o of status, gain and end: the modifiers under arc (g, h). False if a certain one cannot be there. O(k).

    ranks  (first arc to the left, to the right, how many of each can be below, first grandchild and outermost part)
    """
    first_left, first_right, most_left, most_right, first_grandchild, first_outermost = ranks
    possible = True
    for j in range(k):
        b = item[j]
        if j < left:
            rank = b - first_left
            fits = rank < most_left
        else:
            rank = b - first_right
            fits = rank < most_right
            rank += most_left
        value = -u[b]
        state = base[j]
        if not fits or mod[b] == g:
            possible = possible and state != IN
            state = OUT
        else:
            if len(grandchild) > 0:
                value += grandchild[first_grandchild + rank]
            if len(outermost) > 0:
                end[o, j] = outermost[first_outermost + 2 + rank]
        gain[o, j] = value
        status[o, j] = state
    if len(outermost) > 0:
        inner = 0 if g < h else 1  # the side towards g
        end[o, k + inner] = outermost[first_outermost]
        end[o, k + 1 - inner] = outermost[first_outermost + 1]
    return possible


@njit(cache=True, nogil=True)
def _grand_transitions(o, k, left, first_left, first_right, most_left, first, scores, item, status, trans, trans_x):
    """trans with the grand-siblings of the arc whose first part is `first`. O(k^2)."""
    for j in range(k):
        if status[o, j] == OUT:
            continue
        rank = item[j] - (first_left if j < left else first_right)
        p = first + rank * (rank + 1) // 2 + (0 if j < left else most_left * (most_left + 1) // 2)
        trans_x[j, 0] = trans[j, 0] + scores[p]
        p += 1 - (first_left if j < left else first_right)
        for i in range(0 if j < left else left, j):
            if status[o, i] != OUT:
                trans_x[j, i + 1] = trans[j, i + 1] + scores[p + item[i]]


@njit(cache=True, nogil=True)
def solve_stars(index, parts, tables, alive, u, w, dirty, value, x, y, x_bound, node_limit, unit, scratch):
    """S_h of every head that is dirty.

    index, parts  ArcIndex, PartIndex (whose trees, projective or not, say which modifiers can hang below an arc)
    tables    StarTables
    alive     bool[A]; the only alive arc into a word is certain, and chosen. The root takes exactly one arc where
              parts.single_root, else at least one
    u, w      float64[>= A] multipliers
    dirty     bool[n + 1]
    value     float64[n + 1] OUT: S_h, NEG if there is no star; above the score of x and y where node_limit was hit
    x         int32[n + 1] OUT: the arc into h of the best star, NONE for the root
    y         int8[A] OUT: whether an arc is chosen as modifier, for the arcs out of dirty heads
    x_bound   float64[A] OUT: for the arcs into dirty heads, no star with this x has more (NEG: there is none)
    node_limit  sets tried for a head and an arc into it
    unit      > 0: all scores and multipliers are integers
    Returns (how many values are upper bounds only, sets tried). Integers give exact integers. Nothing is allocated.
    O(arcs into h * (arcs out of h)^2) a head without sets; with sets exponential at worst, cut off by node_limit.
    """
    head, mod, start, right, into, into_start = index
    below, first_grandchild, first_outermost = parts.below, parts.grandchild, parts.outermost
    grandchild, outermost, grand_sibling = tables.grandchild, tables.outermost, tables.grand_sibling
    (
        item, base, status, gain, spread, share, pair_share, place, chosen, solution, comb, comb_items, tried,
        count_score, chain, search,
    ) = scratch  # fmt: skip
    trans, trans_x, end, shared = chain.trans, chain.trans_x, chain.end, search.weight
    grand = len(grand_sibling) > 0
    overflows, nodes = 0, 0
    for h in range(len(right)):
        if not dirty[h]:
            continue
        for b in range(start[h], start[h + 1]):
            y[b] = 0
        k, left, last, constant, chained, sets, shift, combs = _modifiers(index, parts, tables, alive, h, scratch)
        value[h] = NEG
        x[h] = NONE
        if h == 0:
            for j in range(k):
                status[0, j] = base[j]
                gain[0, j] = -u[item[j]]
                end[0, j] = 0.0
            end[0, k], end[0, k + 1] = 0.0, 0.0
            if chained:
                v = best_counted_chain(k, left, status[0], gain[0], trans, end[0], count_score, last, chain, chosen)
            else:
                v = best_free(k, status[0], gain[0], count_score, last, chosen)
            if v > NEG_TEST:
                value[0] = v
                for j in range(k):
                    y[item[j]] = chosen[j]
            continue
        if chained and len(outermost) == 0:
            end[: into_start[h + 1] - into_start[h], : k + 2] = 0.0
        for o in range(into_start[h + 1] - into_start[h]):
            a = into[into_start[h] + o]
            tried[o] = True
            x_bound[a] = NEG
            if not alive[a]:
                continue
            ranks = (start[h], right[h], below[a, 0], below[a, 1], first_grandchild[a], first_outermost[a])
            if not _below(o, h, head[a], k, left, ranks, grandchild, outermost, item, mod, u, base, status, gain, end):
                continue
            extra = constant - w[a]
            if not chained and last == 0:
                # one by one
                v = extra + shift
                for j in range(k):
                    t = gain[o, j] + spread[j]
                    if status[o, j] == IN or (status[o, j] == FREE and t > 0.0):
                        v += t
            else:
                for j in range(k):
                    shared[j] = gain[o, j] + spread[j]
                if not chained:
                    v = extra + shift + best_free(k, status[o], shared, count_score, last, chosen)
                else:
                    follow = trans
                    if grand:
                        follow = trans_x
                        first = parts.grand_sibling[a]
                        _grand_transitions(
                            o,
                            k,
                            left,
                            start[h],
                            right[h],
                            below[a, 0],
                            first,
                            grand_sibling,
                            item,
                            status,
                            trans,
                            trans_x,
                        )
                    if last == 0:
                        v = extra + shift + best_chain(k, left, status[o], shared, follow, end[o], chain, chosen)
                    else:
                        v = (
                            extra
                            + shift
                            + best_counted_chain(
                                k, left, status[o], shared, follow, end[o], count_score, last, chain, chosen
                            )
                        )
            if v <= NEG_TEST:
                continue
            x_bound[a] = v
            if sets:
                if unit > 0.0:
                    x_bound[a] = np.floor(v + ROUNDING)
                tried[o] = False
            elif v > value[h]:
                value[h] = v
                x[h] = a
                for j in range(k):
                    if not chained and last == 0:
                        chosen[j] = status[o, j] == IN or (status[o, j] == FREE and gain[o, j] > 0.0)
                    y[item[j]] = chosen[j]
        tri_first = parts.tri_sibling[h] if len(tables.tri_sibling) > 0 else 0
        mods = Modifiers(
            k, left, place, start[h + 1] - start[h], count_score, last, tables.tri_sibling, tri_first, comb, comb_items,
            combs,
        )  # fmt: skip
        top = NEG  # of searches that were cut off
        while sets:
            # the arc into h that promises most
            a, o = NONE, NONE
            for i in range(into_start[h + 1] - into_start[h]):
                b = into[into_start[h] + i]
                if not tried[i] and (a == NONE or x_bound[b] > x_bound[a]):
                    a, o = b, i
            if a == NONE or not beats(x_bound[a], value[h], unit):
                break
            tried[o] = True
            follow = trans
            if chained and grand:
                follow = trans_x
                first = parts.grand_sibling[a]
                _grand_transitions(
                    o, k, left, start[h], right[h], below[a, 0], first, grand_sibling, item, status, trans, trans_x
                )
            extra = constant - w[a]
            floor = value[h] - extra if value[h] > NEG_TEST else NEG
            if chained and len(tables.tri_sibling) == 0:
                v, limit, used = search_chain(
                    mods, share, status[o], gain[o], follow, end[o], floor, unit, node_limit, search, chain, chosen,
                    solution,
                )  # fmt: skip
            else:
                v, limit, used = search_modifiers(
                    mods, chained, status[o], gain[o], follow, end[o], floor, unit, node_limit, search, chain, chosen,
                    solution,
                )  # fmt: skip
            nodes += used
            if v > floor:
                value[h] = v + extra
                x[h] = a
                for j in range(k):
                    y[item[j]] = solution[j]
            if limit > v:
                top = max(top, limit + extra)
                x_bound[a] = min(x_bound[a], limit + extra)
            else:
                x_bound[a] = min(x_bound[a], value[h])
        if sets and chained and len(tables.sibling) > 0:
            for j in range(k):
                for i in range(j):
                    p = parts.sibling[h] + pair_rank(start[h + 1] - start[h], place[i], place[j])
                    pair_share[p] = abs(share[i, j])
        if top > value[h]:
            overflows += 1
            for i in range(into_start[h], into_start[h + 1]):
                # not even a first star: the arc into h is one that promises most
                if value[h] == NEG and (x[h] == NONE or x_bound[into[i]] > x_bound[x[h]]):
                    x[h] = into[i]
            value[h] = top
    return overflows, nodes
