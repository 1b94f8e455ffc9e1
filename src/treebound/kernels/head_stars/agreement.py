"""Head stars in the search: multipliers that make stars and tree agree (`treebound.kernels.head_stars.tables`).

The tree pays or earns u_a + w_a for an arc, the stars have the opposite: u_a as a modifier's arc, w_a as the arc into a
head. Whatever the multipliers are, tree plus stars bound every score; where both choose the same arcs, the bound is the
score of the tree. A subgradient step raises what the tree leaves out and a star wants, and the other way round.

Shares of pairs and products become multipliers without loosening the bound: a star is at most the sum of the bounds of
its parts. Oracle: tests/test_agreement.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.arcs.parts import below_rank, sibling_rank
from treebound.kernels.arcs.wide_parts import grand_sibling_rank
from treebound.kernels.bounded import Pairs, Products
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.tables import StarScratch, StarTables, solve_stars, star_scratch

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


class StarState(NamedTuple):
    """The stars of a node, and working memory.

    value, score  float64[n + 1]  S_h of every head, and what its star scores at the tree
    x, y, x_bound int32[n + 1], int8[A], float64[A]  as of `solve_stars`
    dirty         bool[n + 1]  heads whose star has to be solved again
    into          int32[n + 1] the arc into each word of the tree
    taken, only, one_value, one_bound, was  scratch
    """

    value: np.ndarray
    score: np.ndarray
    x: np.ndarray
    y: np.ndarray
    x_bound: np.ndarray
    dirty: np.ndarray
    into: np.ndarray
    taken: np.ndarray
    only: np.ndarray
    one_value: np.ndarray
    one_bound: np.ndarray
    was: np.ndarray
    scratch: StarScratch


@njit(cache=True, nogil=True)
def star_state(index, handover):
    """A StarState for a sentence: no star solved yet."""
    A, n = len(index.head), len(index.right) - 1
    return StarState(
        np.zeros(n + 1),
        np.zeros(n + 1),
        np.full(n + 1, NONE, np.int32),
        np.zeros(A, np.int8),
        np.zeros(A),
        np.ones(n + 1, np.bool_),
        np.full(n + 1, NONE, np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(n + 1, np.bool_),
        np.zeros(n + 1),
        np.zeros(A),
        np.zeros(A, np.bool_),
        star_scratch(index, handover.later),
    )


@njit(cache=True, nogil=True)
def have_stars(tables):
    """Whether there is anything that only stars can score."""
    return len(tables.adjacent) > 0 or len(tables.outermost) > 0 or len(tables.grand_sibling) > 0


@njit(cache=True, nogil=True)
def solve_dirty(index, parts, tables, alive, child, parent, unit, star):
    """Solve the stars that are dirty; False if a head has none."""
    solve_stars(
        index, parts, tables, alive, child, parent, star.dirty, star.value, star.x, star.y, star.x_bound,
        NODE_LIMIT, unit, star.scratch,
    )  # fmt: skip
    return star.value.min() > NEG_TEST


@njit(cache=True, nogil=True)
def score_stars(index, parts, tables, z, chosen, size, star):
    """Score of the stars' parts at the tree of the chosen variables; star.into and star.score are filled."""
    for i in range(size):
        if chosen[i] < len(index.head):
            star.into[index.mod[chosen[i]]] = chosen[i]
    return score_heads(index, parts, tables, z, star.into, star.taken, star.score)


@njit(cache=True, nogil=True)
def tri_sibling_rank(size, x, y, z):
    """Rank of the triple x < y < z among those of 0 .. size - 1, in lexicographic order."""
    a, b = size - x, size - y
    rank = size * (size - 1) * (size - 2) // 6 - a * (a - 1) * (a - 2) // 6
    rank += (a - 1) * (a - 2) // 2 - b * (b - 1) // 2
    return rank + z - y - 1


