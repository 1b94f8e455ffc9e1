"""Head stars in the search: multipliers that make stars and tree agree (`treebound.kernels.head_stars.solve`).

The tree pays or earns u_a + w_a for an arc, the stars have the opposite: u_a as a modifier's arc, w_a as the arc into a
head. Whatever the multipliers are, tree plus stars bound every score; where both choose the same arcs, the bound is the
score of the tree. A subgradient step raises what the tree leaves out and a star wants, and the other way round.

Shares of pairs and products become multipliers without loosening the bound: a star is at most the sum of the bounds of
its parts. Everywhere here `star` is a StarState, or None in a search without stars. What belongs to a kind of trees, as
State and Scratch do, is not handed on: the stars of all kinds are compiled once. Oracle: tests/test_stars.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.exact.branch_and_bound.state import changed
from treebound.decoders.exact.branch_and_bound.trace import ALL_STARS, NO_STARS, SOME_STARS
from treebound.kernels.bounded import Pairs, Products
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.modifiers import StarScratch, star_scratch
from treebound.kernels.head_stars.scoring import score_heads
from treebound.kernels.head_stars.solve import Stars, no_stars, solve_stars
from treebound.kernels.head_stars.tables import StarTables
from treebound.kernels.reference import by_reference, where_none
from treebound.support.jit import kernel

NODE_LIMIT = 20_000  #: steps of the search for one star, before an upper bound has to do


class Handover(NamedTuple):
    """What head stars score in a search.

    first          StarTables of what is left to them from the beginning; all empty: no stars at first
    later          StarTables of all same-head families, those of `first` too, for after the root's steps
    grandchildren  the first pairs are that many grandchild parts
    pairs          the first pairs, that many, are of one head
    products       products whose shares are numbered below are of one head
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

    mode     int64[1]  NO_STARS, SOME_STARS or ALL_STARS
    stars    Stars of all heads; one: the same x and y, for the star of one head
    score    float64[n + 1] what the stars score at the tree
    into     int32[n + 1] the arc into each word of the tree
    taken, was, scratch
    """

    handover: Handover
    mode: np.ndarray
    stars: Stars
    one: Stars
    score: np.ndarray
    into: np.ndarray
    taken: np.ndarray
    was: np.ndarray
    scratch: StarScratch


def _no_stars(handover, index):
    return None


@where_none(_no_stars)
def star_state(handover, index):
    """A StarState for a sentence: no star solved yet. None for None."""
    A, n = len(index.head), len(index.right) - 1
    first = handover.first
    some = len(first.adjacent) > 0 or len(first.outermost) > 0 or len(first.grand_sibling) > 0
    stars, one = no_stars(A, n), no_stars(A, n)
    one.dirty[:] = False
    return StarState(
        handover,
        np.array([SOME_STARS if some else NO_STARS]),
        stars,
        Stars(one.value, stars.x, stars.y, one.x_bound, one.dirty),
        np.zeros(n + 1),
        np.full(n + 1, NONE, np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(A, np.bool_),
        star_scratch(index, handover.later),
    )


@kernel
def mode_of(star):
    """Which stars are in force."""
    if star is None:
        return NO_STARS
    return star.mode[0]


@kernel(inline="always")
def _tables(star):
    return star.handover.later if star.mode[0] == ALL_STARS else star.handover.first


@kernel
def spoil_stars(star):
    """All stars have to be solved again."""
    if star is not None:
        star.stars.dirty[:] = True


@kernel
def settle_stars(star, task, multipliers, weight, alive):
    """Solve the stars that are dirty: (whether every head has one, whether an arc was removed)."""
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
    """Give the arcs into every dirty head the multipliers w under which its star is worth the same with each of them.

    That is the best choice of w for the given u: the stars' sum stays, and the tree pays for the arc that it takes.
    Returns whether an arc was found to have no star; its weight is NEG then. O(A).
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
    """What the stars add to the bound."""
    if star is None:
        return 0.0
    return star.stars.value.sum() if star.mode[0] != NO_STARS else 0.0


@kernel
def charge_stars(star, index, weight, arc_max):
    """arc_max[a] -= what the star of the word of arc a loses where a is chosen. O(A)."""
    if star is None:
        return
    if star.mode[0] == NO_STARS:
        return
    for a in range(len(index.head)):
        if weight[a] > NEG_TEST:
            arc_max[a] -= star.stars.value[index.mod[a]] - star.stars.x_bound[a]


