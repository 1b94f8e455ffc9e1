"""The best modifiers of one head where neighbours are scored beside pairs or runs: shares, and search over sets.

The shares of pairs make a bound that the dynamic program along the modifiers maximises: a positive pair is divided
between its two, a negative one t is at most s (1 - one - other) for any s in [0, -t]. Subgradient steps improve them,
and what a search has found out serves the next one of the same head: multipliers change, pairs do not. What is left of
the gap is closed by depth-first search over sets, with a step or two at every node.

Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.head_stars.chain import FREE, IN, OUT, best_choice
from treebound.kernels.head_stars.set_search import (
    beats,
    begin,
    begin_child,
    branch_on,
    free_members,
    go_back,
    open_bound,
    take,
)
from treebound.support.jit import kernel

ROOT_STEPS = 10
NODE_STEPS = 1


@kernel
def first_shares(pair):
    """float64[F]: shares of pairs to begin with, of their first modifier where positive, s where negative."""
    out = np.empty(len(pair), np.float64)
    for i in range(len(pair)):
        out[i] = max(0.5 * pair[i], 0.0)
    return out


@kernel(inline="always")
def _bound(depth, f, mods, worth, scratch):
    """What no set exceeds at a node with f free modifiers; OUT scratch.chain.chosen, the set that attains it."""
    sets, share = scratch.sets, scratch.share
    pairs, state, free, weight = sets.pairs[-1], sets.state[depth], sets.free, sets.weight
    # shares of free pairs; what certain modifiers add to free ones is in `linear`
    total = sets.constant[depth]
    for i in range(mods.size):
        weight[i] = 0.0
    for p in range(f):
        i = free[p]
        t = sets.linear[depth, i]
        for q in range(f):
            t += share[i, free[q]]
        weight[i] = t
        for q in range(p):
            if pairs[i, free[q]] < 0.0:
                total -= share[i, free[q]]
    for p in range(len(mods.comb)):
        items, score = mods.comb_items[p], mods.comb[p]
        members, dead = free_members(items, state)
        if dead:
            continue
        if members == 0:
            total += score
        elif members == 1 or score > 0.0:
            for i in items:
                if i < 0:
                    break
                if state[i] == FREE:
                    weight[i] += score / members
    return total + best_choice(mods, state, weight, worth.follow, worth.end, scratch.chain)


@kernel(inline="always")
def _slacks(depth, f, mods, scratch):
    """What the chosen set has less than its bound, and the number of pairs that have a part in it. O(f^2 + runs).

    OUT scratch.sets.high: the slack of the parts of each free modifier.
    """
    sets, share, chosen = scratch.sets, scratch.share, scratch.chain.chosen
    pairs, state, free, slack_of = sets.pairs[-1], sets.state[depth], sets.free, sets.high
    slack = 0.0
    moved = 0
    for p in range(f):
        slack_of[free[p]] = 0.0
    for p in range(f):
        i = free[p]
        for q in range(p):
            j = free[q]
            t = pairs[i, j]
            if t == 0.0:
                continue
            t = _slack(t, share[i, j], share[j, i], chosen[i], chosen[j])
            if t > 0.0:
                slack += t
                slack_of[i] += t
                slack_of[j] += t
                moved += 1
    for p in range(len(mods.comb)):
        items, score = mods.comb_items[p], mods.comb[p]
        members, dead = free_members(items, state)
        if dead or members < 2:
            continue
        taken = 0
        for i in items:
            if i < 0:
                break
            taken += state[i] == FREE and chosen[i] == 1
        t = 0.0
        if score > 0.0 and taken < members:
            t = score * taken / members
        elif score < 0.0 and taken == members:
            t = -score
        if t > 0.0:
            slack += t
            for i in items:
                if i < 0:
                    break
                slack_of[i] += t
    return slack, moved


@kernel
def search_chain(mods, worth, floor, unit, node_limit, scratch):
    """Best set of modifiers if it is better than `floor`; arguments and results as of `search_modifiers`.

    scratch.share float64[k, k] is what each modifier (row) has of its pair with another: of a positive pair the shares
    add up to it, of a negative one both are -s. It is improved in place.
    """
    k, sets, chosen = mods.size, scratch.sets, scratch.chain.chosen
    pairs, free, slack_of = sets.pairs[-1], sets.free, sets.high
    begin(worth, k, sets)
    for i in range(k):
        if worth.status[i] == IN:
            take(0, i, k, pairs[i], sets)
    value = floor
    nodes, depth = 0, 0
    while True:
        nodes += 1
        f = 0
        for i in range(k):
            if sets.state[depth, i] == FREE:
                free[f] = i
                f += 1
        upper = np.inf
        steps = ROOT_STEPS if nodes == 1 else NODE_STEPS
        while True:
            now = _bound(depth, f, mods, worth, scratch)
            if now <= NEG_TEST:
                backtrack = True
                break
            upper = min(upper, now)
            slack, moved = _slacks(depth, f, mods, scratch)
            score = now - slack
            if unit > 0.0:
                score = np.rint(score)
            if score > value and score > NEG_TEST:
                value = score
                for i in range(k):
                    scratch.solution[i] = chosen[i]
            backtrack = slack == 0.0 or not beats(upper, value, unit)
            if backtrack or moved == 0 or steps == 0:
                break
            steps -= 1
            alpha = (now - value if value > NEG_TEST else abs(now)) / moved
            for p in range(f):
                i = free[p]
                for q in range(p):
                    j = free[q]
                    if pairs[i, j] != 0.0:
                        _improve(pairs[i, j], alpha, i, j, scratch.share, chosen)
        if not backtrack:
            if nodes >= node_limit:
                return value, open_bound(depth, upper, value, unit, sets.bound, sets.other), nodes
            arg = free[0]
            for p in range(f):
                if slack_of[free[p]] > slack_of[arg]:
                    arg = free[p]
            into = branch_on(depth, arg, chosen[arg] == 1, upper, sets)
        else:
            depth = go_back(depth, value, unit, sets.bound, sets.other)
            if depth < 0:
                return value, value, nodes
            arg = sets.branch[depth]
            into = sets.other[depth]
            sets.other[depth] = NONE
        begin_child(depth, k, sets)
        depth += 1
        if into == OUT:
            sets.state[depth, arg] = OUT
        else:
            take(depth, arg, k, pairs[arg], sets)


@kernel(inline="always")
def _slack(t, of_one, of_other, one, other):
    """How much more than its score a pair t counts, with these shares and choices."""
    if t > 0.0:
        return 0.0 if one == other else of_one if one == 1 else of_other
    if one != other:
        return 0.0
    return of_one - t if one == 1 else -of_one


@kernel(inline="always")
def _improve(t, alpha, i, j, share, chosen):
    """A step of length alpha on the shares of the pair t of modifiers i and j."""
    if t > 0.0:
        if chosen[i] != chosen[j]:
            to = share[i, j] + (alpha if chosen[j] == 1 else -alpha)
            share[i, j] = min(max(to, 0.0), t)
            share[j, i] = t - share[i, j]
    elif chosen[i] == chosen[j]:
        to = share[i, j] + (-alpha if chosen[i] == 1 else alpha)
        share[i, j] = min(max(to, t), 0.0)
        share[j, i] = share[i, j]
