"""Branch and bound as published: projected subgradient, Rush steps, level by level (Qian & Liu 2013, section 3).

Factors may have any number of arcs. Compare `search`, which is the tuned configuration for pairs.
Step sizes: the paper starts alpha at max_c 1 / |phi_c| and then follows Rush et al. (2010), whose rule halves the step
whenever the dual value goes up: alpha_t = alpha_0 2^-(number of times it did), counted per node. The gentler
alpha_0 / (1 + number), of Koo et al. (2010), does not end in reasonable time from this alpha_0: one factor with a tiny
score makes the first step so long that thousands of steps only move shares from one vertex of the simplex to another.
Oracle: enumeration; equality with the tuned search on real sentences.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.decoders.exact.branch_and_bound.state import LIMIT, OPTIMAL, closed, conclude
from treebound.kernels.chart.best_tree import keep_arcs
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, best_variables, inside

EPSILON = 1e-8  #: the paper's precision of the stopping test
MAX_STEPS = (
    200  #: steps of one node. The paper names no limit, but a step that has decayed too early creeps for 10^5 steps
)
ROUNDING = 1e-3  #: shares are real numbers here: a bound this little above an integer is rounded down to it


@njit(cache=True, nogil=True)
def project_simplex(q):
    """Euclidean projection of q onto the probability simplex, in place (Duchi et al. 2008). O(r log r)."""
    r = len(q)
    if r == 2:
        d = (q[0] - q[1] + 1.0) / 2.0
        q[0] = min(1.0, max(0.0, d))
        q[1] = 1.0 - q[0]
        return
    u = np.sort(q)[::-1]
    total = 0.0
    shift = 0.0
    for j in range(r):
        total += u[j]
        if u[j] - (total - 1.0) / (j + 1) > 0.0:
            shift = (total - 1.0) / (j + 1)
    for j in range(r):
        q[j] = max(0.0, q[j] - shift)


@njit(cache=True, nogil=True)
def _fix(head, mod, fixed, a, value):
    """Fix arc a; value 1 forbids the modifier's other arcs and every crossing arc, in place. O(A)."""
    fixed[a] = 1 if value == 1 else -1
    if value != 1:
        return
    lo, hi = min(head[a], mod[a]), max(head[a], mod[a])
    for b in range(len(head)):
        if b == a:
            continue
        x, y = min(head[b], mod[b]), max(head[b], mod[b])
        if mod[b] == mod[a] or (x < lo < y < hi) or (lo < x < hi < y) or (head[b] == mod[a] and mod[b] == head[a]):
            fixed[b] = -1


@njit(cache=True, nogil=True)
def _linear(theta, fixed, first, arcs, phi, p, weight):
    """Arc weights of psi(p, .) into `weight`; returns its constant. O(sum of factor sizes)."""
    weight[:] = theta
    constant = 0.0
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        if phi[c] >= 0.0:
            for i in range(lo, hi):
                weight[arcs[i]] += p[i] * phi[c]
        else:
            for i in range(lo, hi):
                weight[arcs[i]] += p[lo] * phi[c]
            constant -= p[lo] * phi[c] * (hi - lo - 1)
    for a in range(len(fixed)):
        if fixed[a] < 0:
            weight[a] = NEG
    return constant


@njit(cache=True, nogil=True)
def _decide(fixed, first, arcs, phi, p):
    """Exact shares for factors whose arcs are all fixed, in place."""
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        off = -1
        free = False
        for i in range(lo, hi):
            if fixed[arcs[i]] == 0:
                free = True
            elif fixed[arcs[i]] < 0:
                off = i
        if phi[c] >= 0.0:
            if not free and off >= 0:
                p[lo:hi] = 0.0
                p[off] = 1.0
        elif not free:
            p[lo] = 0.0 if off >= 0 else 1.0
            p[lo + 1] = 1.0 - p[lo]