@njit(cache=True, nogil=True)
def score_head(index, parts, tables, z, into, taken, h):
    """Score of the parts in `tables` at one head; arguments as of `score_heads`."""
    start, right = index.start, index.right
    a = into[h]
    lo, mid, hi = start[h], right[h], start[h + 1]
    score = 0.0
    count = 0
    before = NONE
    last_left, last_right = NONE, NONE
    adjacent = len(tables.adjacent) > 0 and parts.adjacent[hi] > parts.adjacent[lo]
    for b in range(lo, hi):
        if z[b] == 0:
            continue
        if b < mid:
            last_left = b
        else:
            if last_right == NONE:
                before = NONE
            last_right = b
        if adjacent:
            side = lo if b < mid else mid
            score += tables.adjacent[parts.adjacent[b] + (0 if before == NONE else 1 + before - side)]
        if h > 0:
            if len(tables.grandchild) > 0:
                score += tables.grandchild[parts.grandchild[a] + below_rank(index, parts, a, b)]
            if len(tables.grand_sibling) > 0:
                p = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, before, b)
                score += tables.grand_sibling[p]
            if len(tables.sibling) > 0:
                for i in range(count):
                    score += tables.sibling[parts.sibling[h] + sibling_rank(index, taken[i], b)]
            if len(tables.tri_sibling) > 0:
                for j in range(1, count):
                    for i in range(j):
                        rank = tri_sibling_rank(hi - lo, taken[i] - lo, taken[j] - lo, b - lo)
                        score += tables.tri_sibling[parts.tri_sibling[h] + rank]
        before = b
        taken[count] = b
        count += 1
    if h > 0:
        if len(tables.outermost) > 0:
            inner_left = index.head[a] < h
            for side in range(2):
                c = last_left if side == 0 else last_right
                p = parts.outermost[a]
                if c == NONE:
                    p += 0 if (side == 0) == inner_left else 1
                else:
                    p += 2 + below_rank(index, parts, a, c)
                score += tables.outermost[p]
        if len(tables.valency) > 0:
            size = parts.valency[h + 1] - parts.valency[h]
            score += tables.valency[parts.valency[h] + min(count, size - 1)]
        if len(tables.comb) > 0:
            for p in range(tables.comb_start[h], tables.comb_start[h + 1]):
                every = True
                for i in range(tables.comb_arcs.shape[1]):
                    c = tables.comb_arcs[p, i]
                    every = every and (c < 0 or z[c] == 1)
                if every:
                    score += tables.comb[p]
    return score


@njit(cache=True, nogil=True)
def score_heads(index, parts, tables, z, into, taken, out):
    """OUT out float64[n + 1]: score of the parts in `tables` (StarTables) at each head of a tree; returns their sum.

    z int8[>= A] selected arcs; into int32[n + 1] the arc into each word, NONE at 0; taken int32[n + 1] is scratch.
    O(A + n d^3), d the largest number of modifiers.
    """
    total = 0.0
    for h in range(len(index.right)):
        out[h] = score_head(index, parts, tables, z, into, taken, h)
        total += out[h]
    return total


@njit(cache=True, nogil=True)
def disagreements(index, z, alive, star):
    """How many arcs tree and stars disagree on, counted once in each role. O(A)."""
    count = 0
    for a in range(len(index.head)):
        if alive[a]:
            count += (z[a] != star.y[a]) + (z[a] != (star.x[index.mod[a]] == a))
    return count


@njit(cache=True, nogil=True)
def move_multipliers(index, z, alive, alpha, u, w, weight, star):
    """A subgradient step of length alpha; OUT star.dirty: heads whose star has to be solved again. O(A)."""
    x, y, dirty = star.x, star.y, star.dirty
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


@njit(cache=True, nogil=True)
def even_parents(index, alive, w, weight, star):
    """Give the arcs into every dirty head the multipliers w under which its star is worth the same with each of them.

    That is the best choice of w for the given u: the stars' sum stays, and the tree pays for the arc that it takes.
    Returns whether an arc was found to have no star; its weight is NEG then. O(A).
    """
    value, x_bound = star.value, star.x_bound
    removed = False
    for a in range(len(index.head)):
        m = index.mod[a]
        if not star.dirty[m] or not alive[a]:
            continue
        if x_bound[a] <= NEG_TEST:
            weight[a] = NEG
            removed = True
        elif value[m] > x_bound[a]:
            w[a] -= value[m] - x_bound[a]
            weight[a] -= value[m] - x_bound[a]
            x_bound[a] = value[m]
    return removed


