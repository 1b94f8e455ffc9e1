"""The best modifiers of one head where all pairs, triples or runs of them are scored: depth-first search over sets.

A node has modifiers that are in, out and free. What is scored between free ones is shared out to them: a positive part
counts as much for each of its free modifiers, a negative one as nothing; then the shares of pairs are improved one by
one. With shares the modifiers are chosen one by one, or by the dynamic program along them where neighbours are scored,
and that bounds the node. A modifier that cannot help whatever else is chosen is out, one that cannot hurt is in.

Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.chain import FREE, IN, OUT, best_chain, best_counted_chain, best_free

ROUNDING = 1e-3  #: shares of thirds are not exact; bounds of integers are integers up to this


class SearchScratch(NamedTuple):
    """Working memory of the search over sets: one row for every depth, up to K.

    pairs    float64[K + 2, K, K] sibling scores, the last as they are, the others at each depth, with what triples add
             once one of their arcs is in; [1, K, K] without triples: then they never change
    state    int8[K + 1, K]     OUT, FREE, IN
    linear   float64[K + 1, K]  what a free modifier adds by itself, given those that are in
    constant float64[K + 1]     score of those that are in
    bound    float64[K + 1]
    branch, other  int32[K + 1], int8[K + 1]  the modifier branched on, the state still to be tried (-1: none)
    free     int32[K]
    weight, high, low  float64[K]  share of the bound; the most and the least that a modifier can add
    """

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


class Modifiers(NamedTuple):
    """The candidate modifiers of one head, and what is scored among them whatever the arc into the head is.

    size, left   how many there are, and how many of them are on the left
    place        int32[size] rank of each among all candidates of the head, alive or not
    candidates   number of those
    count_score, last  as in `best_free`
    tri, tri_first  triple scores of the sentence (empty: none), the first of this head
    comb, comb_items, combs  scores float64 and members int32[combs, 8] (local numbers, NONE padded) of runs
    """

    size: int
    left: int
    place: np.ndarray
    candidates: int
    count_score: np.ndarray
    last: int
    tri: np.ndarray
    tri_first: int
    comb: np.ndarray
    comb_items: np.ndarray
    combs: int


@njit(cache=True, nogil=True, inline="always")
def pair_rank(k, x, y):
    """Rank of x < y among the pairs of k, lexicographically. O(1)."""
    return x * (2 * k - x - 1) // 2 + y - x - 1


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
def begin(k, status, gain, state, linear, constant):
    """The node that a search over sets starts at; no certain modifier is taken yet. O(k)."""
    constant[0] = 0.0
    for i in range(k):
        state[0, i] = OUT if status[i] == OUT else FREE
        linear[0, i] = gain[i]


@njit(cache=True, nogil=True)
def take(depth, v, k, row, state, linear, constant):
    """Put free modifier v in at a depth; its pairs (row) become scores of the others. O(k)."""
    state[depth, v] = IN
    constant[depth] += linear[depth, v]
    for i in range(k):  # those that are not free, too: nobody looks at them again
        linear[depth, i] += row[i]


@njit(cache=True, nogil=True)
def begin_child(depth, k, state, linear, constant):
    """The node below one begins as it. O(k)."""
    constant[depth + 1] = constant[depth]
    for i in range(k):
        state[depth + 1, i] = state[depth, i]
        linear[depth + 1, i] = linear[depth, i]


@njit(cache=True, nogil=True)
def go_back(depth, value, unit, bound, other):
    """The last depth above this one whose other child may be better than `value`; -1: none. O(depth)."""
    for d in range(depth - 1, -1, -1):
        if other[d] != NONE and beats(bound[d], value, unit):
            return d
    return -1


@njit(cache=True, nogil=True)
def open_bound(depth, upper, value, unit, bound, other):
    """What no set exceeds where the search is cut off at a node with bound `upper`. O(depth)."""
    for d in range(depth):
        if other[d] != NONE:
            upper = max(upper, bound[d])
    if unit > 0.0:
        upper = np.floor(upper + ROUNDING)
    return max(upper, value)


@njit(cache=True, nogil=True)
def _triple(mods, i, j, v):
    """Score of the triple of local modifiers i, j, v in any order."""
    x, y, z = mods.place[i], mods.place[j], mods.place[v]
    if x > y:
        x, y = y, x
    if y > z:
        y, z = z, y
        if x > y:
            x, y = y, x
    return mods.tri[mods.tri_first + triple_rank(mods.candidates, x, y, z)]


@njit(cache=True, nogil=True)
def _take(depth, v, mods, triples, pairs, state, linear, constant):
    """`take`, and its triples become pairs of the others. O(k), with triples O(k^2)."""
    row = pairs[depth if triples else -1]
    take(depth, v, mods.size, row[v], state, linear, constant)
    if triples:
        for i in range(mods.size):
            if state[depth, i] == FREE:
                for j in range(i):
                    if state[depth, j] == FREE:
                        t = _triple(mods, i, j, v)
                        row[i, j] += t
                        row[j, i] += t


@njit(cache=True, nogil=True)
def search_modifiers(
    mods, chained, status, gain, trans, end, floor, unit, node_limit, scratch, chain, chosen, solution
):
    """Best set of modifiers if it is better than `floor`.

    chained      neighbours are scored: trans and end hold what
    status, gain int8[k], float64[k] what is certain or shut out; what each adds by itself
    OUT solution int8[k], if something better was found.
    Returns (value, floor if nothing was better; bound, no set has more; nodes). bound > value only where cut off.
    """
    k, left, comb, comb_items, combs = mods.size, mods.left, mods.comb, mods.comb_items, mods.combs
    count_score, last = mods.count_score, mods.last
    pairs, state, linear, constant = scratch.pairs, scratch.state, scratch.linear, scratch.constant
    bound, branch, other, free = scratch.bound, scratch.branch, scratch.other, scratch.free
    weight, high, low = scratch.weight, scratch.high, scratch.low
    triples = len(mods.tri) > 0
    if triples:
        for i in range(k):
            for j in range(k):
                pairs[0, i, j] = pairs[-1, i, j]
    begin(k, status, gain, state, linear, constant)
    for i in range(k):
        if status[i] == IN:
            _take(0, i, mods, triples, pairs, state, linear, constant)
    value = floor
    nodes = 0
    depth = 0
    while True:
        nodes += 1
        table = pairs[depth if triples else -1]
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
            for i in range(k):
                high[i] = 0.0
                low[i] = 0.0
            for p in range(f):
                row = table[free[p]]
                for i in range(k):  # shut out and chosen ones too, so that it is done four at a time
                    t = row[i]
                    high[i] += t if t > 0.0 else 0.0
                    low[i] += t if t < 0.0 else 0.0
            tied = False
            for p in range(f):
                i = free[p]
                t = linear[depth, i]
                tied = tied or high[i] > 0.0 or low[i] < 0.0
                weight[i] = t + 0.5 * high[i]
                high[i] += t
                low[i] += t
            if triples:
                for p in range(f):
                    for q in range(p):
                        for r in range(q):
                            i, j, v = free[p], free[q], free[r]
                            t = _triple(mods, i, j, v)
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
                    state[depth, i] = OUT
                    settled = True
                elif low[i] + least >= 0.0:
                    _take(depth, i, mods, triples, pairs, state, linear, constant)
                    settled = True
            if not settled:
                break
        # the bound
        if chained:
            for i in range(k):
                if state[depth, i] == IN:
                    weight[i] = 0.0  # counted already
            if last == 0:
                upper = best_chain(k, left, state[depth], weight, trans, end, chain, chosen)
            else:
                upper = best_counted_chain(k, left, state[depth], weight, trans, end, count_score, last, chain, chosen)
            upper += constant[depth] + fixed
        elif last > 0:
            for i in range(k):
                if state[depth, i] == IN:
                    weight[i] = 0.0
            upper = best_free(k, state[depth], weight, count_score, last, chosen) + constant[depth] + fixed
        else:
            upper = constant[depth] + fixed
            for p in range(f):
                if weight[free[p]] > 0.0:
                    upper += weight[free[p]]
        if not tied:
            if upper > value and upper > NEG_TEST:
                value = upper
                for i in range(k):
                    if chained or last > 0:
                        solution[i] = chosen[i]
                    else:
                        solution[i] = state[depth, i] == IN or (state[depth, i] == FREE and weight[i] > 0.0)
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
                        t = table[i, j]
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
                better = constant[depth] + fixed + shift
                if last > 0:
                    better += best_free(k, state[depth], weight, count_score, last, chosen)
                else:
                    for p in range(f):
                        if weight[free[p]] > 0.0:
                            better += weight[free[p]]
                upper = min(upper, better)
                backtrack = not beats(upper, value, unit)
        if not backtrack:
            if nodes >= node_limit:
                return value, open_bound(depth, upper, value, unit, bound, other), nodes
            arg = -1
            span = -1.0
            for p in range(f):
                i = free[p]
                if high[i] - low[i] > span:
                    span = high[i] - low[i]
                    arg = i
            branch[depth] = arg
            bound[depth] = upper
            into = IN if weight[arg] > 0.0 else OUT
            other[depth] = OUT if into == IN else IN
        else:
            depth = go_back(depth, value, unit, bound, other)
            if depth < 0:
                return value, value, nodes
            arg = branch[depth]
            into = other[depth]
            other[depth] = NONE
        begin_child(depth, k, state, linear, constant)
        if triples:
            for i in range(k):
                for j in range(k):
                    pairs[depth + 1, i, j] = pairs[depth, i, j]
        depth += 1
        if into == OUT:
            state[depth, arg] = OUT
        else:
            _take(depth, arg, mods, triples, pairs, state, linear, constant)
