"""The best modifiers of one head where neighbours are scored beside pairs or runs: shares, and search over sets.

The shares of pairs make a bound that the dynamic program along the modifiers maximises: a positive pair is divided
between its two, a negative one t is at most s (1 - one - other) for any s in [0, -t]. Subgradient steps improve them,
and what a search has found out serves the next one of the same head: multipliers change, pairs do not. What is left of
the gap is closed by depth-first search over sets, with a step or two at every node.

Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.head_stars.chain import FREE, IN, OUT, best_chain, best_counted_chain
from treebound.kernels.head_stars.search import beats, begin, begin_child, go_back, open_bound, take

ROOT_STEPS = 10
NODE_STEPS = 1


@njit(cache=True, nogil=True)
def first_shares(pair):
    """float64[F]: shares of pairs to begin with, of their first modifier where positive, s where negative."""
    out = np.empty(len(pair), np.float64)
    for i in range(len(pair)):
        out[i] = max(0.5 * pair[i], 0.0)
    return out


@njit(cache=True, nogil=True)
def search_chain(mods, share, status, gain, trans, end, floor, unit, node_limit, scratch, chain, chosen, solution):
    """Best set of modifiers if it is better than `floor`; arguments and results as of `search_modifiers`.

    share  float64[k, k] what each modifier (row) has of its pair with another: of a positive pair the shares add up to
           it, of a negative one both are -s. Improved in place.
    """
    k, left, comb, comb_items, combs = mods.size, mods.left, mods.comb, mods.comb_items, mods.combs
    count_score, last = mods.count_score, mods.last
    pairs, state, linear, constant = scratch.pairs[-1], scratch.state, scratch.linear, scratch.constant
    bound, branch, other, free = scratch.bound, scratch.branch, scratch.other, scratch.free
    weight, slack_of = scratch.weight, scratch.high
    begin(k, status, gain, state, linear, constant)
    for i in range(k):
        if status[i] == IN:
            take(0, i, k, pairs[i], state, linear, constant)
    value = floor
    nodes, depth = 0, 0
    while True:
        nodes += 1
        f = 0
        for i in range(k):
            if state[depth, i] == FREE:
                free[f] = i
                f += 1
        upper = np.inf
        backtrack = False
        steps = ROOT_STEPS if nodes == 1 else NODE_STEPS
        while True:
            # the bound: shares of free pairs, what certain modifiers add to free ones is in `linear`
            now = constant[depth]
            for i in range(k):
                weight[i] = 0.0
            for p in range(f):
                i = free[p]
                t = linear[depth, i]
                for q in range(f):
                    t += share[i, free[q]]
                weight[i] = t
                for q in range(p):
                    if pairs[i, free[q]] < 0.0:
                        now -= share[i, free[q]]
            for p in range(combs):
                members, dead = _members(comb_items[p], state[depth])
                if dead:
                    continue
                if members == 0:
                    now += comb[p]
                elif members == 1 or comb[p] > 0.0:
                    for i in comb_items[p]:
                        if i < 0:
                            break
                        if state[depth, i] == FREE:
                            weight[i] += comb[p] / members
            if last == 0:
                now += best_chain(k, left, state[depth], weight, trans, end, chain, chosen)
            else:
                now += best_counted_chain(k, left, state[depth], weight, trans, end, count_score, last, chain, chosen)
            if now <= NEG_TEST:
                backtrack = True
                break
            upper = min(upper, now)
            # what the chosen set has less than its bound
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
            for p in range(combs):
                members, dead = _members(comb_items[p], state[depth])
                if dead or members < 2:
                    continue
                taken = 0
                for i in comb_items[p]:
                    if i < 0:
                        break
                    taken += state[depth, i] == FREE and chosen[i] == 1
                t = 0.0
                if comb[p] > 0.0 and taken < members:
                    t = comb[p] * taken / members
                elif comb[p] < 0.0 and taken == members:
                    t = -comb[p]
                if t > 0.0:
                    slack += t
                    for i in comb_items[p]:
                        if i < 0:
                            break
                        slack_of[i] += t
            score = now - slack
            if unit > 0.0:
                score = np.rint(score)
            if score > value and score > NEG_TEST:
                value = score
                for i in range(k):
                    solution[i] = chosen[i]
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
                        _improve(pairs[i, j], alpha, i, j, share, chosen)
        if not backtrack:
            if nodes >= node_limit:
                return value, open_bound(depth, upper, value, unit, bound, other), nodes
            arg = free[0]
            for p in range(f):
                if slack_of[free[p]] > slack_of[arg]:
                    arg = free[p]
            branch[depth] = arg
            bound[depth] = upper
            into = IN if chosen[arg] == 1 else OUT
            other[depth] = OUT if into == IN else IN
        else:
            depth = go_back(depth, value, unit, bound, other)
            if depth < 0:
                return value, value, nodes
            arg = branch[depth]
            into = other[depth]
            other[depth] = NONE
        begin_child(depth, k, state, linear, constant)
        depth += 1
        if into == OUT:
            state[depth, arg] = OUT
        else:
            take(depth, arg, k, pairs[arg], state, linear, constant)


@njit(cache=True, nogil=True, inline="always")
def _members(items, state):
    """(free members of a run, whether one is out)."""
    members = 0
    for i in items:
        if i < 0:
            break
        if state[i] == OUT:
            return 0, True
        members += state[i] == FREE
    return members, False


@njit(cache=True, nogil=True, inline="always")
def _slack(t, of_one, of_other, one, other):
    """How much more than its score a pair t counts, with these shares and choices."""
    if t > 0.0:
        return 0.0 if one == other else of_one if one == 1 else of_other
    if one != other:
        return 0.0
    return of_one - t if one == 1 else -of_one


@njit(cache=True, nogil=True, inline="always")
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
