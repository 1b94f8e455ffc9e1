"""Head stars in the search: multipliers make stars and tree agree (`treebound.kernels.head_stars.solve`).

The tree's weight of arc a contains u_a + w_a, and the stars subtract the same numbers. The star in which a is the arc
of a dependent subtracts u_a. The star in which a is the arc into the head subtracts w_a. For all multipliers, the best
tree and the best stars sum to an upper bound on every score. If both choose the same arcs, the bound is the score of
the tree. A subgradient step raises the weight of an arc that a star chooses and the tree does not, and lowers it in the
opposite case.

Shares of pairs and products become multipliers without loosening the bound, because the value of a star is at most the
sum of the bounds of its parts. In this module `star` is a StarState, or None in a search without stars. Most functions
do not receive objects whose type depends on the space, such as State and Scratch. Their code is therefore compiled only
once. Oracle: tests/test_stars.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.exact.branch_and_bound.state import with_factors
from treebound.decoders.exact.branch_and_bound.trace import ALL_STARS, NO_STARS, SOME_STARS
from treebound.kernels.bounded import Pairs, Products
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.modifiers import StarScratch, star_scratch
from treebound.kernels.head_stars.scoring import score_heads
from treebound.kernels.head_stars.solve import Stars, no_stars, solve_stars
from treebound.kernels.head_stars.tables import StarTables
from treebound.kernels.reference import by_reference, where_none
from treebound.support.jit import kernel

NODE_LIMIT = 20_000  #: limit of steps in the search for one star; beyond it an upper bound replaces the star


class Handover(NamedTuple):
    """The parts that head stars score in a search: some from the start, others after the root's steps.

    - first: StarTables of the parts that stars score from the start. All tables are empty if the search starts without
      stars.
    - later: StarTables of all same-head families, including `first`; used after the root's steps.
    - grandchildren: number of pairs that are grandchild parts. They come before all other pairs.
    - pairs: number of pairs that only stars score after the root's steps. They are the grandchild parts and the
      siblings, and come before all other pairs.
    - products: limit of the share numbers of products that only stars score after the root's steps. The shares of
      these products, whose arcs have a single head, have numbers below this limit.
    """

    first: StarTables
    later: StarTables
    grandchildren: int
    pairs: int
    products: int


@by_reference
@dataclass
class StarState:
    """The stars of a node, and working memory.

    - mode: int64[1], NO_STARS, SOME_STARS or ALL_STARS
    - stars: Stars of all heads
    - single: Stars for solving the star of one head; it shares the arrays x and y with `stars`
    - score: float64[n + 1], the score of each star's parts at the tree
    - into: int32[n + 1], the arc into each word of the tree
    - taken, was, scratch: working memory
    """

    handover: Handover
    mode: np.ndarray
    stars: Stars
    single: Stars
    score: np.ndarray
    into: np.ndarray
    taken: np.ndarray
    was: np.ndarray
    scratch: StarScratch


def _no_stars(handover, index):
    """Return None, in place of a StarState for a search without stars."""
    return None


@where_none(_no_stars)
def star_state(handover, index):
    """Return a StarState without solved stars for a sentence; None if `handover` is None."""
    A, n = len(index.head), len(index.right) - 1
    first = handover.first
    has_first = len(first.adjacent) > 0 or len(first.outermost) > 0 or len(first.grand_sibling) > 0
    stars, single = no_stars(A, n), no_stars(A, n)
    single.dirty[:] = False
    return StarState(
        handover,
        np.array([SOME_STARS if has_first else NO_STARS]),
        stars,
        Stars(single.value, stars.x, stars.y, single.x_bound, single.dirty),
        np.zeros(n + 1),
        np.full(n + 1, NONE, np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(A, np.bool_),
        star_scratch(index, handover.later),
    )


@kernel
def mode_of(star):
    """Return which stars are in use: NO_STARS, SOME_STARS or ALL_STARS."""
    if star is None:
        return NO_STARS
    return star.mode[0]


@kernel(inline="always")
def _tables(star):
    """Return the StarTables of the parts that stars score at present: `handover.first` or `handover.later`."""
    return star.handover.later if star.mode[0] == ALL_STARS else star.handover.first


@kernel
def mark_stars_dirty(star):
    """Mark all stars as dirty: they have to be solved anew."""
    if star is not None:
        star.stars.dirty[:] = True


@kernel
def solve_dirty_stars(star, task, multipliers, weight, alive):
    """Solve the stars marked as dirty, and return (whether every head has a star, whether an arc was removed)."""
    if star is None:
        return True, False
    if star.mode[0] == NO_STARS:
        return True, False
    index, stars = task.arcs, star.stars
    solve_stars(index, task.parts, _tables(star), alive, multipliers, stars, NODE_LIMIT, star.scratch)
    if stars.value.min() <= NEG_TEST:
        return False, False
    if star.mode[0] == SOME_STARS and _even_parents(stars, index, multipliers.parent, weight, alive):
        return True, True
    stars.dirty[:] = False
    return True, False


@kernel
def _even_parents(stars, index, w, weight, alive):
    """Choose the multipliers w of all arcs into each dirty head so that its star has the same value with every arc.

    For fixed multipliers u this choice of w is best: the sum of the stars stays the same, and the tree pays for the arc
    that it chooses. Returns whether an arc had no star; the weight of such an arc becomes NEG. O(A).
    """
    value, x_bound = stars.value, stars.x_bound
    removed = False
    for a in range(len(index.head)):
        m = index.mod[a]
        if not stars.dirty[m] or not alive[a]:
            continue
        if x_bound[a] <= NEG_TEST:
            weight[a] = NEG
            removed = True
        elif value[m] > x_bound[a]:
            w[a] -= value[m] - x_bound[a]
            weight[a] -= value[m] - x_bound[a]
            x_bound[a] = value[m]
    return removed


@kernel
def total_of_stars(star):
    """Return the sum of the values of all stars, which is part of the bound."""
    if star is None:
        return 0.0
    return star.stars.value.sum() if star.mode[0] != NO_STARS else 0.0


@kernel
def charge_stars(star, index, weight, arc_max):
    """Subtract from arc_max[a] the value that the star of a's dependent loses if it has to choose arc a. O(A)."""
    if star is None:
        return
    if star.mode[0] == NO_STARS:
        return
    for a in range(len(index.head)):
        if weight[a] > NEG_TEST:
            arc_max[a] -= star.stars.value[index.mod[a]] - star.stars.x_bound[a]