@njit(cache=True, nogil=True)
def search_published(graph, n, head, mod, theta, first, arcs, phi, unit, max_dp_calls, max_nodes):
    """Best tree and its certificate, with the paper's search.

    theta        float64[V] scores of the variables (see `treebound.kernels.bounded`)
    first, arcs  int32[F + 1], int32[*]: factor c has the variables arcs[first[c] : first[c + 1]], at least two
    phi          float64[F]
    Dual variables: for phi >= 0 one share per arc; for phi < 0 (p1, p2) in the factor's first two places.
    Returns (value, bound, arcs int32[n], status, dp_calls, nodes, solved at root).
    """
    A, V = len(mod), len(theta)
    F = len(phi)
    items = len(graph.first) - 1
    value = np.empty(items + 1, np.float64)
    best = np.empty(items + 1, np.int32)
    weight = np.empty(V, np.float64)
    z = np.zeros(V, np.int8)
    chosen = np.empty(2 * n + 1, np.int32)
    stack = np.empty(2 * n + 8, np.int32)
    gap = np.empty(V, np.float64)
    scale = unit if unit > 0.0 else 1.0  # the paper's scores are averages: units would shrink its first step
    alpha0 = 0.0
    for c in range(F):
        if phi[c] != 0.0:
            alpha0 = max(alpha0, scale / abs(phi[c]))
    p_root = np.zeros(len(arcs), np.float64)
    for c in range(F):
        lo, hi = first[c], first[c + 1]
        if phi[c] >= 0.0:
            p_root[lo:hi] = 1.0 / (hi - lo)
        else:
            p_root[lo + 1] = 1.0
    incumbent = NEG
    incumbent_arcs = np.zeros(n, np.int32)
    level = [(p_root, np.zeros(V, np.int8), 1e300)]
    dp = 0
    nodes = 0
    root_solved = False
    status = OPTIMAL
    limit_bound = NEG
    while len(level) > 0:
        survivors = [(p_root, np.zeros(V, np.int8), 0.0, 0.0, 0)]
        survivors.pop()
        for p, fixed, inherited in level:
            if (max_dp_calls > 0 and dp >= max_dp_calls) or (max_nodes > 0 and nodes >= max_nodes):
                status = LIMIT
                limit_bound = max(limit_bound, inherited)
                continue
            nodes += 1
            _decide(fixed, first, arcs, phi, p)
            bound = inherited
            lower = NEG
            old = 1e300
            ups = 0
            steps = 0
            propose = -1
            solved = False
            while True:
                constant = _linear(theta, fixed, first, arcs, phi, p, weight)
                v = inside(graph, weight, value, best)
                dp += 1
                if v <= NEG_TEST:
                    bound = NEG
                    solved = True
                    break
                psi = v + constant
                bound = min(bound, psi)
                score, size = best_variables(graph, A, best, chosen, stack, True)
                for i in range(size):
                    z[chosen[i]] = 1
                    score += theta[chosen[i]]
                gap[:] = 0.0
                for c in range(F):
                    lo, hi = first[c], first[c + 1]
                    on = 0
                    for i in range(lo, hi):
                        on += z[arcs[i]]
                    fires = on == hi - lo
                    if fires:
                        score += phi[c]
                    if phi[c] >= 0.0:
                        slack = 0.0
                        for i in range(lo, hi):
                            slack += p[i] * phi[c] * z[arcs[i]]
                    else:
                        slack = p[lo] * phi[c] * (on - (hi - lo - 1))
                    slack -= phi[c] if fires else 0.0
                    if slack > 0.0:
                        for i in range(lo, hi):
                            gap[arcs[i]] += slack
                lower = max(lower, score)
                if score > incumbent:
                    incumbent = score
                    keep_arcs(chosen, size, A, incumbent_arcs)
                propose = -1
                for a in range(A):
                    if fixed[a] == 0 and (propose < 0 or gap[a] > gap[propose]):
                        propose = a
                solved = closed(bound, incumbent, unit, ROUNDING)
                if propose < 0:
                    solved = True
                stop = solved or gap[propose] <= 0.0 or (0.0 <= old - psi <= EPSILON * scale)
                steps += 1
                if steps >= MAX_STEPS or (max_dp_calls > 0 and dp >= max_dp_calls):
                    stop = True
                if not stop:
                    if psi > old:
                        ups += 1
                    old = psi
                    alpha = alpha0 * 0.5**ups / scale
                    for c in range(F):
                        lo, hi = first[c], first[c + 1]
                        if phi[c] >= 0.0:
                            on = 0
                            for i in range(lo, hi):
                                on += z[arcs[i]]
                            if 0 < on < hi - lo:
                                for i in range(lo, hi):
                                    p[i] -= alpha * phi[c] * z[arcs[i]]
                                project_simplex(p[lo:hi])
                        else:
                            on = 0
                            for i in range(lo, hi):
                                on += z[arcs[i]]
                            sigma = phi[c] * (on - (hi - lo - 1))
                            if sigma != 0.0:
                                p[lo] -= alpha * sigma
                                project_simplex(p[lo : lo + 2])
                    _decide(fixed, first, arcs, phi, p)
                for i in range(size):
                    z[chosen[i]] = 0
                if stop:
                    break
            if solved:
                if nodes == 1:
                    root_solved = True
            else:
                survivors.append((p, fixed, bound, lower, propose))
        # prune with the incumbent of the whole level; one branching arc for all survivors
        top = NEG
        branch = -1
        count = 0
        for _, _, bound, lower, propose in survivors:
            if not closed(bound, incumbent, unit, ROUNDING):
                count += 1
                if branch < 0 or lower > top:
                    top = lower
                    branch = propose
        next_level = [(p_root, np.zeros(V, np.int8), 0.0)]
        next_level.pop()
        if count > 0:
            for p, fixed, bound, _, _ in survivors:
                if closed(bound, incumbent, unit, ROUNDING):
                    continue
                if branch < 0 or fixed[branch] != 0:
                    next_level.append((p, fixed, bound))
                    continue
                for value_of_branch in range(2):
                    child = fixed.copy()
                    _fix(head, mod, child, branch, value_of_branch)
                    next_level.append((p.copy(), child, bound))
        level = next_level
    bound, status = conclude(incumbent, limit_bound, status)
    if unit > 0.0:
        bound = np.floor(bound + ROUNDING)
    return incumbent, bound, incumbent_arcs, status, dp, nodes, root_solved
