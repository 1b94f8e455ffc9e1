"""Head stars: what one word, the arc into it and its modifiers can score at most (Koo et al. 2010, head automata).

A star is a head h with the arc x into it (none for the root) and the set M of arcs out of it. With multipliers u (of an
arc as a modifier's arc) and w (of an arc as the arc into a head), for every tree z

    score of the parts at all heads  <=  sum_a (u_a + w_a) z_a + sum_h S_h,
    S_h = max over x, M of  score_h(x, M) - w_x - sum_{m in M} u_m,

whatever u and w are: z has one x and one M at every head. Without parts that tie together modifiers which are not
neighbours, M is found by a dynamic program along the modifiers of each side.

Oracle: tests/test_stars.py tries every x and M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.hypergraph import NEG, NEG_TEST
from treebound.kernels.parts import below_rank, sibling_rank
from treebound.kernels.wide_parts import LONGEST_COMB, MAX_COUNT, grand_sibling_rank

OUT, FREE, IN = range(3)  #: state of a candidate modifier
COUNTS = MAX_COUNT + 1
NO_ARCS = np.empty((0, LONGEST_COMB), np.int32)


class StarTables(NamedTuple):
    """Scores float64[F] of the families at one head, in the order of docs/architecture.md; empty where not scored here.

    comb_arcs int32[F, 8] arcs of the combs; comb_start int64[n + 2] first comb of each head.
    """

    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    grand_sibling: np.ndarray
    sibling: np.ndarray
    tri_sibling: np.ndarray
    comb: np.ndarray
    comb_arcs: np.ndarray
    comb_start: np.ndarray
    valency: np.ndarray


def star_tables(index, scores, comb_arcs=NO_ARCS):
    """StarTables of family -> float64[F]; comb_arcs as `list_parts` gives them. Families that are absent score nothing."""
    empty = np.empty(0, np.float64)
    n = len(index.right) - 1
    comb = scores.get("comb", empty)
    heads = index.head[comb_arcs[:, 0]] if len(comb) else empty
    return StarTables(
        scores.get("adjacent-sibling", empty),
        scores.get("outermost-grandchild", empty),
        scores.get("grandchild", empty),
        scores.get("grand-sibling", empty),
        scores.get("sibling", empty),
        scores.get("tri-sibling", empty),
        comb,
        comb_arcs,
        np.searchsorted(heads, np.arange(n + 2)),
        scores.get("valency", empty),
    )


class StarScratch(NamedTuple):
    """Working memory of `solve_stars` for heads with up to K candidate modifiers; no meaning between calls.

    item     int32[K]  arcs of the modifiers, left ones near to far, then right ones near to far
    status   int8[K]   OUT, FREE or IN under the present x
    gain     float64[K]
    trans    float64[K, K + 1]  [j, i + 1]: scores of modifier j following i (i = -1: being the first)
    trans_x  float64[K, K + 1]  the same with what the arc x adds
    end      float64[K + 2]     of each modifier being the last on its side; then of an empty left and right side
    best     float64[K, COUNTS] of a side up to a modifier, by the number of modifiers taken
    back, back_count  int32[K, COUNTS] the modifier before, and how many there were
    chosen   int8[K]
    count_score  float64[COUNTS]
    sides    float64[2, COUNTS] of a whole side by the number of modifiers; ends int32[2, COUNTS] its last modifier
    """

    item: np.ndarray
    status: np.ndarray
    gain: np.ndarray
    trans: np.ndarray
    trans_x: np.ndarray
    end: np.ndarray
    best: np.ndarray
    back: np.ndarray
    back_count: np.ndarray
    chosen: np.ndarray
    count_score: np.ndarray
    sides: np.ndarray
    ends: np.ndarray


@njit(cache=True, nogil=True)
def star_scratch(index):
    """Scratch for the stars of a sentence."""
    K = 1
    for h in range(len(index.right)):
        K = max(K, index.start[h + 1] - index.start[h])
    return StarScratch(
        np.empty(K, np.int32),
        np.empty(K, np.int8),
        np.empty(K, np.float64),
        np.empty((K, K + 1), np.float64),
        np.empty((K, K + 1), np.float64),
        np.empty(K + 2, np.float64),
        np.empty((K, COUNTS), np.float64),
        np.empty((K, COUNTS), np.int32),
        np.empty((K, COUNTS), np.int32),
        np.empty(K, np.int8),
        np.empty(COUNTS, np.float64),
        np.empty((2, COUNTS), np.float64),
        np.empty((2, COUNTS), np.int32),
    )


@njit(cache=True, nogil=True)
def _free(k, status, gain, count_score, last, chosen):
    """Best set of modifiers that score one by one, plus count_score[how many] (last = 0: none). OUT chosen. O(k last).

    count_score[last] is for that many or more.
    """
    total = 0.0
    count = 0
    for j in range(k):
        chosen[j] = status[j] == IN or (last == 0 and status[j] == FREE and gain[j] > 0.0)
        if chosen[j]:
            total += gain[j]
            count += 1
    if last == 0:
        return total
    # best first: the best set of a size is made of the best ones
    top = 2.0 * NEG
    taken, best_taken = 0, 0
    while True:
        if count < last:
            if total + count_score[count] > top:
                top = total + count_score[count]
                best_taken = taken
        else:
            rest = 0.0
            for j in range(k):
                if status[j] == FREE and chosen[j] == 0 and gain[j] > 0.0:
                    rest += gain[j]
            if total + rest + count_score[last] > top:
                for j in range(k):
                    if chosen[j] > 1:
                        chosen[j] = 1
                    elif status[j] == FREE and gain[j] > 0.0:
                        chosen[j] = 1
                return total + rest + count_score[last]
            break
        arg = -1
        for j in range(k):
            if status[j] == FREE and chosen[j] == 0 and (arg < 0 or gain[j] > gain[arg]):
                arg = j
        if arg < 0:
            break
        taken += 1
        chosen[arg] = 1 + taken  # in order
        total += gain[arg]
        count += 1
    for j in range(k):
        if chosen[j] > 1:
            chosen[j] = chosen[j] <= 1 + best_taken
    return top


@njit(cache=True, nogil=True)
def _chain(k, left, status, gain, trans, end, best, back, chosen):
    """Best set of modifiers along both sides: gains, transitions and ends. OUT chosen. O(k^2)."""
    total = 0.0
    for side in range(2):
        low, high = (0, left) if side == 0 else (left, k)
        for j in range(low, high):
            chosen[j] = 0
            if status[j] == OUT:
                continue
            top = 2.0 * NEG
            arg = -1
            i = j - 1
            while i >= low:
                if status[i] != OUT:
                    t = best[i, 0] + trans[j, i + 1]
                    if t > top:
                        top = t
                        arg = i
                    if status[i] == IN:
                        break
                i -= 1
            if i < low and trans[j, 0] >= top:
                top = trans[j, 0]
                arg = -1
            best[j, 0] = top + gain[j]
            back[j, 0] = arg
        top = 2.0 * NEG
        arg = -1
        i = high - 1
        while i >= low:
            if status[i] != OUT:
                t = best[i, 0] + end[i]
                if t > top:
                    top = t
                    arg = i
                if status[i] == IN:
                    break
            i -= 1
        if i < low and end[k + side] >= top:
            top = end[k + side]
            arg = -1
        total += top
        while arg >= 0:
            chosen[arg] = 1
            arg = back[arg, 0]
    return total


@njit(cache=True, nogil=True)
def _counted_chain(k, left, status, gain, trans, end, best, back, back_count, chosen, count_score, last, sides, ends):
    """As `_chain`, plus count_score[number of modifiers], count_score[last] for that many or more. O(k^2 last)."""
    size = last + 1
    sides[:] = 2.0 * NEG
    ends[:] = -1
    for side in range(2):
        low, high = (0, left) if side == 0 else (left, k)
        for j in range(low, high + 1):
            # j = high stands for the end of the side
            if j < high:
                chosen[j] = 0
                if status[j] == OUT:
                    continue
                for c in range(size):
                    best[j, c] = 2.0 * NEG
                    back[j, c] = -1
            i = j - 1
            while i >= low:
                if status[i] != OUT:
                    for c in range(size):
                        if best[i, c] <= NEG_TEST:
                            continue
                        if j == high:
                            t = best[i, c] + end[i]
                            if t > sides[side, c]:
                                sides[side, c] = t
                                ends[side, c] = i
                        else:
                            t = best[i, c] + trans[j, i + 1] + gain[j]
                            d = min(c + 1, last)
                            if t > best[j, d]:
                                best[j, d] = t
                                back[j, d] = i
                                back_count[j, d] = c
                    if status[i] == IN:
                        break
                i -= 1
            if i < low:
                if j == high:
                    if end[k + side] >= sides[side, 0]:
                        sides[side, 0] = end[k + side]
                        ends[side, 0] = -1
                else:
                    d = min(1, last)
                    t = trans[j, 0] + gain[j]
                    if t >= best[j, d]:
                        best[j, d] = t
                        back[j, d] = -1
    total = 2.0 * NEG
    of_left, of_right = 0, 0
    for c in range(size):
        if sides[0, c] <= NEG_TEST:
            continue
        for d in range(size):
            t = sides[0, c] + sides[1, d] + count_score[min(c + d, last)]
            if t > total:
                total = t
                of_left, of_right = c, d
    if total > NEG_TEST:
        for side in range(2):
            c = of_left if side == 0 else of_right
            i = ends[side, c]
            while i >= 0:
                chosen[i] = 1
                i, c = back[i, c], back_count[i, c]
    return total


@njit(cache=True, nogil=True)
def solve_stars(index, parts, tables, alive, u, w, dirty, value, x, y, x_bound, node_limit, unit, scratch):
    """S_h of every head that is dirty.

    index, parts  ArcIndex, PartIndex (whose trees, projective or not, say which modifiers can hang below an arc)
    tables    StarTables
    alive     bool[A]; the only alive arc into a word is certain, and chosen. The root takes exactly one arc where
              parts.single_root, else at least one
    u, w      float64[>= A] multipliers
    dirty     bool[n + 1]
    value     float64[n + 1] OUT: S_h, NEG if there is no star
    x         int32[n + 1] OUT: the arc into h of the best star, NONE for the root
    y         int8[A] OUT: whether an arc is chosen as modifier, for the arcs out of dirty heads
    x_bound   float64[A] OUT: for the arcs into dirty heads, no star with this x has more (NEG: there is none)
    Returns how many of the values are upper bounds only. Integers give exact integers. Nothing is allocated.
    O(arcs into h * (arcs out of h)^2) a head at worst; the stars of one side are linear where nothing is adjacent.
    """
    head, mod, start, right, into, into_start = index
    item, status, gain, trans, trans_x, end, best, back, back_count, chosen, count_score, sides, ends = scratch
    n = len(right) - 1
    for h in range(n + 1):
        if not dirty[h]:
            continue
        k, left = 0, 0
        for a in range(start[h], start[h + 1]):
            y[a] = 0
            if a == right[h]:
                left = k
            if alive[a]:
                item[k] = a
                k += 1
        if right[h] == start[h + 1]:
            left = k
        # the count of modifiers
        last = 0  # 0: it does not matter
        constant = 0.0
        if h == 0:
            last = 2 if parts.single_root else 1
            count_score[0], count_score[1], count_score[2] = NEG, 0.0, NEG
        elif len(tables.valency) > 0:
            last = parts.valency[h + 1] - parts.valency[h] - 1
            for c in range(last + 1):
                count_score[c] = tables.valency[parts.valency[h] + c]
            if last == 0:
                constant = count_score[0]  # a word without candidates
        adjacent = len(tables.adjacent) > 0 and parts.adjacent[start[h]] < parts.adjacent[start[h + 1]]
        outermost = len(tables.outermost) > 0 and h > 0
        grand = len(tables.grand_sibling) > 0 and h > 0
        chain = adjacent or outermost or grand
        for j in range(k):
            if not chain:
                break
            b = item[j]
            low = 0 if j < left else left
            first = parts.adjacent[b]
            trans[j, 0] = tables.adjacent[first] if adjacent else 0.0
            first += 1 - (start[h] if j < left else right[h])
            for i in range(low, j):
                trans[j, i + 1] = tables.adjacent[first + item[i]] if adjacent else 0.0
        value[h] = 2.0 * NEG
        x[h] = NONE
        for o in range(1 if h == 0 else into_start[h], 2 if h == 0 else into_start[h + 1]):
            a = NONE if h == 0 else into[o]
            if h > 0:
                x_bound[a] = NEG
                if not alive[a]:
                    continue
            # which modifiers can hang below a, and what they score there
            possible = True
            grandparent = -1 if h == 0 else head[a]
            for j in range(k):
                b = item[j]
                m = mod[b]
                status[j] = OUT
                gain[j] = -u[b]
                rank = 0 if h == 0 else below_rank(index, parts, a, b)
                if rank >= 0 and m != grandparent:
                    status[j] = FREE
                    if h > 0 and len(tables.grandchild) > 0:
                        gain[j] += tables.grandchild[parts.grandchild[a] + rank]
                certain = True
                for i in range(into_start[m], into_start[m + 1]):
                    certain = certain and (into[i] == b or not alive[into[i]])
                if certain:
                    if status[j] == OUT:
                        possible = False
                    status[j] = IN
            if not possible:
                continue
            follow = trans
            if grand:
                follow = trans_x
                for j in range(k):
                    if status[j] == OUT:
                        continue
                    first = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, NONE, item[j])
                    trans_x[j, 0] = trans[j, 0] + tables.grand_sibling[first]
                    first += 1 - (start[h] if j < left else right[h])
                    for i in range(0 if j < left else left, j):
                        trans_x[j, i + 1] = trans[j, i + 1] + tables.grand_sibling[first + item[i]]
            if outermost:
                first = parts.outermost[a]
                inner = 0 if grandparent < h else 1  # the side towards the grandparent
                end[k + inner] = tables.outermost[first]
                end[k + 1 - inner] = tables.outermost[first + 1]
                for j in range(k):
                    if status[j] != OUT:
                        end[j] = tables.outermost[first + 2 + below_rank(index, parts, a, item[j])]
            elif chain:
                end[: k + 2] = 0.0
            if not chain:
                v = _free(k, status, gain, count_score, last, chosen)
            elif last == 0:
                v = _chain(k, left, status, gain, follow, end, best, back, chosen)
            else:
                v = _counted_chain(
                    k, left, status, gain, follow, end, best, back, back_count, chosen, count_score, last, sides, ends
                )
            if h > 0:
                v += constant - w[a]
                x_bound[a] = max(v, NEG)
            if v > value[h]:
                value[h] = v
                x[h] = a
                for j in range(k):
                    y[item[j]] = chosen[j]
        if value[h] <= NEG_TEST:
            value[h] = NEG
    return 0
