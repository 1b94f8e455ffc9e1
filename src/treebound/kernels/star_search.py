"""The best modifiers of one head where all pairs, triples or runs of them are scored: depth-first search over sets.

A node has modifiers that are in, out and free. What is scored between free ones is shared out to them: a positive part
counts as much for each of its free modifiers, a negative one as nothing; then the shares of pairs are improved one by
one, which gives a good part of what the linear program would. With shares the modifiers are chosen one by one, or by
the dynamic program along them where neighbours are scored, and that bounds the node. A modifier that cannot help
whatever else is chosen is out, one that cannot hurt is in.

Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.hypergraph import NEG, NEG_TEST
from treebound.kernels.star_chain import FREE, IN, OUT, best_chain, best_counted_chain, best_free

ROUNDING = 1e-3  #: shares of thirds are not exact; bounds of integers are integers up to this


class SearchScratch(NamedTuple):
    """Working memory of the search over sets: one row for every depth, up to K.

    pair     float64[K, K]      sibling scores
    pairs    float64[K + 1, K, K] with what triples add once one of their arcs is in; without triples unused
    state    int8[K + 1, K]     OUT, FREE, IN
    linear   float64[K + 1, K]  what a free modifier adds by itself, given those that are in
    constant float64[K + 1]     score of those that are in
    bound    float64[K + 1]
    branch, other  int32[K + 1], int8[K + 1]  the modifier branched on, the state still to be tried (-1: none)
    free     int32[K]
    weight, high, low  float64[K]  share of the bound; the most and the least that a modifier can add
    """

    pair: np.ndarray
    pairs: np.ndarray
    state: np.ndarray
    linear: np.ndarray
    constant: np.ndarray
    bound: np.ndarray
    branch: np.ndarray
    other: np.ndarray
    free: np.ndarray
    weight: np.ndarray
    high: np.ndarray
    low: np.ndarray


@njit(cache=True, nogil=True)
def triple_rank(k, x, y, z):
    """Rank of x < y < z among the triples of k, lexicographically. O(1)."""
    a, b = k - x, k - y
    return (k * (k - 1) * (k - 2) - a * (a - 1) * (a - 2)) // 6 + ((a - 1) * (a - 2) - b * (b - 1)) // 2 + z - y - 1


@njit(cache=True, nogil=True)
def beats(bound, best, unit):
    """Could something under `bound` be better than `best`?"""
    if unit > 0.0:
        return bound >= best + 1.0 - ROUNDING
    return bound > best


@njit(cache=True, nogil=True)
def _triple(tri, first, k, place, i, j, v):
    """Score of the triple of local modifiers i, j, v in any order; place: their ranks among all k candidates."""
    x, y, z = place[i], place[j], place[v]
    if x > y:
        x, y = y, x
    if y > z:
        y, z = z, y
        if x > y:
            x, y = y, x
    return tri[first + triple_rank(k, x, y, z)]


@njit(cache=True, nogil=True)
def _decide(depth, v, into, k, scratch, tri, tri_first, candidates, place):
    """Put free modifier v in or out at a depth; its pairs become scores of the others. O(k), with triples O(k^2)."""
    state, linear, constant = scratch.state[depth], scratch.linear[depth], scratch.constant
    state[v] = into
    if into != IN:
        return
    constant[depth] += linear[v]
    triples = len(tri) > 0
    pairs = scratch.pairs[depth] if triples else scratch.pair
    for i in range(k):
        if state[i] == FREE:
            linear[i] += pairs[v, i]
            if triples:
                for j in range(i):
                    if state[j] == FREE:
                        t = _triple(tri, tri_first, candidates, place, i, j, v)
                        pairs[i, j] += t
                        pairs[j, i] += t


@njit(cache=True, nogil=True)
def _copy(depth, k, triples, scratch):
    """Depth + 1 begins as depth."""
    scratch.constant[depth + 1] = scratch.constant[depth]
    for i in range(k):
        scratch.state[depth + 1, i] = scratch.state[depth, i]
        scratch.linear[depth + 1, i] = scratch.linear[depth, i]
    if triples:
        for i in range(k):
            for j in range(k):
                scratch.pairs[depth + 1, i, j] = scratch.pairs[depth, i, j]


@njit(cache=True, nogil=True)
def search_modifiers(
    k,
    left,
    status,
    gain,
    place,
    candidates,
    tri,
    tri_first,
    comb,
    comb_items,
    combs,
    chained,
    trans,
    count_score,
    last,
    floor,
    unit,
    node_limit,
    scratch,
    chain,
    chosen,
    solution,
):
    """Best set of modifiers if it is better than `floor`.

    k, left      modifiers, and how many of them are on the left
    status, gain int8[k], float64[k] what is certain or shut out; what each adds by itself
    place        int32[k] rank among all candidates of the head, for triples
    tri, tri_first, candidates  triple scores of the sentence (empty: none), the first of this head, its candidates
    comb, comb_items, combs     scores float64 and members int32[combs, 8] (local numbers, -1 padded) of runs
    chained      neighbours are scored: trans and chain.end hold what
    count_score, last  as in `best_free`
    OUT solution int8[k], if something better was found.
    Returns (value, floor if nothing was better; bound, no set has more; nodes). bound > value only where cut off.
    """
    state, linear, constant, bound = scratch.state, scratch.linear, scratch.constant, scratch.bound
    branch, other, free = scratch.branch, scratch.other, scratch.free
    weight, high, low = scratch.weight, scratch.high, scratch.low
    triples = len(tri) > 0
    if triples:
        for i in range(k):
            for j in range(k):
                scratch.pairs[0, i, j] = scratch.pair[i, j]
    constant[0] = 0.0
    for i in range(k):
        state[0, i] = OUT if status[i] == OUT else FREE
        linear[0, i] = gain[i]
    for i in range(k):
        if status[i] == IN:
            _decide(0, i, IN, k, scratch, tri, tri_first, candidates, place)
    value = floor
    nodes = 0
    depth = 0
    while True:
        nodes += 1
        pairs = scratch.pairs[depth] if triples else scratch.pair
        # what free modifiers can add, at most, at least, and by their shares
        while True:
            f = 0
            count = 0
            for i in range(k):
                if state[depth, i] == FREE:
                    free[f] = i
                    f += 1
                elif state[depth, i] == IN:
                    count += 1
            tied = False
            for p in range(f):
                i = free[p]
                plus, minus = 0.0, 0.0
                for q in range(f):
                    t = pairs[i, free[q]]
                    if t > 0.0:
                        plus += t
                    else:
                        minus += t
                tied = tied or plus > 0.0 or minus < 0.0
                high[i] = linear[depth, i] + plus
                low[i] = linear[depth, i] + minus
                weight[i] = linear[depth, i] + 0.5 * plus
            if triples:
                for p in range(f):
                    for q in range(p):
                        for r in range(q):
                            i, j, v = free[p], free[q], free[r]
                            t = _triple(tri, tri_first, candidates, place, i, j, v)
                            if t > 0.0:
                                high[i] += t
                                high[j] += t
                                high[v] += t
                                weight[i] += t / 3
                                weight[j] += t / 3
                                weight[v] += t / 3
                                tied = True
                            elif t < 0.0:
                                low[i] += t
                                low[j] += t
                                low[v] += t
                                tied = True
            fixed = 0.0  # runs that are in
            for p in range(combs):
                left_over, dead = 0, False
                for q in range(comb_items.shape[1]):
                    i = comb_items[p, q]
                    if i < 0:
                        break
                    dead = dead or state[depth, i] == OUT
                    left_over += state[depth, i] == FREE
                if dead:
                    continue
                if left_over == 0:
                    fixed += comb[p]
                    continue
                tied = tied or left_over > 1
                for q in range(comb_items.shape[1]):
                    i = comb_items[p, q]
                    if i < 0:
                        break
                    if state[depth, i] == FREE:
                        if left_over == 1 or comb[p] > 0.0:
                            high[i] += comb[p]
                            weight[i] += comb[p] / left_over
                        if left_over == 1 or comb[p] < 0.0:
                            low[i] += comb[p]
            if chained or not tied:
                break
            # what one more modifier can change through the count
            most, least = 0.0, 0.0
            if last > 0:
                most, least = 2.0 * NEG, -2.0 * NEG
                for c in range(count, count + f):
                    t = count_score[min(c + 1, last)] - count_score[min(c, last)]
                    most = max(most, t)
                    least = min(least, t)
            settled = False
            for p in range(f):
                i = free[p]
                if high[i] + most <= 0.0:
                    _decide(depth, i, OUT, k, scratch, tri, tri_first, candidates, place)
                    settled = True
                elif low[i] + least >= 0.0:
                    _decide(depth, i, IN, k, scratch, tri, tri_first, candidates, place)
                    settled = True
            if not settled:
                break
        # the bound
        if chained:
            for i in range(k):
                if state[depth, i] == IN:
                    weight[i] = 0.0  # counted already
            if last == 0:
                upper = best_chain(k, left, state[depth], weight, trans, chain, chosen)
            else:
                upper = best_counted_chain(k, left, state[depth], weight, trans, count_score, last, chain, chosen)
            upper += constant[depth] + fixed
        else:
            for i in range(k):
                if state[depth, i] == IN:
                    weight[i] = 0.0
            upper = best_free(k, state[depth], weight, count_score, last, chosen) + constant[depth] + fixed
        if not tied:
            if upper > value and upper > NEG_TEST:
                value = upper
                for i in range(k):
                    solution[i] = chosen[i]
            backtrack = True
        else:
            backtrack = not beats(upper, value, unit)
            if not backtrack and not chained:
                # better shares: from modifiers with weight to those without, and negative pairs for two with weight
                shift = 0.0
                for p in range(f):
                    i = free[p]
                    for q in range(p):
                        j = free[q]
                        t = pairs[i, j]
                        if t > 0.0:
                            if weight[i] > 0.0 and weight[j] < 0.0:
                                t = min(0.5 * t, weight[i], -weight[j])
                                weight[i] -= t
                                weight[j] += t
                            elif weight[i] < 0.0 and weight[j] > 0.0:
                                t = min(0.5 * t, -weight[i], weight[j])
                                weight[i] += t
                                weight[j] -= t
                        elif t < 0.0 and weight[i] > 0.0 and weight[j] > 0.0:
                            t = min(-t, weight[i], weight[j])
                            weight[i] -= t
                            weight[j] -= t
                            shift += t
                better = best_free(k, state[depth], weight, count_score, last, chosen) + constant[depth] + fixed + shift
                upper = min(upper, better)
                backtrack = not beats(upper, value, unit)
        if not backtrack:
            if nodes >= node_limit:
                top = upper
                for d in range(depth):
                    if other[d] != NONE:
                        top = max(top, bound[d])
                if unit > 0.0:
                    top = np.floor(top + ROUNDING)
                return value, max(top, value), nodes
            arg = -1
            span = -1.0
            for p in range(f):
                i = free[p]
                if high[i] - low[i] > span:
                    span = high[i] - low[i]
                    arg = i
            first = IN if weight[arg] > 0.0 else OUT
            branch[depth] = arg
            other[depth] = OUT if first == IN else IN
            bound[depth] = upper
            _copy(depth, k, triples, scratch)
            _decide(depth + 1, arg, first, k, scratch, tri, tri_first, candidates, place)
            depth += 1
            continue
        while depth > 0:
            depth -= 1
            if other[depth] != NONE and beats(bound[depth], value, unit):
                break
            other[depth] = NONE
        else:
            return value, value, nodes
        first = other[depth]
        other[depth] = NONE
        _copy(depth, k, triples, scratch)
        _decide(depth + 1, branch[depth], first, k, scratch, tri, tri_first, candidates, place)
        depth += 1
