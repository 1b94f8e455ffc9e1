"""The candidate modifiers of one head, and their scores, with and without a given arc into the head.

The states `OUT`, `FREE` and `IN` tell whether a modifier is excluded, undecided or certain. A modifier is certain if
the other arcs into its word are no longer alive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.arcs.wide_parts import LONGEST_COMB, SHORTEST_COMB
from treebound.kernels.chart.hypergraph import NEG
from treebound.kernels.head_stars.chain import COUNTS, FREE, IN, OUT, ChainScratch, chain_scratch
from treebound.kernels.head_stars.chain_search import first_shares
from treebound.kernels.head_stars.set_search import SetScratch, set_scratch
from treebound.kernels.head_stars.tables import pair_rank, triple_rank
from treebound.kernels.reference import by_reference
from treebound.support.jit import kernel

COMB_SIZES = LONGEST_COMB - SHORTEST_COMB + 1


@by_reference
@dataclass
class Modifiers:
    """The candidate modifiers of a head, and the scores among them that hold for every arc into the head.

    - `head`, `size`, `left`: the head, the number of modifiers, and the number of modifiers on its left.
    - `place`: int32[size]. The rank of each modifier among all candidates of the head, alive or not.
    - `candidates`: the number of all candidates of the head.
    - `count_score`: float64[last + 1]. The score of the number of chosen modifiers, as in `best_free`.
    - `constant`: a score that every star has.
    - `chained`: whether neighbouring modifiers have scores.
    - `sets`: whether pairs, triples or combs have scores, so that only a search finds the best set.
    - `shift`: the constant that the shares of pairs add to a bound.
    - `tri`, `tri_first`: the scores of all triples of the sentence (may be empty), and the first triple of this head.
    - `comb`, `comb_items`: float64[combs], int32[combs, 8]. The scores of runs, and their members as local numbers,
      padded with NONE.
    """

    head: int
    size: int
    left: int
    place: np.ndarray
    candidates: int
    count_score: np.ndarray
    constant: float
    chained: bool
    sets: bool
    shift: float
    tri: np.ndarray
    tri_first: int
    comb: np.ndarray
    comb_items: np.ndarray


@by_reference
@dataclass
class Worth:
    """The states and scores of k modifiers under one arc into the head.

    - `status`: int8[>= k]. OUT, FREE or IN.
    - `gain`: float64[>= k]. The own score of each modifier.
    - `follow`: float64[>= k, >= k + 1]. The scores of neighbours: `trans` or `trans_x` of ChainScratch.
    - `end`: float64[>= k + 2]. The scores of the ends of both sides, one row of `ChainScratch.end`.
    """

    status: np.ndarray
    gain: np.ndarray
    follow: np.ndarray
    end: np.ndarray


@by_reference
@dataclass
class StarScratch:
    """Working memory of `solve_stars` for up to K arcs out of a word or into it. Only `pair_share` is used across
    calls.

    - `item`: int32[K]. The arcs of the modifiers: left ones near to far, then right ones near to far.
    - `base`: int8[K]. FREE or IN, the state of a modifier without regard to the arc into the head.
    - `status`, `gain`: int8[K, K], float64[K, K]. For each arc into the word, the state of a modifier and its own
      score.
    - `spread`: float64[K]. The sum of a modifier's shares of pairs, triples and combs, which is added to its gain.
    - `shared`: float64[K]. The sum of gain and spread.
    - `share`: float64[K, K]. The shares of pairs, as in `search_chain`.
    - `pair_share`: float64[F]. The shares of all heads, as in `first_shares`. Each call starts from the result of the
      previous call.
    - `place`: int32[K]. The rank of each modifier among all candidates of the head.
    - `solution`: int8[K]. The best set of a search.
    - `comb`, `comb_items`: float64[5 K], int32[5 K, 8]. Runs of modifiers, padded with NONE.
    - `tried`: bool[K]. The arcs into the word that need no further search.
    - `count_score`: float64[COUNTS]. The scores of numbers of modifiers.
    """

    item: np.ndarray
    base: np.ndarray
    status: np.ndarray
    gain: np.ndarray
    spread: np.ndarray
    shared: np.ndarray
    share: np.ndarray
    pair_share: np.ndarray
    place: np.ndarray
    solution: np.ndarray
    comb: np.ndarray
    comb_items: np.ndarray
    tried: np.ndarray
    count_score: np.ndarray
    chain: ChainScratch
    sets: SetScratch


@kernel
def star_scratch(index, tables):
    """Return scratch for the stars of a sentence. O(K^2), with triples O(K^3)."""
    K = 1
    for h in range(len(index.right)):
        K = max(K, index.start[h + 1] - index.start[h], index.into_start[h + 1] - index.into_start[h])
    return StarScratch(
        np.empty(K, np.int32),
        np.empty(K, np.int8),
        np.empty((K, K), np.int8),
        np.empty((K, K), np.float64),
        np.empty(K, np.float64),
        np.empty(K, np.float64),
        np.empty((K, K), np.float64),
        first_shares(tables.sibling),
        np.empty(K, np.int32),
        np.empty(K, np.int8),
        np.empty(COMB_SIZES * K, np.float64),
        np.empty((COMB_SIZES * K, LONGEST_COMB), np.int32),
        np.empty(K, np.bool_),
        np.empty(COUNTS, np.float64),
        chain_scratch(K),
        set_scratch(K, len(tables.tri_sibling) > 0),
    )


@kernel
def modifiers_of(h, index, parts, tables, alive, scratch):
    """Return the Modifiers of head h. O(k^2), with triples O(k^3)."""
    k, left_count = _candidates(h, index, alive, scratch)
    last, constant = _counts(h, parts, tables, scratch.count_score)
    adjacent = len(tables.adjacent) > 0 and parts.adjacent[index.start[h]] < parts.adjacent[index.start[h + 1]]
    chained = adjacent or (h > 0 and len(tables.outermost) + len(tables.grand_sibling) > 0)
    if chained:
        _neighbours(h, index, parts, tables.adjacent if adjacent else tables.adjacent[:0], (k, left_count), scratch)
    candidates = index.start[h + 1] - index.start[h]
    sets = False
    shift, combs = 0.0, 0
    if h > 0 and k > 1:
        sets = len(tables.sibling) > 0 or len(tables.tri_sibling) > 0
        if sets:
            first = parts.sibling[h]
            shift = _pairs(k, candidates, tables.sibling[first : parts.sibling[h + 1]], first, scratch)
        if len(tables.tri_sibling) > 0:
            _triples(k, candidates, tables.tri_sibling, parts.tri_sibling[h], scratch)
        if len(tables.comb) > 0:
            combs = _combs(h, tables, alive, scratch)
        if combs > 0 and not sets:
            sets = True
            scratch.sets.pairs[-1, :k, :k] = 0.0
            scratch.share[:k, :k] = 0.0
    return Modifiers(
        h, k, left_count, scratch.place, candidates, scratch.count_score[: last + 1], constant, chained, sets, shift,
        tables.tri_sibling, parts.tri_sibling[h], scratch.comb[:combs], scratch.comb_items[:combs],
    )  # fmt: skip


@kernel(inline="always")
def _candidates(h, index, alive, scratch):
    """Return (number of modifiers, number of modifiers on the left). O(k * arcs into one word).

    Write scratch.item, place, base and spread.
    """
    k, left_count = 0, 0
    for b in range(index.start[h], index.start[h + 1]):
        if b == index.right[h]:
            left_count = k
        if alive[b]:
            m = index.mod[b]
            scratch.item[k] = b
            scratch.place[k] = b - index.start[h]
            scratch.spread[k] = 0.0
            scratch.base[k] = IN
            for i in range(index.into_start[m], index.into_start[m + 1]):
                if index.into[i] != b and alive[index.into[i]]:
                    scratch.base[k] = FREE
                    break
            k += 1
    if index.right[h] == index.start[h + 1]:
        left_count = k
    return k, left_count


@kernel(inline="always")
def _counts(h, parts, tables, count_score):
    """Return (largest count with its own score, or 0 if counts have no scores; constant); write `count_score`."""
    last = 0
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
    return last, constant


@kernel(inline="always")
def _neighbours(h, index, parts, adjacent, size, scratch):
    """Write the scores of neighbours, or 0 if they have none, to scratch.chain.trans. O(k^2).

    `size` is the result of `_candidates`.
    """
    trans, item = scratch.chain.trans, scratch.item
    k, left_count = size
    for j in range(k):
        first = parts.adjacent[item[j]]
        trans[j, 0] = adjacent[first] if len(adjacent) > 0 else 0.0
        first += 1 - (index.start[h] if j < left_count else index.right[h])
        for i in range(0 if j < left_count else left_count, j):
            trans[j, i + 1] = adjacent[first + item[i]] if len(adjacent) > 0 else 0.0


@kernel(inline="always")
def _pairs(k, candidates, sibling, first, scratch):
    """Return the constant that the shares of pairs add to a bound. O(k^2).

    `sibling` float64[*] contains the scores of the pairs of this head, and `first` is the number of its first pair in
    the sentence. If `sibling` is empty, all scores are 0. Write scratch.sets.pairs[-1], share and spread.
    """
    pair, share, spread, place = scratch.sets.pairs[-1], scratch.share, scratch.spread, scratch.place
    shift = 0.0
    for j in range(k):
        for i in range(j):
            t, s = 0.0, 0.0
            if len(sibling) > 0:
                p = pair_rank(candidates, place[i], place[j])
                t, s = sibling[p], scratch.pair_share[first + p]
            pair[i, j] = t
            pair[j, i] = t
            if t < 0.0:
                shift += s
                s = -s
            share[i, j] = s
            share[j, i] = t - s if t > 0.0 else s
            spread[i] += share[i, j]
            spread[j] += share[j, i]
        pair[j, j] = 0.0
        share[j, j] = 0.0
    return shift


@kernel(inline="always")
def _triples(k, candidates, tri_sibling, first, scratch):
    """Add the shares of positive triples to scratch.spread: a third of the score for each member. O(k^3)."""
    spread, place = scratch.spread, scratch.place
    for v in range(k):
        for j in range(v):
            for i in range(j):
                t = tri_sibling[first + triple_rank(candidates, place[i], place[j], place[v])]
                if t > 0.0:
                    spread[i] += t / 3
                    spread[j] += t / 3
                    spread[v] += t / 3


@kernel(inline="always")
def _combs(h, tables, alive, scratch):
    """Return the number of runs of modifiers; write scratch.comb and comb_items.

    The shares of positive runs are added to scratch.spread.
    """
    comb, comb_items = scratch.comb, scratch.comb_items
    combs = 0
    for p in range(tables.comb_start[h], tables.comb_start[h + 1]):
        if tables.comb[p] == 0.0:
            continue
        size = 0
        j = 0
        for c in range(LONGEST_COMB):
            b = tables.comb_arcs[p, c]
            comb_items[combs, c] = NONE
            if b == NONE or not alive[b]:
                size = size if b == NONE else -1
                break
            while scratch.item[j] != b:
                j += 1
            comb_items[combs, c] = j
            size += 1
        if size > 0:
            comb[combs] = tables.comb[p]
            if comb[combs] > 0.0:
                for c in range(size):
                    scratch.spread[comb_items[combs, c]] += comb[combs] / size
            combs += 1
    return combs


@kernel(inline="always")
def worth_under(o, a, index, parts, tables, mods, u, scratch):
    """Write the scores of modifiers under arc a into the head to row o of scratch.status, gain and chain.end. O(k).

    `o` is the rank of arc a among the arcs into the head, and `u` are the multipliers of modifiers. Return False if
    arc a excludes a certain modifier.
    """
    h, g = mods.head, index.head[a]
    k, left_count = mods.size, mods.left
    status, gain, end = scratch.status, scratch.gain, scratch.chain.end
    first_grandchild, first_outermost = parts.grandchild[a], parts.outermost[a]
    possible = True
    for j in range(k):
        b = scratch.item[j]
        if j < left_count:
            rank = b - index.start[h]
            allowed = rank < parts.below[a, 0]
        else:
            rank = b - index.right[h]
            allowed = rank < parts.below[a, 1]
            rank += parts.below[a, 0]
        value = -u[b]
        state = scratch.base[j]
        if not allowed or index.mod[b] == g:
            possible = possible and state != IN
            state = OUT
        else:
            if len(tables.grandchild) > 0:
                value += tables.grandchild[first_grandchild + rank]
            if len(tables.outermost) > 0:
                end[o, j] = tables.outermost[first_outermost + 2 + rank]
        gain[o, j] = value
        status[o, j] = state
    if len(tables.outermost) > 0:
        inner = 0 if g < h else 1  # index of the side of h on which g is
        end[o, k + inner] = tables.outermost[first_outermost]
        end[o, k + 1 - inner] = tables.outermost[first_outermost + 1]
    return possible


@kernel(inline="always")
def follow_under(o, a, index, parts, tables, mods, scratch):
    """Return float64[k, k + 1]: the scores of neighbours under arc a, including grand-siblings if they are scored.
    O(k^2).
    """
    trans, trans_x, scores = scratch.chain.trans, scratch.chain.trans_x, tables.grand_sibling
    if not mods.chained or len(scores) == 0:
        return trans
    left_count, item, status = mods.left, scratch.item, scratch.status
    below_left = parts.below[a, 0]
    for j in range(mods.size):
        if status[o, j] == OUT:
            continue
        side = index.start[mods.head] if j < left_count else index.right[mods.head]
        rank = item[j] - side
        p = (
            parts.grand_sibling[a]
            + rank * (rank + 1) // 2
            + (0 if j < left_count else below_left * (below_left + 1) // 2)
        )
        trans_x[j, 0] = trans[j, 0] + scores[p]
        p += 1 - side
        for i in range(0 if j < left_count else left_count, j):
            if status[o, i] != OUT:
                trans_x[j, i + 1] = trans[j, i + 1] + scores[p + item[i]]
    return trans_x