@njit(cache=True, nogil=True)
def follow_tree(index, parts, tables, alive, child, parent, unit, star):
    """Make every star choose the tree's arc into its head (star.into), and its best modifiers then."""
    into, was = star.into, star.was
    for h in range(1, len(index.right)):
        if star.x[h] == into[h]:
            continue
        lo, hi = index.into_start[h], index.into_start[h + 1]
        for i in range(lo, hi):
            a = index.into[i]
            was[a] = alive[a]
            alive[a] = a == into[h]
        star.only[h] = True
        solve_stars(
            index, parts, tables, alive, child, parent, star.only, star.one_value, star.x, star.y, star.one_bound,
            NODE_LIMIT, unit, star.scratch,
        )  # fmt: skip
        star.only[h] = False
        for i in range(lo, hi):
            alive[index.into[i]] = was[index.into[i]]


@njit(cache=True, nogil=True)
def add_star_slack(index, z, alive, u, w, star, gap):
    """gap[a] += slack of a star whose tree and whose choice disagree on arc a. O(A)."""
    x, y, into = star.x, star.y, star.into
    for h in range(len(star.value)):
        slack = star.value[h] - star.score[h]
        if h > 0:
            slack += w[into[h]]
        for b in range(index.start[h], index.start[h + 1]):
            if z[b] == 1:
                slack += u[b]
        for b in range(index.start[h], index.start[h + 1]):
            if alive[b] and z[b] != y[b]:
                gap[b] += slack
        if h > 0 and x[h] != into[h]:
            gap[into[h]] += slack
            if x[h] >= 0:
                gap[x[h]] += slack


@njit(cache=True, nogil=True)
def hand_over(
    index, counts, handover, all_pairs, all_products, pairs, products, slope, alive, certain, theta, weight, u, w
):
    """Turn the shares of same-head factors into multipliers; the stars score these factors from now on.

    handover        Handover: which pairs and products are of one head
    all_pairs, all_products    as they were before anything was folded; pairs, products: as they are now
    What folding has made scores of single arcs becomes part of the multipliers. theta, weight, u, w change in place.
    Returns (pairs, products that are left, change of the bound's constant). O(A + K).
    """
    grandchildren, pair_limit, product_limit = handover.grandchildren, handover.pairs, handover.products
    constant = 0.0
    present = np.zeros(len(all_pairs.phi), np.bool_)
    keep = np.zeros(len(pairs.phi), np.bool_)
    for i in range(len(pairs.phi)):
        k = pairs.number[i]
        present[k] = True
        keep[i] = k >= pair_limit
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
    for k in range(min(pair_limit, len(all_pairs.phi))):
        e, f, phi = all_pairs.e[k], all_pairs.f[k], all_pairs.phi[k]
        if present[k] or not alive[e] or not alive[f]:
            continue
        to = f if certain[e] else e
        theta[to] -= phi
        if to == e and k < grandchildren:
            w[e] += phi
        else:
            u[to] += phi
    left = Pairs(pairs.number[keep], pairs.e[keep], pairs.f[keep], pairs.phi[keep], pairs.share[keep])
    # products: the places of the shares say which factor is which
    place = np.zeros(len(all_products.share) + 1, np.bool_)
    offset = len(all_pairs.phi)
    first = np.zeros(len(products.phi) + 1, np.int32)
    kept = np.zeros(len(products.share), np.bool_)
    keep = np.zeros(len(products.phi), np.bool_)
    c = 0
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi):
            place[products.number[j] - offset] = True
        if products.number[lo] >= product_limit:
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
        if all_products.number[lo] >= product_limit:
            break
        to = lo
        gone = False
        for j in range(lo, hi):
            gone = gone or place[all_products.number[j] - offset] or not alive[all_products.var[j]]
            if not certain[all_products.var[j]]:
                to = j
        if not gone:
            theta[all_products.var[to]] -= all_products.phi[i]
            u[all_products.var[to]] += all_products.phi[i]
    rest = Products(first[: c + 1], products.var[kept], products.number[kept], products.phi[keep], products.share[kept])
    # an affine majorant a + b s: the tree earns b for every modifier, and so does the star pay
    for h in range(len(slope)):
        if counts.first[h + 1] > counts.first[h]:
            for b in range(index.start[h], index.start[h + 1]):
                u[b] += slope[h]
            slope[h] = 0.0
    return left, rest, constant
