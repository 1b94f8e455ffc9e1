"""The best modifiers of one head, by dynamic programs, if only single modifiers and neighbours have scores.

Modifiers are numbered like arcs: left ones near to far, then right ones near to far. Koo et al. (2010) call these
dynamic programs head automata. Oracle: tests/test_stars.py tries every set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebound.core.problem import MAX_COUNT
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.reference import by_reference
from treebound.support.jit import kernel

OUT, FREE, IN = range(3)  #: state of a candidate modifier
COUNTS = MAX_COUNT + 1


@by_reference
@dataclass
class ChainScratch:
    """Working memory of the dynamic programs along the modifiers.

    - `trans`: float64[K, K + 1]. [j, i + 1] is the score if modifier j follows modifier i; i = -1 means that j is the
      first.
    - `trans_x`: float64[K, K + 1]. The same scores plus the scores of parts with the arc x into the head.
    - `end`: float64[K, K + 2]. For each arc into the head, the score of each modifier as the last of its side, then the
      scores of an empty left side and of an empty right side.
    - `best`: float64[K, COUNTS]. The best score of a side up to a modifier, by the number of chosen modifiers.
    - `back`, `back_count`: int32[K, COUNTS]. The previous modifier, and the number of modifiers up to it.
    - `sides`: float64[2, COUNTS]. The best score of a whole side, by the number of modifiers.
    - `ends`: int32[2, COUNTS]. The last modifier of the side.
    - `chosen`: int8[K]. The result of all functions here: the modifiers of the best set.
    """

    trans: np.ndarray
    trans_x: np.ndarray
    end: np.ndarray
    best: np.ndarray
    back: np.ndarray
    back_count: np.ndarray
    sides: np.ndarray
    ends: np.ndarray
    chosen: np.ndarray


@kernel
def chain_scratch(K):
    """Return ChainScratch for heads with up to K modifiers and up to K arcs into them."""
    return ChainScratch(
        np.empty((K, K + 1), np.float64),
        np.empty((K, K + 1), np.float64),
        np.empty((K, K + 2), np.float64),
        np.empty((K, COUNTS), np.float64),
        np.empty((K, COUNTS), np.int32),
        np.empty((K, COUNTS), np.int32),
        np.empty((2, COUNTS), np.float64),
        np.empty((2, COUNTS), np.int32),
        np.empty(K, np.int8),
    )


@kernel(inline="always")
def best_choice(mods, status, gain, follow, end, scratch):
    """Return the score of the best set of modifiers (`Modifiers`), and write the set to scratch.chosen.

    The families with scores determine the dynamic program.

    - `status`: int8[k]. OUT, FREE or IN.
    - `gain`: float64[k]. The own score of each modifier.
    - `follow`: float64[k, k + 1]. The scores of neighbours, like `ChainScratch.trans`.
    - `end`: float64[k + 2]. One row of `ChainScratch.end`.

    `follow` and `end` are used only if neighbours have scores.
    """
    if not mods.chained:
        return best_free(mods.size, status, gain, mods.count_score, scratch.chosen)
    if len(mods.count_score) == 1:
        return best_chain(mods.size, mods.left, status, gain, follow, end, scratch)
    return best_counted_chain(mods.size, mods.left, status, gain, follow, end, mods.count_score, scratch)


@kernel
def best_free(k, status, gain, count_score, chosen):
    """Return the score of the best set if only modifiers and their number have scores; write `chosen`. O(k last).

    `count_score` float64[last + 1] scores the number of modifiers; its last entry is for `last` modifiers or more. If
    its length is 1, the number has no score.
    """
    last = len(count_score) - 1
    total = 0.0
    count = 0
    for j in range(k):
        chosen[j] = status[j] == IN or (last == 0 and status[j] == FREE and gain[j] > 0.0)
        if chosen[j]:
            total += gain[j]
            count += 1
    if last == 0:
        return total
    # modifiers are added best first: the best set of a size consists of the best modifiers
    top = 2.0 * NEG
    steps, best_steps = 0, 0
    while True:
        if count < last:
            if total + count_score[count] > top:
                top = total + count_score[count]
                best_steps = steps
        else:
            remaining_gain = 0.0
            for j in range(k):
                if status[j] == FREE and chosen[j] == 0 and gain[j] > 0.0:
                    remaining_gain += gain[j]
            if total + remaining_gain + count_score[last] > top:
                for j in range(k):
                    if chosen[j] > 1 or (status[j] == FREE and gain[j] > 0.0):
                        chosen[j] = 1
                return total + remaining_gain + count_score[last]
            break
        arg = -1
        for j in range(k):
            if status[j] == FREE and chosen[j] == 0 and (arg < 0 or gain[j] > gain[arg]):
                arg = j
        if arg < 0:
            break
        steps += 1
        chosen[arg] = 1 + steps  # the position in the order of addition, so that the last ones can be dropped
        total += gain[arg]
        count += 1
    for j in range(k):
        if chosen[j] > 1:
            chosen[j] = chosen[j] <= 1 + best_steps
    return top


@kernel
def best_chain(k, left_count, status, gain, trans, end, scratch):
    """Return the best score of a set of modifiers (gain + trans + end); write the set to scratch.chosen. O(k^2).

    The first `left_count` of the k modifiers are on the left of the head. `trans` is the argument `follow` of
    `best_choice`, which describes the other arguments, too.
    """
    best, back, chosen = scratch.best, scratch.back, scratch.chosen
    total = 0.0
    for side in range(2):
        low, high = (0, left_count) if side == 0 else (left_count, k)
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


@kernel
def best_counted_chain(k, left_count, status, gain, trans, end, count_score, scratch):
    """Return the score of the best set, like `best_chain`, including the score of the number of modifiers. O(k^2 last).

    `count_score` is as in `best_free`.
    """
    best, back, back_count, chosen = scratch.best, scratch.back, scratch.back_count, scratch.chosen
    sides, ends = scratch.sides, scratch.ends
    size = len(count_score)
    last = size - 1
    sides[:] = 2.0 * NEG
    ends[:] = -1
    for side in range(2):
        low, high = (0, left_count) if side == 0 else (left_count, k)
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
    count_left, count_right = 0, 0
    for c in range(size):
        if sides[0, c] <= NEG_TEST:
            continue
        for d in range(size):
            t = sides[0, c] + sides[1, d] + count_score[min(c + d, last)]
            if t > total:
                total = t
                count_left, count_right = c, d
    if total > NEG_TEST:
        for side in range(2):
            c = count_left if side == 0 else count_right
            i = ends[side, c]
            while i >= 0:
                chosen[i] = 1
                i, c = back[i, c], back_count[i, c]
    return total
