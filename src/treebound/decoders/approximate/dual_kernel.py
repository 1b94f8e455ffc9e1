"""Run dual decomposition: multipliers make one tree, one star per head and single products agree (Koo et al. 2010).

The multipliers raise the tree's score of arc a by u_a + w_a. They lower the stars' scores by the same amount: by u_a
for the arc to a modifier of a head, and by w_a for the arc into a head. Products contribute by shares
(`kernels.bounded`). For any multipliers, the best tree, the best stars and the constants of the shares sum to an upper
bound on the score of every tree. If all choose the same arcs, the bound equals the tree's score. With integer scores,
steps are integers, and every bound is an exact integer. Oracle: tests/test_dual_decomposition.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import PartIndex
from treebound.kernels.bounded import Products, apply_shares, make_pairs, move_products, visit_products
from treebound.kernels.chart.best_tree import (
    OracleScratch,
    best_tree,
    keep_arcs,
    mark_tree,
    oracle_scratch,
    tree_variables,
    unmark_tree,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.modifiers import StarScratch, star_scratch
from treebound.kernels.head_stars.scoring import score_heads
from treebound.kernels.head_stars.solve import Stars, no_stars, solve_stars
from treebound.kernels.head_stars.tables import Multipliers, StarTables
from treebound.support.jit import kernel

NODE_LIMIT = 20_000  #: maximum number of sets of dependents tried for one star; then an upper bound replaces its value


class Parted(NamedTuple):
    """A problem as subproblems that are solved separately.

    - theta: float64[A + 1], scores of arcs, NEG if forbidden; the last entry is 0.
    - products: the parts of families that are not within one head star.
    - tables: the parts of families within one head star.
    - unit: if it is above 0, all scores are integers.
    """

    arcs: ArcIndex
    parts: PartIndex
    theta: np.ndarray
    products: Products
    tables: StarTables
    unit: float


class Agreed(NamedTuple):
    """The best tree that was found, an upper bound on all trees, and the multipliers that prove the bound.

    - value, arcs: value is NEG and arcs are meaningless if there is no tree.
    - child, parent, share: multipliers u and w, float64[A], and shares of the products at the best bound.
    - iterations: number of trees computed.
    """

    value: float
    arcs: np.ndarray
    bound: float
    child: np.ndarray
    parent: np.ndarray
    share: np.ndarray
    iterations: int


class _Work(NamedTuple):
    """Working state: multipliers, weights float64[A + 1] of the tree subproblem, arcs of tree and stars, and memory."""

    multipliers: Multipliers
    weight: np.ndarray
    stars: Stars
    alive: np.ndarray
    z: np.ndarray
    into: np.ndarray
    chosen: np.ndarray
    on: np.ndarray
    number: np.ndarray
    taken: np.ndarray
    score: np.ndarray
    oracle: OracleScratch
    scratch: StarScratch


@kernel
def agree(graph, task, start, rate, iterations):
    """Take projected subgradient steps until tree, stars and products agree, or `iterations` are used up.

    Return Agreed. O(chart + stars that a step has changed + products) an iteration, without any allocation.

    - graph: Hypergraph over arcs alone, or NO_GRAPH for arborescences.
    - task: Parted, whose shares are the initial ones.
    - start: the initial Multipliers.
    - rate: length of the first step. A later step has this length divided by 1 + the number of times that the bound
      rose (Koo et al. 2010).
    """
    index, products = task.arcs, task.products
    A, n = len(index.head), len(index.right) - 1
    work = _begin(graph, task, start)
    u, w = work.multipliers
    bound, value, last, rises, used = 1e300, NEG, 1e300, 0, 0
    best = Agreed(NEG, np.zeros(n, np.int32), bound, u.copy(), w.copy(), products.share.copy(), 0)
    constant = apply_shares(make_pairs(np.zeros((0, 2), np.int32), work.score[:0], task.unit), products, work.weight)
    while used < iterations:
        used += 1
        v = best_tree(graph, index, work.weight, task.parts.single_root, work.chosen, work.oracle)
        solve_stars(index, task.parts, task.tables, work.alive, work.multipliers, work.stars, NODE_LIMIT, work.scratch)
        if v <= NEG_TEST or work.stars.value.min() <= NEG_TEST:
            return Agreed(NEG, best.arcs, NEG, best.child, best.parent, best.share, used)
        work.stars.dirty[:] = False
        upper = v + constant + work.stars.value.sum()
        score, size = _score_tree(graph, task, work)
        if score > value:
            value = score
            keep_arcs(work.chosen, size, A, best.arcs)
        if upper < bound:
            bound = upper
            best.child[:], best.parent[:], best.share[:] = u, w, products.share
        if bound <= value + (0.5 if task.unit > 0.0 else 1e-10 * max(1.0, abs(value))):
            break
        rises += upper > last
        last = upper
        alpha = rate / (1.0 + rises)
        if task.unit > 0.0:
            alpha = max(1.0, np.floor(alpha + 0.5))
        constant += _step(task, work, alpha)
        unmark_tree(work.chosen, size, work.z)
    return Agreed(value, best.arcs, bound, best.child, best.parent, best.share, used)


@kernel
def _begin(graph, task, start):
    """Return the initial state: the given multipliers, and no star solved."""
    index = task.arcs
    A, n = len(index.head), len(index.right) - 1
    weight = task.theta.copy()
    weight[:A] += start.child + start.parent
    return _Work(
        Multipliers(start.child.copy(), start.parent.copy()),
        weight,
        no_stars(A, n),
        task.theta[:A] > NEG_TEST,
        np.zeros(A + 1, np.int8),
        np.full(n + 1, NONE, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(len(task.products.phi), np.int32),
        np.zeros(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(n + 1),
        oracle_scratch(True, graph, n, A),
        star_scratch(index, task.tables),
    )


@kernel
def _score_tree(graph, task, work):
    """Return (score under all families, number of variables) of the last tree; write its arcs to work.z, work.into."""
    index = task.arcs
    _, size = tree_variables(graph, index, work.chosen, work.oracle)
    score = mark_tree(index, task.theta, work.chosen, size, work.z, work.number)
    for i in range(size):
        work.into[index.mod[work.chosen[i]]] = work.chosen[i]
    score += visit_products(task.products, work.z, work.on)[0]
    return score + score_heads(index, task.parts, task.tables, work.z, work.into, work.taken, work.score), size


@kernel
def _step(task, work, alpha):
    """Move multipliers and shares towards agreement; return the change of the constant in the bounds of products.

    The tree's weight of an arc rises if a star selects the arc and the tree does not, and falls in the opposite case.
    """
    index, stars, z, weight = task.arcs, work.stars, work.z, work.weight
    u, w = work.multipliers
    for a in range(len(index.head)):
        if not work.alive[a]:
            continue
        h, m = index.head[a], index.mod[a]
        if z[a] != stars.y[a]:
            move = alpha * (stars.y[a] - z[a])
            u[a] += move
            weight[a] += move
            stars.dirty[h] = True
        selected = 1 if stars.x[m] == a else 0
        if z[a] != selected:
            move = alpha * (selected - z[a])
            w[a] += move
            weight[a] += move
            stars.dirty[m] = True
    return move_products(task.products, z, work.on, alpha, task.unit, weight)