@kernel
def visit_stars(star, task, multipliers, alive, z, chosen):
    """Return (score of the stars' parts, number of disagreements) at the tree of the chosen variables.

    The second number counts arcs on which tree and stars disagree, separately for both roles of an arc. Writes
    star.into and star.score. O(A + n d^3), where d is the largest number of dependents of a head.
    """
    if star is None:
        return 0.0, 0
    if star.mode[0] == NO_STARS:
        return 0.0, 0
    index, stars = task.arcs, star.stars
    score = score_stars(star, task, z, chosen, len(chosen))
    if star.mode[0] == SOME_STARS:
        _follow_tree(star, task, multipliers, alive)
    count = 0
    for a in range(len(index.head)):
        if alive[a]:
            count += (z[a] != stars.y[a]) + (z[a] != (stars.x[index.mod[a]] == a))
    return score, count


@kernel
def score_stars(star, task, z, chosen, size):
    """Return the score of the stars' parts at the tree of the chosen variables. Writes star.into and star.score."""
    if star is None:
        return 0.0
    index = task.arcs
    for i in range(size):
        if chosen[i] < len(index.head):
            star.into[index.mod[chosen[i]]] = chosen[i]
    return score_heads(index, task.parts, _tables(star), z, star.into, star.taken, star.score)


@kernel
def _follow_tree(star, task, multipliers, alive):
    """Let every star choose the tree's arc into its head (star.into), and the best dependents for this arc."""
    index, into, was, single = task.arcs, star.into, star.was, star.single
    for h in range(1, len(index.right)):
        if single.x[h] == into[h]:
            continue
        lo, hi = index.into_start[h], index.into_start[h + 1]
        for i in range(lo, hi):
            a = index.into[i]
            was[a] = alive[a]
            alive[a] = a == into[h]
        single.dirty[h] = True
        solve_stars(index, task.parts, _tables(star), alive, multipliers, single, NODE_LIMIT, star.scratch)
        single.dirty[h] = False
        for i in range(lo, hi):
            alive[index.into[i]] = was[index.into[i]]


@kernel
def move_multipliers(star, index, multipliers, weight, alive, z, alpha):
    """Make a subgradient step of length alpha on the multipliers at the tree z. O(A).

    Heads whose stars have to be solved anew are marked in star.stars.dirty.
    """
    if star is None:
        return
    if star.mode[0] == NO_STARS:
        return
    x, y, dirty = star.stars.x, star.stars.y, star.stars.dirty
    u, w = multipliers.child, multipliers.parent
    for a in range(len(index.head)):
        if not alive[a]:
            continue
        h, m = index.head[a], index.mod[a]
        if z[a] != y[a]:
            step = alpha if y[a] == 1 else -alpha
            u[a] += step
            weight[a] += step
            dirty[h] = True
        if z[a] != (x[m] == a):
            step = alpha if x[m] == a else -alpha
            w[a] += step
            weight[a] += step
            dirty[m] = True


@kernel
def add_star_slack(star, index, multipliers, alive, z, gap):
    """Add to gap[a] the slack of every star that disagrees with the tree on arc a. O(A)."""
    if star is None:
        return
    if star.mode[0] == NO_STARS:
        return
    stars, into = star.stars, star.into
    for h in range(len(stars.value)):
        slack = stars.value[h] - star.score[h]
        if h > 0:
            slack += multipliers.parent[into[h]]
        for b in range(index.start[h], index.start[h + 1]):
            if z[b] == 1:
                slack += multipliers.child[b]
        for b in range(index.start[h], index.start[h + 1]):
            if alive[b] and z[b] != stars.y[b]:
                gap[b] += slack
        if h > 0 and stars.x[h] != into[h]:
            gap[into[h]] += slack
            if stars.x[h] >= 0:
                gap[stars.x[h]] += slack


