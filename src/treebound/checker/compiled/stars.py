"""The best stars of `treebound.checker.stars`, computed in int64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.checker.compiled.charts import end_score, modifier_score
from treebound.checker.compiled.tables import NO
from treebound.core.problem import LONGEST_COMB
from treebound.support.jit import kernel

BARRED = NO // 2  #: modifiers with a gain below this number cannot be chosen


class Known(NamedTuple):
    """Star scores from earlier steps: for each arc x, the best star of the dependent of x, without the multiplier of x.

    - `score`, int64[A + 1]: NO (-inf) if there is no star; the root's star is at index A
    - `valid`, bool[A + 1]: whether the score is up to date
    - `alive`, bool[A]: the remaining arcs when the scores were computed
    - `certain`, bool[A]: the remaining arcs that were then the only arc into their word
    - `child`, int64[A]: the multipliers u when the scores were computed
    """

    score: np.ndarray
    valid: np.ndarray
    alive: np.ndarray
    certain: np.ndarray
    child: np.ndarray


def nothing_known(size: int) -> Known:
    """Return a `Known` without results, for a problem with `size` arcs."""
    flags = np.zeros(size, np.bool_)
    valid = np.zeros(size + 1, np.bool_)
    return Known(np.full(size + 1, NO, np.int64), valid, flags, flags.copy(), np.zeros(size, np.int64))


class Rules(NamedTuple):
    """The definition of the set of trees: single root or not, projective or not."""

    single_root: bool
    projective: bool


class _Star(NamedTuple):
    """A word h with the arc x into h (-1 for the root) and its possible modifiers, from near to far on either side.

    below  arcs to the possible modifiers; the first `turn` arcs are on the left
    turn   number of arcs on the left
    must   bool for each arc of `below`: whether every tree has the arc
    """

    h: int
    x: int
    below: np.ndarray
    turn: int
    must: np.ndarray


@kernel
def total(rules, arcs, scores, known, living, multipliers, loss):
    """Return the sum, over the root and all words, of the score of the best star after its multipliers are subtracted.

    A star is a word with the arc into it and the arcs to its modifiers.

    The sum is NO (-inf) if some word has no star.

    - `rules`: `Rules` of the trees
    - `known`: results of earlier steps, which are updated
    - `living`, (alive, certain) bool[A]: the remaining arcs, and the remaining arcs that every tree has
    - `multipliers`, (u, w) int64[A]: multipliers of an arc as a modifier's arc and as the arc into a head
    - `loss`, int64[A], output: for each remaining arc, the amount by which the sum falls if the star of its word must
      have this arc into the word; NO if there is no such star
    """
    alive, certain = living
    u, w = multipliers
    A, n = len(arcs.head), len(arcs.into_first) - 2
    for h in range(n + 1):
        unchanged = True
        for i in range(arcs.out_first[h], arcs.out_first[h + 1]):
            a = arcs.out[i]
            if known.alive[a] != alive[a] or (alive[a] and (known.certain[a] != certain[a] or known.child[a] != u[a])):
                unchanged = False
            known.alive[a], known.certain[a], known.child[a] = alive[a], certain[a], u[a]
        if not unchanged:
            if h == 0:
                known.valid[A] = False
            for i in range(arcs.into_first[h], arcs.into_first[h + 1]):
                known.valid[arcs.into[i]] = False
    result = np.int64(0)
    for h in range(n + 1):
        best = np.int64(NO)
        first, last = (arcs.into_first[h], arcs.into_first[h + 1]) if h > 0 else (0, 1)
        for i in range(first, last):
            x = arcs.into[i] if h > 0 else -1
            if x >= 0 and not alive[x]:
                continue
            place = x if x >= 0 else A
            if not known.valid[place]:
                known.score[place] = _best(rules, arcs, scores, h, x, living, u)
                known.valid[place] = True
            if known.score[place] != NO:
                best = max(best, known.score[place] - (w[x] if x >= 0 else 0))
        if best == NO:
            return NO
        result += best
        for i in range(arcs.into_first[h], arcs.into_first[h + 1]):
            x = arcs.into[i]
            if h > 0 and alive[x]:
                loss[x] = best - (known.score[x] - w[x]) if known.score[x] != NO else NO
    return result


@kernel
def _best(rules, arcs, scores, h, x, living, u):
    """Return the score of the best star of h with the arc x into h; NO (-inf) if there is none.

    The multipliers u of the modifiers are subtracted. For the other arguments see `total`.
    """
    single_root, projective = rules
    alive, certain = living
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    below, must = np.empty(deg, np.int64), np.empty(deg, np.bool_)
    size, turn = 0, 0
    g = arcs.head[x] if x >= 0 else -1
    for i in range(arcs.out_first[h], arcs.out_first[h + 1]):
        a = arcs.out[i]
        if not alive[a]:
            continue
        m = arcs.mod[a]
        # skip arcs that no tree has together with x
        if x >= 0 and (m == g or (projective and (m > h) == (g > h) and abs(m - h) > abs(g - h))):
            if certain[a]:
                return NO
            continue
        below[size], must[size] = a, certain[a]
        size += 1
        turn += m < h
    star = _Star(h, x, below[:size], turn, must[:size])
    if scores.has_sets and h > 0:
        return _search(single_root, arcs, scores, star, u)
    cap = 2 if h == 0 else max(0, scores.last[h])  # all counts of `cap` or more have the same score
    left, right = _side(arcs, scores, star, 0, u, cap), _side(arcs, scores, star, 1, u, cap)
    best = np.int64(NO)
    for i in range(cap + 1):
        for j in range(cap + 1):
            number_score = count_score(single_root, scores, h, i + j)
            if left[i] != NO and right[j] != NO and number_score != NO:
                best = max(best, left[i] + right[j] + number_score)
    return best


@kernel
def count_score(single_root, scores, h, count):
    """Return the score that depends on the number of modifiers alone; NO (-inf) if the number is impossible."""
    if h == 0:
        return np.int64(0) if count == 1 or (count > 1 and not single_root) else np.int64(NO)
    if scores.last[h] < 0:
        return np.int64(0)
    return scores.valency[h, min(count, scores.last[h])]


@kernel
def comb_score(scores, a, run):
    """Return the sum of the scores of the combs whose farthest arc is a; NO (-inf) if one of them is forbidden.

    run  number of chosen modifiers that are neighbouring words and end with a; a comb has at most this many arcs
    """
    score_sum = np.int64(0)
    if scores.has_combs:
        for length in range(1, run + 1):
            if scores.comb[a, length] == NO:
                return np.int64(NO)
            score_sum += scores.comb[a, length]
    return score_sum


@kernel
def _side(arcs, scores, star, side, u, cap):
    """Return int64[cap + 1]: the best score of one side of a star for each number of modifiers on this side.

    side  0 for left, 1 for right
    u     multipliers, which are subtracted from the scores of the modifiers
    cap   index of the best score for `cap` or more modifiers
    """
    h, x = star.h, star.x
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    begin, end = (0, star.turn) if side == 0 else (star.turn, len(star.below))
    lengths = LONGEST_COMB if scores.has_combs else 1
    # indices: last modifier (0 for none), length of the run of neighbours that it ends, number of modifiers so far
    value = np.full((end - begin + 1, lengths + 1, cap + 1), NO, np.int64)
    value[0, 0, 0] = 0
    oldest = 0  # earlier states leave out a modifier that every tree has
    for i in range(1, end - begin + 1):
        a = star.below[begin + i - 1]
        for j in range(oldest, i):
            last = star.below[begin + j - 1] if j > 0 else -1
            gain = modifier_score(arcs, scores, deg, h, x, arcs.rank_out[last] if j > 0 else -1, a)
            if gain == NO:
                continue
            neighbours = j > 0 and abs(arcs.mod[last] - arcs.mod[a]) == 1
            for run in range(lengths + 1):
                longer = min(run + 1, lengths) if neighbours else 1
                combs = comb_score(scores, a, longer)
                if combs == NO:
                    continue
                for count in range(cap + 1):
                    if value[j, run, count] != NO:
                        larger = min(count + 1, cap)
                        new = value[j, run, count] + gain - u[a] + combs
                        value[i, longer, larger] = max(value[i, longer, larger], new)
        if star.must[begin + i - 1]:
            oldest = i
    best = np.full(cap + 1, NO, np.int64)
    for j in range(oldest, end - begin + 1):
        last = arcs.rank_out[star.below[begin + j - 1]] if j > 0 else -1
        closing = end_score(arcs, scores, deg, h, x, side, last)
        for run in range(lengths + 1):
            for count in range(cap + 1):
                if closing != NO and value[j, run, count] != NO:
                    best[count] = max(best[count], value[j, run, count] + closing)
    return best


@kernel
def _first_gains(arcs, scores, star, u, pair):
    """Return, for each arc of `star.below`, twice the largest gain of its modifier as int64.

    Half of each positive score of a pair with another modifier is included; `pair` is the result of `_pairs`. The gain
    is NO (-inf), which is below BARRED, if the modifier cannot be chosen.
    """
    h, x, size = star.h, star.x, len(star.below)
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    out = np.empty(size, np.int64)
    for i in range(size):
        a = star.below[i]
        best = modifier_score(arcs, scores, deg, h, x, -1, a)
        for j in range(0 if i < star.turn else star.turn, i):
            best = max(best, modifier_score(arcs, scores, deg, h, x, arcs.rank_out[star.below[j]], a))
        if best == NO:
            out[i] = NO
            continue
        best -= u[a]
        if scores.has_combs:
            for length in range(LONGEST_COMB + 1):
                best += max(0, scores.comb[a, length])
        for t in range(scores.triple_first[a], scores.triple_first[a + 1]):
            best += max(0, scores.triple[t])
        out[i] = 2 * best
        for j in range(size):
            out[i] += max(0, pair[i, j])
    return out


@kernel
def _added(arcs, scores, star, u, pair, i, before, taken):
    """Return (score that modifier i adds to the chosen modifiers, length of the run that it ends).

    The score is NO (-inf) if modifier i cannot be added.

    A run is a sequence of chosen modifiers that are neighbouring words.

    pair    result of `_pairs`
    before  (arc of the last chosen modifier or -1, length of the run that it ends)
    taken   bool for each arc out of the head, by rank: whether its modifier is chosen
    """
    last, run = before
    h = star.h
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    a = star.below[i]
    value = modifier_score(arcs, scores, deg, h, star.x, arcs.rank_out[last] if last >= 0 else -1, a)
    longer = 1
    if last >= 0 and abs(arcs.mod[last] - arcs.mod[a]) == 1:
        longer = min(run + 1, LONGEST_COMB)
    combs = comb_score(scores, a, longer)
    if value == NO or combs == NO:
        return np.int64(NO), longer
    value += combs - u[a]
    for j in range(i):
        if taken[arcs.rank_out[star.below[j]]]:
            if pair[i, j] == NO:
                return np.int64(NO), longer
            value += pair[i, j]
    for t in range(scores.triple_first[a], scores.triple_first[a + 1]):
        if taken[scores.triple_arcs[t, 0]] and taken[scores.triple_arcs[t, 1]]:
            if scores.triple[t] == NO:
                return np.int64(NO), longer
            value += scores.triple[t]
    return value, longer


@kernel
def _pairs(arcs, scores, star):
    """Return int64[size, size]: the sibling score of every two of the `size` arcs of `star.below`."""
    size = len(star.below)
    pair = np.zeros((size, size), np.int64)
    if len(scores.pair) > 0:
        deg = arcs.out_first[star.h + 1] - arcs.out_first[star.h]
        for i in range(size):
            row = scores.pair_at[star.h] + arcs.rank_out[star.below[i]] * deg
            for j in range(size):
                if i != j:
                    pair[i, j] = scores.pair[row + arcs.rank_out[star.below[j]]]
    return pair


@kernel
def _search(single_root, arcs, scores, star, u):
    """Return the score of the best star of a head, for problems in which pairs or triples of modifiers have scores.

    The search is depth-first and exact. Its bound is every modifier's own gain plus half its positive pairs. It is
    exponential in the number of modifiers in the worst case.
    """
    h, x, size = star.h, star.x, len(star.below)
    deg = arcs.out_first[h + 1] - arcs.out_first[h]
    pair = _pairs(arcs, scores, star)
    gain = np.empty((size + 1, size), np.int64)
    gain[0] = _first_gains(arcs, scores, star, u, pair)
    most_ends = np.int64(0)
    for side in range(2):
        begin, end = (0, star.turn) if side == 0 else (star.turn, size)
        for j in range(begin - 1, end):
            last = arcs.rank_out[star.below[j]] if j >= begin else -1
            most_ends = max(most_ends, 2 * end_score(arcs, scores, deg, h, x, side, last))
    most_count = np.full(size + 2, NO, np.int64)
    for count in range(size, -1, -1):
        most_count[count] = max(most_count[count + 1], count_score(single_root, scores, h, count))
    # by depth: score so far, last modifier of the side, its run, number of chosen modifiers, branches done
    value, last, run = np.zeros(size + 2, np.int64), np.full(size + 2, -1, np.int64), np.zeros(size + 2, np.int64)
    number, done = np.zeros(size + 2, np.int64), np.zeros(size + 2, np.int64)
    taken = np.zeros(deg, np.bool_)
    best = np.int64(NO)
    i = 0
    while i >= 0:
        if done[i] == 0:
            if i == star.turn:  # the left side is complete
                closing = end_score(arcs, scores, deg, h, x, 0, arcs.rank_out[last[i]] if last[i] >= 0 else -1)
                value[i] = value[i] + closing if closing != NO else NO
                last[i], run[i] = -1, 0
            if i == size and value[i] != NO:
                closing = end_score(arcs, scores, deg, h, x, 1, arcs.rank_out[last[i]] if last[i] >= 0 else -1)
                number_score = count_score(single_root, scores, h, number[i])
                if closing != NO and number_score != NO:
                    best = max(best, value[i] + closing + number_score)
            open_gain, open_ = np.int64(0), i < size and value[i] != NO and most_count[number[i]] != NO
            for j in range(i, size):
                if star.must[j] and gain[i, j] < BARRED:
                    open_ = False
                open_gain += gain[i, j] if star.must[j] else max(0, gain[i, j])
            if not open_ or (best != NO and 2 * (value[i] + most_count[number[i]] + most_ends) + open_gain <= 2 * best):
                i -= 1
                continue
        if done[i] == 2:
            taken[arcs.rank_out[star.below[i]]] = False
            done[i] = 0
            i -= 1
            continue
        place = arcs.rank_out[star.below[i]]
        first = gain[i, i] > 0 or star.must[i]
        take = first == (done[i] == 0)
        done[i] += 1
        taken[place] = False
        value[i + 1], last[i + 1], run[i + 1], number[i + 1] = value[i], last[i], run[i], number[i]
        if take:
            added, longer = _added(arcs, scores, star, u, pair, i, (last[i], run[i]), taken)
            if added == NO:
                continue
            value[i + 1], last[i + 1], run[i + 1], number[i + 1] = (
                value[i] + added,
                star.below[i],
                longer,
                number[i] + 1,
            )
            taken[place] = True
        elif star.must[i]:
            continue
        for j in range(i + 1, size):
            if gain[i, j] < BARRED or (take and pair[i, j] == NO):
                gain[i + 1, j] = NO
            else:
                gain[i + 1, j] = gain[i, j] - max(0, pair[i, j]) + (2 * pair[i, j] if take else 0)
        i += 1
        done[i] = 0
    return best
