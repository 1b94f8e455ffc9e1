"""The best modifiers of one head if pairs, triples or runs of modifiers have scores: depth-first search over sets.

At a node of the search, each modifier is in, out or free. The scores of parts of free modifiers are divided among them.
A positive part is divided evenly, and a negative part counts as 0. Then the shares of pairs are improved one by one.
With these shares, modifiers are chosen one by one, or by the dynamic program along them if neighbours have scores. The
result is the bound of the node. A modifier that cannot raise the score is set to OUT, and a modifier that cannot lower
it is set to IN.

Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.chain import FREE, IN, OUT, best_choice
from treebound.kernels.head_stars.tables import triple_rank
from treebound.kernels.reference import by_reference
from treebound.support.jit import kernel

ROUNDING = 1e-3  #: tolerance of bounds that are integers, because shares of a third are not exact


@by_reference
@dataclass
class SetScratch:
    """Working memory of a search over sets of at most K modifiers, with one row for every depth of the search tree.

    - `pairs`: float64[K + 2, K, K]. Scores of pairs of modifiers. The last table has the original scores. The others,
      one per depth, also contain the scores of triples: of the pair and a third modifier that is IN. Without triples,
      there is only the original table, [1, K, K].
    - `state`: int8[K + 1, K]. The state of each modifier at a node. IN means chosen, OUT rejected, and FREE undecided.
    - `linear`: float64[K + 1, K]. The score that a free modifier adds to the modifiers that are IN, apart from combs.
    - `constant`: float64[K + 1]. The score of the modifiers that are IN.
    - `bound`: float64[K + 1]. The bound of the node.
    - `branch`, `untried`: int32[K + 1], int8[K + 1]. The modifier on which the node branches, and the state not yet
      tried (NONE if both were tried).
    - `free`: int32[K]. The free modifiers.
    - `weight`: float64[K]. The score of a free modifier in the bound: its own score and its shares of parts.
    - `high`, `low`: float64[K]. The largest and the smallest amount that a free modifier can add to the score.
    """

    pairs: np.ndarray
    state: np.ndarray
    linear: np.ndarray
    constant: np.ndarray
    bound: np.ndarray
    branch: np.ndarray
    untried: np.ndarray
    free: np.ndarray
    weight: np.ndarray
    high: np.ndarray
    low: np.ndarray


@kernel
def set_scratch(K, triples):
    """Return the SetScratch for sets of up to K modifiers. O(K^2), or O(K^3) if `triples` is True."""
    return SetScratch(
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


@kernel
def beats(bound, best, unit):
    """Return whether a value of at most `bound` can exceed `best`; if unit > 0, all values are integers."""
    if unit > 0.0:
        return bound >= best + 1.0 - ROUNDING
    return bound > best


@kernel(inline="always")
def begin(worth, k, sets):
    """Initialise the root node of a search over k modifiers with the scores and states in `worth` (Worth). O(k).

    Modifiers whose state in `worth` is IN start as FREE; the caller takes them afterwards.
    """
    sets.constant[0] = 0.0
    for i in range(k):
        sets.state[0, i] = OUT if worth.status[i] == OUT else FREE
        sets.linear[0, i] = worth.gain[i]


@kernel(inline="always")
def take(depth, v, k, row, sets):
    """Set the free modifier v to IN at the node of a depth. O(k).

    `row` float64[k] holds the scores of the pairs of v. Each score is added to the other modifier of its pair.
    """
    linear = sets.linear[depth]
    sets.state[depth, v] = IN
    sets.constant[depth] += linear[v]
    for i in range(k):  # also for modifiers that are not free, because their values are never read
        linear[i] += row[i]


@kernel(inline="always")
def begin_child(depth, k, sets):
    """Initialise the node at depth + 1 as a copy of its parent, the node at `depth`. O(k)."""
    sets.constant[depth + 1] = sets.constant[depth]
    for i in range(k):
        sets.state[depth + 1, i] = sets.state[depth, i]
        sets.linear[depth + 1, i] = sets.linear[depth, i]


@kernel(inline="always")
def branch_on(depth, v, include_first, upper, sets):
    """Branch on modifier v and return its state in the first child: IN if `include_first`, otherwise OUT.

    `upper` is the bound of the node at `depth`, which branches.
    """
    first = IN if include_first else OUT
    sets.branch[depth] = v
    sets.bound[depth] = upper
    sets.untried[depth] = OUT if first == IN else IN
    return first


@kernel
def go_back(depth, value, unit, bound, untried):
    """Return the depth of the nearest ancestor whose untried child may exceed `value`, or -1. O(depth).

    - `bound`, `untried`: the fields of SetScratch.
    - `unit`: if greater than 0, all values are integers.
    """
    for d in range(depth - 1, -1, -1):
        if untried[d] != NONE and beats(bound[d], value, unit):
            return d
    return -1


@kernel
def open_bound(depth, upper, value, unit, bound, untried):
    """Return an upper bound on the score of every set if the search is cut off at a node with bound `upper`. O(depth).

    - `value`: the score of the best set so far.
    - `bound`, `untried`: the fields of SetScratch.
    - `unit`: if greater than 0, all values are integers.
    """
    for d in range(depth):
        if untried[d] != NONE:
            upper = max(upper, bound[d])
    if unit > 0.0:
        upper = np.floor(upper + ROUNDING)
    return max(upper, value)


@kernel
def _triple(mods, i, j, v):
    """Return the score of the triple of modifiers i, j, v, which may be in any order. They are indices in `mods`."""
    x, y, z = mods.place[i], mods.place[j], mods.place[v]
    if x > y:
        x, y = y, x
    if y > z:
        y, z = z, y
        if x > y:
            x, y = y, x
    return mods.tri[mods.tri_first + triple_rank(mods.candidates, x, y, z)]


@kernel(inline="always")
def _copy(k, table, out):
    """Copy the first k rows and columns of `table` to `out`."""
    for i in range(k):
        for j in range(k):
            out[i, j] = table[i, j]


@kernel(inline="always")
def _take(depth, v, mods, sets):
    """Set the free modifier v to IN at the node of a depth, and update the scores of free modifiers and their pairs.

    The scores of pairs with v are added to single modifiers, the scores of triples with v to pairs. O(k), with triples
    O(k^2).
    """
    row = sets.pairs[depth if len(mods.tri) > 0 else -1]
    take(depth, v, mods.size, row[v], sets)
    if len(mods.tri) > 0:
        for i in range(mods.size):
            if sets.state[depth, i] == FREE:
                for j in range(i):
                    if sets.state[depth, j] == FREE:
                        t = _triple(mods, i, j, v)
                        row[i, j] += t
                        row[j, i] += t


@kernel(inline="always")
def _share_pairs(depth, k, table, sets):
    """Divide the scores of pairs of free modifiers, and count the modifiers in each state. O(k^2).

    The fields `free`, `high`, `low` and `weight` of `sets` are written from the scores of modifiers and of pairs
    (`table`). Return (number of free modifiers, number that are IN, whether any pair of free modifiers has a score).
    """
    state, linear, free = sets.state[depth], sets.linear[depth], sets.free
    high, low, weight = sets.high, sets.low, sets.weight
    f = 0
    count = 0
    for i in range(k):
        if state[i] == FREE:
            free[f] = i
            f += 1
        elif state[i] == IN:
            count += 1
    for i in range(k):
        high[i] = 0.0
        low[i] = 0.0
    for p in range(f):
        row = table[free[p]]
        for i in range(k):  # also for modifiers that are in or out, so that the processor can handle four at a time
            t = row[i]
            high[i] += t if t > 0.0 else 0.0
            low[i] += t if t < 0.0 else 0.0
    tied = False
    for p in range(f):
        i = free[p]
        t = linear[i]
        tied = tied or high[i] > 0.0 or low[i] < 0.0
        weight[i] = t + 0.5 * high[i]
        high[i] += t
        low[i] += t
    return f, count, tied


@kernel(inline="always")
def _share_triples(f, mods, sets):
    """Divide the scores of triples of the f free modifiers, and return whether any such triple has a score. O(f^3).

    The shares of positive triples are added to `sets.weight`. The score of every triple is added to `sets.high` or
    `sets.low` of its modifiers.
    """
    free, high, low, weight = sets.free, sets.high, sets.low, sets.weight
    tied = False
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
    return tied


@kernel(inline="always")
def _share_combs(depth, mods, sets):
    """Divide the scores of runs of modifiers (combs) among their free members. O(runs).

    The shares are added to `sets.weight`, the scores of runs to `sets.high` or `sets.low` of their free members. Runs
    with a member that is OUT are ignored.
    Return (score of the runs whose members are all IN, whether another run has two or more free members).
    """
    comb, comb_items, state = mods.comb, mods.comb_items, sets.state[depth]
    high, low, weight = sets.high, sets.low, sets.weight
    fixed = 0.0
    tied = False
    for p in range(len(comb)):
        free_count, dead = free_members(comb_items[p], state)
        if dead:
            continue
        if free_count == 0:
            fixed += comb[p]
            continue
        tied = tied or free_count > 1
        for q in range(comb_items.shape[1]):
            i = comb_items[p, q]
            if i < 0:
                break
            if state[i] == FREE:
                if free_count == 1 or comb[p] > 0.0:
                    high[i] += comb[p]
                    weight[i] += comb[p] / free_count
                if free_count == 1 or comb[p] < 0.0:
                    low[i] += comb[p]
    return fixed, tied


@kernel(inline="always")
def free_members(items, state):
    """Return (number of free members of a run, whether a member is OUT); the number is 0 if a member is OUT.

    `items` holds the modifiers of the run, padded with negative numbers, and `state` the state of each modifier.
    """
    members = 0
    for i in items:
        if i < 0:
            break
        if state[i] == OUT:
            return 0, True
        members += state[i] == FREE
    return members, False


@kernel(inline="always")
def _settle(depth, f, count, mods, sets):
    """Set modifiers that cannot raise the score to OUT, and modifiers that cannot lower it to IN. O(f k).

    Return whether any modifier was set. `f` modifiers are free, and `count` modifiers are IN.
    """
    count_score = mods.count_score
    last = len(count_score) - 1
    # the change of the count's score by one more modifier
    largest_change, smallest_change = 0.0, 0.0
    if last > 0:
        largest_change, smallest_change = 2.0 * NEG, -2.0 * NEG
        for c in range(count, count + f):
            t = count_score[min(c + 1, last)] - count_score[min(c, last)]
            largest_change = max(largest_change, t)
            smallest_change = min(smallest_change, t)
    settled = False
    for p in range(f):
        i = sets.free[p]
        if sets.high[i] + largest_change <= 0.0:
            sets.state[depth, i] = OUT
            settled = True
        elif sets.low[i] + smallest_change >= 0.0:
            _take(depth, i, mods, sets)
            settled = True
    return settled


@kernel(inline="always")
def _with_best(total, depth, f, mods, worth, scratch):
    """Return `total`, the score of the modifiers that are IN, plus the largest sum of weights of free modifiers.

    A dynamic program finds this sum if neighbouring modifiers or the number of modifiers have scores.
    """
    sets, weight = scratch.sets, scratch.sets.weight
    if mods.chained or len(mods.count_score) > 1:
        for i in range(mods.size):
            if sets.state[depth, i] == IN:
                weight[i] = 0.0  # `total` already contains the score of this modifier
        return total + best_choice(mods, sets.state[depth], weight, worth.follow, worth.end, scratch.chain)
    for p in range(f):
        if weight[sets.free[p]] > 0.0:
            total += weight[sets.free[p]]
    return total


@kernel(inline="always")
def _improve_shares(f, table, sets):
    """Improve the shares of pairs (`table`) of the f free modifiers, so that the bound of the node falls. O(f^2).

    A positive pair shifts weight from a modifier with positive weight to one with negative weight. A negative pair
    reduces two positive weights by the same amount. Return the total amount, which must be added to the bound.
    """
    free, weight = sets.free, sets.weight
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
    return shift


@kernel
def search_modifiers(mods, worth, floor, unit, node_limit, scratch):
    """Find the best set of modifiers of one head, if it scores more than `floor`.

    - `mods`, `worth`: Modifiers of the head, and their scores under one arc into the head (Worth).
    - `unit`: if greater than 0, all scores are integers.
    - `node_limit`: largest number of search nodes.
    - `scratch`: StarScratch. If a better set is found, it is written to scratch.solution int8[k].

    Return (value, bound, number of nodes). The value is `floor` if no set is better. No set scores more than the bound,
    which exceeds the value only if the search was cut off.
    """
    k, sets, chosen = mods.size, scratch.sets, scratch.chain.chosen
    triples = len(mods.tri) > 0
    by_weight = not mods.chained and len(mods.count_score) == 1
    if triples:
        _copy(k, sets.pairs[-1], sets.pairs[0])
    begin(worth, k, sets)
    for i in range(k):
        if worth.status[i] == IN:
            _take(0, i, mods, sets)
    value = floor
    nodes, depth = 0, 0
    while True:
        nodes += 1
        table = sets.pairs[depth if triples else -1]
        while True:
            f, count, tied = _share_pairs(depth, k, table, sets)
            if triples:
                tied = _share_triples(f, mods, sets) or tied
            fixed, by_combs = _share_combs(depth, mods, sets)
            tied = tied or by_combs
            if mods.chained or not tied or not _settle(depth, f, count, mods, sets):
                break
        upper = _with_best(sets.constant[depth] + fixed, depth, f, mods, worth, scratch)
        if not tied:
            if upper > value and upper > NEG_TEST:
                value = upper
                for i in range(k):
                    if by_weight:
                        state = sets.state[depth, i]
                        scratch.solution[i] = state == IN or (state == FREE and sets.weight[i] > 0.0)
                    else:
                        scratch.solution[i] = chosen[i]
        elif not mods.chained and beats(upper, value, unit):
            better = sets.constant[depth] + fixed + _improve_shares(f, table, sets)
            upper = min(upper, _with_best(better, depth, f, mods, worth, scratch))
        if tied and beats(upper, value, unit):
            if nodes >= node_limit:
                return value, open_bound(depth, upper, value, unit, sets.bound, sets.untried), nodes
            arg = -1
            span = -1.0
            for p in range(f):
                i = sets.free[p]
                if sets.high[i] - sets.low[i] > span:
                    span = sets.high[i] - sets.low[i]
                    arg = i
            into = branch_on(depth, arg, sets.weight[arg] > 0.0, upper, sets)
        else:
            depth = go_back(depth, value, unit, sets.bound, sets.untried)
            if depth < 0:
                return value, value, nodes
            arg = sets.branch[depth]
            into = sets.untried[depth]
            sets.untried[depth] = NONE
        begin_child(depth, k, sets)
        if triples:
            _copy(k, sets.pairs[depth], sets.pairs[depth + 1])
        depth += 1
        if into == OUT:
            sets.state[depth, arg] = OUT
        else:
            _take(depth, arg, mods, sets)
