"""Run AD3: make a tree, a star for each head, and products agree by an augmented Lagrangian (Martins et al. 2011).

Every factor has its own copy of its arcs. A step moves each copy to the point of the factor's polytope that is nearest
to a target, averages the copies of each arc, and shifts the multipliers by the remaining disagreement. A factor is only
accessed through an oracle that returns its best configuration under scores of its arcs. The active-set method finds
the nearest point (Martins et al. 2015, section 6). It keeps a few configurations, and a small system of equations
gives the nearest point of their hull. A configuration that promises an improvement is added. Oracle: tests/test_ad3.py
tries all configurations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.chart.best_tree import OracleScratch, best_tree, keep_arcs, oracle_scratch, tree_variables
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.modifiers import StarScratch, star_scratch
from treebound.kernels.head_stars.solve import Stars, no_stars, solve_stars
from treebound.kernels.head_stars.tables import Multipliers
from treebound.support.jit import kernel

MOST = 16  #: maximum number of configurations that a factor stores
NEW = 6  #: maximum number of configurations that one step adds to a factor
ENOUGH = 1e-9  #: smallest relative improvement for which a configuration is added
SETTLED = 1e-8  #: the iterations end once mean squared disagreement and mean squared move are below this
NODE_LIMIT = 20_000  #: maximum number of sets of dependents that are tried for one star


class Hulls(NamedTuple):
    """State of AD3: the copies of arcs (D columns) of S factors, which are the tree, the stars and the products.

    - first: int64[S + 1]; columns of factor s are first[s] .. first[s + 1] - 1.
    - arc: int64[D], the arc of each column.
    - rows: float64[MOST, D], configurations; in the columns of factor s, only the first size[s] rows are used.
    - offset: float64[MOST, S], score of each configuration in addition to the scores of its arcs.
    - share: float64[MOST, S], weight of each configuration in the point q.
    - size: int64[S], number of configurations of each factor.
    - q: float64[D], the current point of each factor.
    - target: float64[D], the target of each factor. A step moves q to the point of the polytope nearest to the target.
    - shift: float64[D], multipliers, which sum to 0 over the copies of an arc.
    """

    first: np.ndarray
    arc: np.ndarray
    rows: np.ndarray
    offset: np.ndarray
    share: np.ndarray
    size: np.ndarray
    q: np.ndarray
    target: np.ndarray
    shift: np.ndarray


class _Oracles(NamedTuple):
    """Scratch memory of the oracles that find best configurations."""

    multipliers: Multipliers
    stars: Stars
    alive: np.ndarray
    weight: np.ndarray
    chosen: np.ndarray
    row: np.ndarray
    tree: OracleScratch
    star: StarScratch


@kernel
def meet(graph, task, eta, iterations):
    """Run AD3 until the copies of every arc agree, but at most `iterations` steps.

    Returns (the mean of the copies of each arc, float64[A]; Hulls; number of steps). The run ends early if a factor has
    no configuration.

    graph, task  as in `dual_kernel.agree`; all scores are real numbers of about size 1
    eta          weight of the penalty on disagreement; a value far below the score differences makes the subproblems
                 ill-conditioned
    """
    index = task.arcs
    A = len(index.head)
    hulls, oracles = _hulls(task), _begin(graph, task)
    mean, old, copies = np.full(A, 0.5), np.empty(A), np.zeros(A)
    for m in range(1, len(index.right)):
        for i in range(index.into_start[m], index.into_start[m + 1]):
            mean[index.into[i]] = 1.0 / (index.into_start[m + 1] - index.into_start[m])
    for a in hulls.arc:
        copies[a] += 1.0
    steps = 0
    while steps < iterations:
        steps += 1
        for c in range(len(hulls.arc)):
            a = hulls.arc[c]
            score = max(NEG_TEST, task.theta[a]) if c < A else 0.0
            hulls.target[c] = mean[a] + (score + hulls.shift[c]) / eta
        for s in range(len(hulls.size)):
            if not _approach(graph, task, hulls, oracles, s, eta):
                return mean, hulls, steps
        old[:] = mean
        mean[:] = 0.0
        for c in range(len(hulls.arc)):
            mean[hulls.arc[c]] += hulls.q[c] / copies[hulls.arc[c]]
        apart = 0.0
        for c in range(len(hulls.arc)):
            d = hulls.q[c] - mean[hulls.arc[c]]
            hulls.shift[c] -= eta * d
            apart += d * d
        apart /= len(hulls.arc)
        moved = ((mean - old) ** 2).sum() / A
        if apart < SETTLED and moved < SETTLED:
            break
    return mean, hulls, steps


@kernel
def round_to_tree(graph, task, mean, out):
    """Write the arcs of the tree with the largest sum of means to int32[n] out; return whether it exists. O(chart)."""
    index = task.arcs
    A, n = len(index.head), len(index.right) - 1
    scratch, chosen = oracle_scratch(True, graph, n, A), np.empty(2 * n + 1, np.int32)
    weight = task.theta.copy()
    for a in range(A):
        weight[a] = mean[a] if task.theta[a] > NEG_TEST else NEG
    if best_tree(graph, index, weight, task.parts.single_root, chosen, scratch) <= NEG_TEST:
        return False
    keep_arcs(chosen, tree_variables(graph, index, chosen, scratch)[1], A, out)
    return True


@kernel
def _hulls(task):
    """Return the initial `Hulls` of a sentence, in which no factor has a configuration."""
    index, products = task.arcs, task.products
    A, n, F = len(index.head), len(index.right) - 1, len(products.phi)
    size = 3 * A + products.first[F]
    first, arc = np.zeros(n + F + 3, np.int64), np.empty(size, np.int64)
    arc[:A] = np.arange(A)
    first[1] = A
    c = A
    for h in range(n + 1):
        for b in range(index.start[h], index.start[h + 1]):
            arc[c] = b
            c += 1
        for i in range(index.into_start[h], index.into_start[h + 1]):
            arc[c] = index.into[i]
            c += 1
        first[h + 2] = c
    for f in range(F):
        for j in range(products.first[f], products.first[f + 1]):
            arc[c] = products.var[j]
            c += 1
        first[n + 3 + f] = c
    S = n + F + 2
    return Hulls(
        first, arc, np.zeros((MOST, size)), np.zeros((MOST, S)), np.zeros((MOST, S)), np.zeros(S, np.int64),
        np.zeros(size), np.zeros(size), np.zeros(size),
    )  # fmt: skip


@kernel
def _begin(graph, task):
    """Return the scratch memory of the oracles."""
    index = task.arcs
    A, n = len(index.head), len(index.right) - 1
    stars = no_stars(A, n)
    stars.dirty[:] = False
    return _Oracles(
        Multipliers(np.zeros(A), np.zeros(A)), stars, task.theta[:A] > NEG_TEST, task.theta.copy(),
        np.empty(2 * n + 1, np.int32), np.zeros(3 * A + len(task.products.var)), oracle_scratch(True, graph, n, A),
        star_scratch(index, task.tables),
    )  # fmt: skip


@kernel
def _approach(graph, task, hulls, oracles, s, eta):
    """Move q to the point of the polytope of factor s that is nearest to the target.

    Return False if the factor has no configuration, and otherwise True.
    """
    lo, hi, q = hulls.first[s], hulls.first[s + 1], hulls.q
    for new in range(NEW + 1):
        size, level = hulls.size[s], 0.0
        if size > 0:
            size = nearest(hulls, s)
            hulls.size[s] = size
        q[lo:hi] = 0.0
        for k in range(size):
            level += hulls.share[k, s] * hulls.offset[k, s]
            for c in range(lo, hi):
                q[c] += hulls.share[k, s] * hulls.rows[k, c]
        if new == NEW or size == MOST:
            break
        offset = _best_configuration(graph, task, hulls, oracles, s, eta)
        if offset <= NEG_TEST:
            return False
        value, row = offset, oracles.row
        for c in range(lo, hi):
            value += (hulls.target[c] - q[c]) * row[c - lo]
            level += (hulls.target[c] - q[c]) * q[c]
        if size > 0 and value <= level + ENOUGH * max(1.0, abs(level)):
            break
        hulls.rows[size, lo:hi] = row[: hi - lo]
        hulls.offset[size, s] = offset
        hulls.share[size, s] = 1.0 if size == 0 else 0.0
        hulls.size[s] = size + 1
    return True


@kernel
def _best_configuration(graph, task, hulls, oracles, s, eta):
    """Write the best configuration of factor s under the scores target - q to oracles.row.

    Return the score of the configuration in addition to the scores of its arcs, divided by eta. Return NEG if there is
    no configuration.
    """
    index, n = task.arcs, len(task.arcs.right) - 1
    lo, hi, row = hulls.first[s], hulls.first[s + 1], oracles.row
    target, q = hulls.target, hulls.q
    row[: hi - lo] = 0.0
    if s == 0:
        for a in range(hi):
            oracles.weight[a] = target[a] - q[a] if oracles.alive[a] else NEG
        single_root = task.parts.single_root
        if best_tree(graph, index, oracles.weight, single_root, oracles.chosen, oracles.tree) <= NEG_TEST:
            return NEG
        for i in range(tree_variables(graph, index, oracles.chosen, oracles.tree)[1]):
            row[oracles.chosen[i]] = 1.0
        return 0.0
    if s <= n + 1:
        return _best_star(task, hulls, oracles, s - 1, eta)
    return _best_of_product(hulls, oracles, s, task.products.phi[s - n - 2] / eta)


@kernel
def _best_of_product(hulls, oracles, s, phi):
    """Write the best configuration of a product to oracles.row; return phi if it contains all arcs, and otherwise 0.

    The gain of an arc is its score target - q. The set of all arcs scores phi in addition to the gains of the arcs. The
    best configuration is either this set, or the set of arcs with positive gains. If all gains are positive, the second
    set leaves out the arc with the least gain.
    """
    lo, hi, row = hulls.first[s], hulls.first[s + 1], oracles.row
    gain_of_all, positive_gain, least = 0.0, 0.0, lo
    for c in range(lo, hi):
        gain = hulls.target[c] - hulls.q[c]
        gain_of_all += gain
        positive_gain += max(0.0, gain)
        row[c - lo] = 1.0 if gain > 0.0 else 0.0
        if gain < hulls.target[least] - hulls.q[least]:
            least = c
    row[least - lo] = 0.0
    if gain_of_all + phi <= positive_gain - max(0.0, hulls.target[least] - hulls.q[least]):
        return 0.0
    row[: hi - lo] = 1.0
    return phi


@kernel
def _best_star(task, hulls, oracles, h, eta):
    """Write the best configuration of the star of word h to oracles.row.

    Return the score of the parts of the configuration, divided by eta, or NEG if there is no configuration.
    """
    index, stars, row = task.arcs, oracles.stars, oracles.row
    u, w = oracles.multipliers
    lo, start, end = hulls.first[h + 1], index.start[h], index.start[h + 1]
    into, last = index.into_start[h], index.into_start[h + 1]
    for b in range(start, end):
        c = lo + b - start
        u[b] = -eta * (hulls.target[c] - hulls.q[c])
    for i in range(into, last):
        c = lo + end - start + i - into
        w[index.into[i]] = -eta * (hulls.target[c] - hulls.q[c])
    stars.dirty[h] = True
    solve_stars(index, task.parts, task.tables, oracles.alive, oracles.multipliers, stars, NODE_LIMIT, oracles.star)
    stars.dirty[h] = False
    value = stars.value[h]
    if value <= NEG_TEST:
        return NEG
    for b in range(start, end):
        if stars.y[b] == 1:
            row[b - start] = 1.0
            value += u[b]
    for i in range(into, last):
        if stars.x[h] != NONE and index.into[i] == stars.x[h]:
            row[end - start + i - into] = 1.0
            value += w[index.into[i]]
    return value / eta


@kernel
def nearest(hulls, s):
    """Find the shares of the configurations of factor s that maximise offset . share - 1/2 |point - target|^2.

    The point is the sum of the configurations, weighted by their shares. The shares must be feasible at the start.
    Configurations whose share becomes 0 are removed. Return the number of configurations that remain.
    O(size^3 + size^2 d), where d is the number of columns of the factor.
    """
    rows, offset, share, size = hulls.rows, hulls.offset, hulls.share, hulls.size[s]
    lo, hi = hulls.first[s], hulls.first[s + 1]
    while True:
        solution = _on_plane(hulls, s, size)
        step, out = 1.0, -1
        for k in range(size):  # shorten the step so that no share becomes negative
            if solution[k] < 0.0 and share[k, s] <= step * (share[k, s] - solution[k]):
                step, out = share[k, s] / (share[k, s] - solution[k]), k
        total = 0.0
        for k in range(size):
            share[k, s] = max(0.0, share[k, s] + step * (solution[k] - share[k, s]))
            total += share[k, s] if k != out else 0.0
        if out < 0:
            return size
        size -= 1
        rows[out, lo:hi] = rows[size, lo:hi]
        offset[out, s], share[out, s] = offset[size, s], share[size, s]
        for k in range(size):
            share[k, s] = share[k, s] / total if total > 0.0 else 1.0 / size


@kernel
def _on_plane(hulls, s, size):
    """Return the shares, with sum 1 but of any sign, that maximise the objective of `nearest`."""
    rows, system, right = hulls.rows, np.zeros((size + 1, size + 1)), np.ones(size + 1)
    for i in range(size):
        right[i] = hulls.offset[i, s]
        system[i, i] = 1e-10  # configurations may be linearly dependent
        system[i, size], system[size, i] = 1.0, 1.0
        for c in range(hulls.first[s], hulls.first[s + 1]):
            right[i] += rows[i, c] * hulls.target[c]
            if rows[i, c] != 0.0:
                for j in range(size):
                    system[i, j] += rows[i, c] * rows[j, c]
    return np.linalg.solve(system, right)[:size]