@kernel
def visit_stars(star, task, multipliers, alive, z, chosen):
    """At the tree of the chosen variables: (score of the stars' parts, on how many arcs they disagree, in each role).

    OUT star.into, star.score. O(A + n d^3), d the largest number of modifiers.
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
    """Score of the stars' parts at the tree of the chosen variables; star.into and star.score are filled."""
    if star is None:
        return 0.0
    index = task.arcs
    for i in range(size):
        if chosen[i] < len(index.head):
            star.into[index.mod[chosen[i]]] = chosen[i]
    return score_heads(index, task.parts, _tables(star), z, star.into, star.taken, star.score)


@kernel
def _follow_tree(star, task, multipliers, alive):
    """Make every star choose the tree's arc into its head (star.into), and its best modifiers then."""
    index, into, was, one = task.arcs, star.into, star.was, star.one
    for h in range(1, len(index.right)):
        if one.x[h] == into[h]:
            continue
        lo, hi = index.into_start[h], index.into_start[h + 1]
        for i in range(lo, hi):
            a = index.into[i]
            was[a] = alive[a]
            alive[a] = a == into[h]
        one.dirty[h] = True
        solve_stars(index, task.parts, _tables(star), alive, multipliers, one, NODE_LIMIT, star.scratch)
        one.dirty[h] = False
        for i in range(lo, hi):
            alive[index.into[i]] = was[index.into[i]]


@kernel
def move_multipliers(star, index, multipliers, weight, alive, z, alpha):
    """A subgradient step of length alpha; OUT star.stars.dirty: heads whose star has to be solved again. O(A)."""
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
    """gap[a] += slack of a star whose tree and whose choice disagree on arc a. O(A)."""
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
def hand_over(star, task, state, scratch):
    """Turn the shares of same-head factors into multipliers; the stars score these factors from now on.

    What folding has made scores of single arcs becomes part of the multipliers. Returns the state of what is left; its
    arrays, mode and dirty stars change in place. O(A + K).
    """
    if star is None:
        return state
    pairs, constant = _hand_over_pairs(star.handover, task.pairs, state, scratch)
    products, constant = _hand_over_products(star.handover, task, state, scratch, constant)
    state.offset[0] += constant
    # an affine majorant a + b s: the tree earns b for every modifier, and so does the star pay
    index, first = task.arcs, task.counts.first
    for h in range(len(state.slope)):
        if first[h + 1] > first[h]:
            for b in range(index.start[h], index.start[h + 1]):
                state.multipliers.child[b] += state.slope[h]
            state.slope[h] = 0.0
    star.mode[0] = ALL_STARS
    star.stars.dirty[:] = True
    return changed(state, state.graph, pairs, products, state.spans)


@kernel
def _hand_over_pairs(handover, given, state, scratch):
    """(pairs that are left, change of the bound's constant); `given`: those of the task, before folding. O(K)."""
    pairs, theta, u, w = state.pairs, state.theta, state.multipliers.child, state.multipliers.parent
    alive, certain = scratch.alive, scratch.certain
    grandchildren, limit = handover.grandchildren, handover.pairs
    constant = 0.0
    present = np.zeros(len(given.phi), np.bool_)
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
    for k in range(min(limit, len(given.phi))):
        e, f, phi = given.e[k], given.f[k], given.phi[k]
        if present[k] or not alive[e] or not alive[f]:
            continue
        to = f if certain[e] else e
        theta[to] -= phi
        if to == e and k < grandchildren:
            w[e] += phi
        else:
            u[to] += phi
    return Pairs(pairs.number[keep], pairs.e[keep], pairs.f[keep], pairs.phi[keep], pairs.share[keep]), constant


@kernel
def _hand_over_products(handover, task, state, scratch, constant):
    """As `_hand_over_pairs`, adding to a constant; the places of the shares say which product is which. O(K)."""
    given, products, theta, u = task.products, state.products, state.theta, state.multipliers.child
    offset, limit = len(task.pairs.phi), handover.products
    present = np.zeros(len(given.share) + 1, np.bool_)
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
    for i in range(len(given.phi)):
        lo, hi = given.first[i], given.first[i + 1]
        if given.number[lo] >= limit:
            break
        to = lo
        gone = False
        for j in range(lo, hi):
            gone = gone or present[given.number[j] - offset] or not scratch.alive[given.var[j]]
            if not scratch.certain[given.var[j]]:
                to = j
        if not gone:
            theta[given.var[to]] -= given.phi[i]
            u[given.var[to]] += given.phi[i]
    left = Products(first[: c + 1], products.var[kept], products.number[kept], products.phi[keep], products.share[kept])
    return left, constant