@kernel
def shares_to_multipliers(star, task, state, scratch):
    """Turn the shares of same-head factors into multipliers: stars score these factors from now on.

    A factor whose other arcs are certain has become a score of its last arc (`search.fold`). This score becomes part of
    the multiplier of the arc. Returns the state with the factors that stars do not score. The arrays of the state, and
    the mode and dirty heads of `star`, change in place. O(A + K).
    """
    if star is None:
        return state
    pairs, constant = _hand_over_pairs(star.handover, task.pairs, state, scratch)
    products, constant = _hand_over_products(star.handover, task, state, scratch, constant)
    state.offset[0] += constant
    # an affine majorant a + b s adds b to the tree's weight for every dependent, so that the star subtracts b
    index, first = task.arcs, task.counts.first
    for h in range(len(state.slope)):
        if first[h + 1] > first[h]:
            for b in range(index.start[h], index.start[h + 1]):
                state.multipliers.child[b] += state.slope[h]
            state.slope[h] = 0.0
    star.mode[0] = ALL_STARS
    star.stars.dirty[:] = True
    return with_factors(state, state.graph, pairs, products, state.spans)


@kernel
def _hand_over_pairs(handover, all_pairs, state, scratch):
    """Turn the shares of same-head pairs into multipliers; return (the other pairs, change of the bound's constant).

    `all_pairs` are the pairs at the start of the search; `state.pairs` lacks the pairs that are decided. O(K).
    """
    pairs, theta, u, w = state.pairs, state.theta, state.multipliers.child, state.multipliers.parent
    alive, certain = scratch.alive, scratch.certain
    grandchildren, limit = handover.grandchildren, handover.pairs
    constant = 0.0
    present = np.zeros(len(all_pairs.phi), np.bool_)
    keep = np.zeros(len(pairs.phi), np.bool_)
    for i in range(len(pairs.phi)):
        k = pairs.number[i]
        present[k] = True
        keep[i] = k >= limit
        if keep[i]:
            continue
        e, f, phi, s = pairs.e[i], pairs.f[i], pairs.phi[i], pairs.share[i]
        of_e, of_f = (s, phi - s) if phi >= 0.0 else (-s, -s)
        if phi < 0.0:
            constant -= s
        if k < grandchildren:
            w[e] += of_e
        else:
            u[e] += of_e
        u[f] += of_f
    for k in range(min(limit, len(all_pairs.phi))):
        e, f, phi = all_pairs.e[k], all_pairs.f[k], all_pairs.phi[k]
        if present[k] or not alive[e] or not alive[f]:
            continue
        arc = f if certain[e] else e
        theta[arc] -= phi
        if arc == e and k < grandchildren:
            w[e] += phi
        else:
            u[arc] += phi
    return Pairs(pairs.number[keep], pairs.e[keep], pairs.f[keep], pairs.phi[keep], pairs.share[keep]), constant


@kernel
def _hand_over_products(handover, task, state, scratch, constant):
    """Turn the shares of same-head products into multipliers; return (the other products, the new constant). O(K).

    `constant` is the change of the bound's constant before this call; the new constant includes the change by this
    call. Products whose share numbers are below `handover.products` have a single head. A product that is missing from
    the state, although all its variables are alive, has become the score of one arc.
    """
    all_products, products, theta, u = task.products, state.products, state.theta, state.multipliers.child
    offset, limit = len(task.pairs.phi), handover.products
    present = np.zeros(len(all_products.share) + 1, np.bool_)
    first = np.zeros(len(products.phi) + 1, np.int32)
    kept = np.zeros(len(products.share), np.bool_)
    keep = np.zeros(len(products.phi), np.bool_)
    c = 0
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi):
            present[products.number[j] - offset] = True
        if products.number[lo] >= limit:
            keep[i] = True
            kept[lo:hi] = True
            first[c + 1] = first[c] + hi - lo
            c += 1
            continue
        if products.phi[i] < 0.0:
            constant -= products.share[lo] * (hi - lo - 1)
        for j in range(lo, hi):
            u[products.var[j]] += products.share[j] if products.phi[i] >= 0.0 else -products.share[lo]
    for i in range(len(all_products.phi)):
        lo, hi = all_products.first[i], all_products.first[i + 1]
        if all_products.number[lo] >= limit:
            break
        place = lo
        folded = False
        for j in range(lo, hi):
            folded = folded or present[all_products.number[j] - offset] or not scratch.alive[all_products.var[j]]
            if not scratch.certain[all_products.var[j]]:
                place = j
        if not folded:
            theta[all_products.var[place]] -= all_products.phi[i]
            u[all_products.var[place]] += all_products.phi[i]
    remaining = Products(
        first[: c + 1],
        products.var[kept],
        products.number[kept],
        products.phi[keep],
        products.share[kept],
    )
    return remaining, constant
