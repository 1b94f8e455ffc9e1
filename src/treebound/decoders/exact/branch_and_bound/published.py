"""Branch and bound as published: projected subgradient steps, breadth-first (Qian & Liu 2013, section 3).

The search begins with an incumbent, which alternating maximisation of pi finds (`lower_bound.climb`, Algorithm 1).
Factors may have any number of arcs. The module `search` contains the tuned configuration.

Step sizes: the paper starts alpha at max_c 1 / |phi_c| and then follows Rush et al. (2010). Their rule halves the step
whenever the dual value increases: alpha_t = alpha_0 2^-(number of increases), counted per node. Koo et al. (2010)
decrease the step more slowly, alpha_0 / (1 + number of increases). With this alpha_0, that rule does not end in
reasonable time. One factor with a tiny score makes the first step so long that thousands of steps only move shares from
one vertex of the simplex to another.

Oracle: enumeration; equality with the tuned search on real sentences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.decoders.exact.branch_and_bound.state import (
    EVERYTHING,
    LIMIT,
    OPTIMAL,
    SearchResult,
    Task,
    closed,
    conclude,
    limit_reached,
)
from treebound.decoders.exact.branch_and_bound.trace import no_record
from treebound.kernels.chart.best_tree import OracleScratch, keep_arcs, oracle_scratch
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, best_variables, inside
from treebound.support.jit import kernel

EPSILON = 1e-8  #: precision of the stopping test in the paper
#: limit of steps at one node. The paper names no limit, but a step size that decays too early needs 10^5 steps
MAX_STEPS = 200
ROUNDING = 1e-3  #: shares are real numbers: a bound is rounded down to an integer that is closer than this


class Factors(NamedTuple):
    """Factors of at least two variables, as flat arrays: first int32[F + 1], var int32[*], phi float64[F].

    Factor c has the variables var[first[c] : first[c + 1]]. The dual variables p are float64[*]. A factor with phi >= 0
    has one share for each variable. A factor with phi < 0 and r variables z has two shares, in its first two entries of
    p. The first is the share of the bound phi * (sum of z - (r - 1)), the second is the share of the bound 0.
    """

    first: np.ndarray
    var: np.ndarray
    phi: np.ndarray


class Node(NamedTuple):
    """A node of the search: dual variables, int8[V] fixed arcs (1: required, -1: forbidden), its parent's bound.

    A node that has been searched holds its own bound, the best score among its trees, and the arc to branch on (-1:
    none).
    """

    p: np.ndarray
    fixed: np.ndarray
    bound: float
    lower: float
    propose: int


class Scratch(NamedTuple):
    """Working memory of the search.

    - oracle: memory of the tree oracle
    - weight: float64[V], weights of the variables
    - chosen, z: the variables of a tree, and the same tree as int8[V]
    - gap: float64[V], slack
    - best, best_arcs: float64[1] and int32[n], score and arcs of the best tree so far
    """

    oracle: OracleScratch
    weight: np.ndarray
    chosen: np.ndarray
    z: np.ndarray
    gap: np.ndarray
    best: np.ndarray
    best_arcs: np.ndarray


def flat_factors(task: Task) -> Factors:
    """Return pairs and products as one list of factors, pairs first. O(K).

    The score of a product with one variable is added to theta instead.
    """
    pairs, products = task.pairs, task.products
    size = np.diff(products.first)
    np.add.at(task.theta, products.var[products.first[:-1][size == 1]], products.phi[size == 1])
    wide = size > 1
    first = np.cumsum(np.concatenate(([0], np.full(len(pairs.phi), 2), size[wide]))).astype(np.int32)
    var = np.concatenate((np.stack((pairs.e, pairs.f), axis=1).ravel(), products.var[np.repeat(wide, size)]))
    return Factors(first, var, np.concatenate((pairs.phi, products.phi[wide])))


@kernel
def project_simplex(q):
    """Project q onto the probability simplex, in place, by Euclidean distance (Duchi et al. 2008). O(r log r)."""
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


@kernel
def _fix(index, fixed, a, value):
    """Require arc a if `value` is 1, and forbid it otherwise, in `fixed`. O(A).

    A required arc forbids the other arcs into its dependent, its reverse, and every arc that crosses it.
    """
    head, mod = index.head, index.mod
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


@kernel
def _linear(theta, fixed, factors, p, weight):
    """Write the arc weights of the paper's linear upper bound psi(p, .) into `weight`, and return its constant.

    O(sum of factor sizes).
    """
    first, var, phi = factors
    weight[:] = theta
    constant = 0.0
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        if phi[c] >= 0.0:
            for i in range(lo, hi):
                weight[var[i]] += p[i] * phi[c]
        else:
            for i in range(lo, hi):
                weight[var[i]] += p[lo] * phi[c]
            constant -= p[lo] * phi[c] * (hi - lo - 1)
    for a in range(len(fixed)):
        if fixed[a] < 0:
            weight[a] = NEG
    return constant


@kernel
def _decide(fixed, factors, p):
    """Set the shares p of every factor whose arcs are all fixed, so that the bound of the factor is exact."""
    first, var, phi = factors
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        off = -1
        undecided = False
        for i in range(lo, hi):
            if fixed[var[i]] == 0:
                undecided = True
            elif fixed[var[i]] < 0:
                off = i
        if phi[c] >= 0.0:
            if not undecided and off >= 0:
                p[lo:hi] = 0.0
                p[off] = 1.0
        elif not undecided:
            p[lo] = 0.0 if off >= 0 else 1.0
            p[lo + 1] = 1.0 - p[lo]


@kernel
def _on(factors, c, z):
    """Return the number of variables of factor c that the tree z contains."""
    on = 0
    for i in range(factors.first[c], factors.first[c + 1]):
        on += z[factors.var[i]]
    return on


@kernel
def _visit(factors, p, z, score, gap):
    """Return `score` plus the scores of the factors at the tree z. O(K).

    Write the slack of all factors of each variable, which is their bound minus their score at z, to `gap`.
    """
    first, var, phi = factors
    gap[:] = 0.0
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        on = _on(factors, c, z)
        fires = on == hi - lo
        if fires:
            score += phi[c]
        if phi[c] >= 0.0:
            slack = 0.0
            for i in range(lo, hi):
                slack += p[i] * phi[c] * z[var[i]]
        else:
            slack = p[lo] * phi[c] * (on - (hi - lo - 1))
        slack -= phi[c] if fires else 0.0
        if slack > 0.0:
            for i in range(lo, hi):
                gap[var[i]] += slack
    return score


@kernel
def _step(factors, p, z, alpha):
    """Make a projected subgradient step of length alpha on the dual variables p at the tree z. O(K log r)."""
    first, var, phi = factors
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        on = _on(factors, c, z)
        if phi[c] >= 0.0:
            if 0 < on < hi - lo:
                for i in range(lo, hi):
                    p[i] -= alpha * phi[c] * z[var[i]]
                project_simplex(p[lo:hi])
        else:
            sigma = phi[c] * (on - (hi - lo - 1))
            if sigma != 0.0:
                p[lo] -= alpha * sigma
                project_simplex(p[lo : lo + 2])


@kernel
def _start(factors, unit):
    """Return (the length of the first step, the dual variables of the root)."""
    first, _, phi = factors
    scale = unit if unit > 0.0 else 1.0  # the paper's first step is for scores that are not scaled to integers
    alpha = 0.0
    p = np.zeros(len(factors.var))
    for c in range(len(phi)):
        lo, hi = first[c], first[c + 1]
        if phi[c] != 0.0:
            alpha = max(alpha, scale / abs(phi[c]))
        if phi[c] >= 0.0:
            p[lo:hi] = 1.0 / (hi - lo)
        else:
            p[lo + 1] = 1.0
    return alpha, p


@kernel
def _search_node(graph, task, factors, node, alpha, limit, scratch):
    """Improve the bound of a node by subgradient steps until it closes the node, stops falling, or a limit is reached.

    Returns (the node with its own bound, whether the bound closes the node, number of DP calls).
    """
    p, fixed, bound, lower, propose = node
    A, unit, z, gap, best = len(task.arcs.mod), task.unit, scratch.z, scratch.gap, scratch.best
    value, back, chosen = scratch.oracle.value, scratch.oracle.best, scratch.chosen
    scale = unit if unit > 0.0 else 1.0
    _decide(fixed, factors, p)
    last_psi = EVERYTHING
    ups, steps = 0, 0
    while True:
        constant = _linear(task.theta, fixed, factors, p, scratch.weight)
        v = inside(graph, scratch.weight, value, back)
        steps += 1
        if v <= NEG_TEST:
            return Node(p, fixed, NEG, lower, propose), True, steps
        psi = v + constant
        bound = min(bound, psi)
        score, size = best_variables(graph, A, back, chosen, scratch.oracle.stack, True)
        for i in range(size):
            z[chosen[i]] = 1
            score += task.theta[chosen[i]]
        score = _visit(factors, p, z, score, gap)
        lower = max(lower, score)
        if score > best[0]:
            best[0] = score
            keep_arcs(chosen, size, A, scratch.best_arcs)
        propose = -1
        for a in range(A):
            if fixed[a] == 0 and (propose < 0 or gap[a] > gap[propose]):
                propose = a
        solved = propose < 0 or closed(bound, best[0], unit, ROUNDING)
        stop = solved or gap[propose] <= 0.0 or (0.0 <= last_psi - psi <= EPSILON * scale)
        stop = stop or steps >= MAX_STEPS or limit_reached(limit, steps)
        if not stop:
            ups += psi > last_psi
            last_psi = psi
            _step(factors, p, z, alpha * 0.5**ups / scale)
            _decide(fixed, factors, p)
        for i in range(size):
            z[chosen[i]] = 0
        if stop:
            return Node(p, fixed, bound, lower, propose), solved, steps


@kernel
def _next_level(survivors, index, best, unit):
    """Return the next level: the children of all nodes that the best score does not close.

    All nodes branch on the same arc. A node in which this arc is fixed is its own only child.
    """
    best_lower = NEG
    branch = -1
    for node in survivors:
        if not closed(node.bound, best, unit, ROUNDING) and (branch < 0 or node.lower > best_lower):
            best_lower = node.lower
            branch = node.propose
    level = survivors[:0]
    for node in survivors:
        if closed(node.bound, best, unit, ROUNDING):
            continue
        if branch < 0 or node.fixed[branch] != 0:
            level.append(Node(node.p, node.fixed, node.bound, NEG, -1))
            continue
        for value in range(2):
            fixed = node.fixed.copy()
            _fix(index, fixed, branch, value)
            level.append(Node(node.p.copy(), fixed, node.bound, NEG, -1))
    return level


@kernel
def search_published(graph, task, factors, incumbent, max_dp_calls, max_nodes):
    """Search for the best tree as in the paper, and return a `SearchResult` without a record.

    graph, task, incumbent  as in `search.search`; valencies are not scored
    factors                 `flat_factors` of the task
    """
    A, n, V = len(task.arcs.mod), len(task.arcs.right) - 1, len(task.theta)
    unit = task.unit
    scratch = Scratch(
        oracle_scratch(None, graph, n, A),
        np.empty(V),
        np.empty(2 * n + 1, np.int32),
        np.zeros(V, np.int8),
        np.empty(V),
        np.array([incumbent[0]]),
        incumbent[1].copy(),
    )
    alpha, p = _start(factors, unit)
    level = [Node(p, np.zeros(V, np.int8), EVERYTHING, NEG, -1)]
    dp_calls, nodes, status = 0, 0, OPTIMAL
    root_solved = False
    limit_bound = NEG
    while len(level) > 0:
        survivors = level[:0]
        for node in level:
            if limit_reached(max_dp_calls, dp_calls) or limit_reached(max_nodes, nodes):
                status = LIMIT
                limit_bound = max(limit_bound, node.bound)
                continue
            nodes += 1
            remaining_calls = max_dp_calls - dp_calls if max_dp_calls > 0 else 0
            searched, solved, calls = _search_node(graph, task, factors, node, alpha, remaining_calls, scratch)
            dp_calls += calls
            if not solved:
                survivors.append(searched)
            elif nodes == 1:
                root_solved = True
        level = _next_level(survivors, task.arcs, scratch.best[0], unit)
    bound, status = conclude(scratch.best[0], limit_bound, status)
    if unit > 0.0:
        bound = np.floor(bound + ROUNDING)
    record = no_record(0)
    return SearchResult(scratch.best[0], bound, scratch.best_arcs, status, dp_calls, nodes, root_solved, record)
