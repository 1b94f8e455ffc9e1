"""The best modifiers of one head if neighbours and also pairs or runs have scores: shares and a search over sets.

The shares of pairs make a bound that the dynamic program along the modifiers maximises. A positive pair is divided
between its two modifiers x and y. A negative pair with score t is at most s (1 - x - y) for any s in [0, -t].
Subgradient steps improve the shares. The shares that one search found are the start of the next search at the same
head, because multipliers change between searches but pairs remain the same. A depth-first search over sets closes the
remaining gap, with one or two steps at every node.

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
    """Return float64[F], initial shares of pairs: half the score of a positive pair, and 0 for a negative pair."""
    out = np.empty(len(pair), np.float64)
    for i in range(len(pair)):
        out[i] = max(0.5 * pair[i], 0.0)
    return out


@kernel(inline="always")
def _bound(depth, f, mods, worth, scratch):
    """Return an upper bound on the scores of all sets at a node, which has f free modifiers, of the depth-first search.

    Write scratch.chain.chosen: the set that attains the bound. `depth` is the depth of the node.
    """
    sets, share = scratch.sets, scratch.share
    pairs, state, free, weight = sets.pairs[-1], sets.state[depth], sets.free, sets.weight
    # shares of pairs of free modifiers; `linear` contains the scores of pairs of a certain and a free modifier
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
    """Return (bound minus score of the chosen set, number of pairs that contribute to the difference). O(f^2 + runs).

    Write scratch.sets.high: the slack of the parts of each free modifier.
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
        chosen_count = 0
        for i in items:
            if i < 0:
                break
            chosen_count += state[i] == FREE and chosen[i] == 1
        t = 0.0
        if score > 0.0 and chosen_count < members:
            t = score * chosen_count / members
        elif score < 0.0 and chosen_count == members:
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
    """Find the best set of modifiers if it scores more than `floor`; arguments and results as in `search_modifiers`.

    scratch.share float64[k, k] contains the share that each modifier (row) has of its pair with another modifier. The
    two shares of a positive pair sum to its score, and both shares of a negative pair are -s. The shares are improved
    in place.
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
            current_bound = _bound(depth, f, mods, worth, scratch)
            if current_bound <= NEG_TEST:
                backtrack = True
                break
            upper = min(upper, current_bound)
            slack, moved = _slacks(depth, f, mods, scratch)
            score = current_bound - slack
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
            alpha = (current_bound - value if value > NEG_TEST else abs(current_bound)) / moved
            for p in range(f):
                i = free[p]
                for q in range(p):
                    j = free[q]
                    if pairs[i, j] != 0.0:
                        _improve(pairs[i, j], alpha, i, j, scratch.share, chosen)
        if not backtrack:
            if nodes >= node_limit:
                return value, open_bound(depth, upper, value, unit, sets.bound, sets.untried), nodes
            arg = free[0]
            for p in range(f):
                if slack_of[free[p]] > slack_of[arg]:
                    arg = free[p]
            into = branch_on(depth, arg, chosen[arg] == 1, upper, sets)
        else:
            depth = go_back(depth, value, unit, sets.bound, sets.untried)
            if depth < 0:
                return value, value, nodes
            arg = sets.branch[depth]
            into = sets.untried[depth]
            sets.untried[depth] = NONE
        begin_child(depth, k, sets)
        depth += 1
        if into == OUT:
            sets.state[depth, arg] = OUT
        else:
            take(depth, arg, k, pairs[arg], sets)


@kernel(inline="always")
def _slack(t, share_x, share_y, x, y):
    """Return the slack of a pair: its bound minus its score, which is t if both modifiers are chosen, and else 0.

    x is 1 if the first modifier is chosen, and otherwise 0; y is the same for the second. Their shares of the pair's
    score are share_x and share_y.
    """
    if t > 0.0:
        return 0.0 if x == y else share_x if x == 1 else share_y
    if x != y:
        return 0.0
    return share_x - t if x == 1 else -share_x


@kernel(inline="always")
def _improve(t, alpha, i, j, share, chosen):
    """Make a subgradient step of length alpha at the set `chosen` on the shares of the pair (i, j) with score t."""
    if t > 0.0:
        if chosen[i] != chosen[j]:
            new = share[i, j] + (alpha if chosen[j] == 1 else -alpha)
            share[i, j] = min(max(new, 0.0), t)
            share[j, i] = t - share[i, j]
    elif chosen[i] == chosen[j]:
        new = share[i, j] + (-alpha if chosen[i] == 1 else alpha)
        share[i, j] = min(max(new, t), 0.0)
        share[j, i] = share[i, j]
