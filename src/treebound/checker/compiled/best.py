"""The score of the best tree of scores of arcs alone, for sentences whose chart or proof would be too large.

Scores that are real numbers become integers, each rounded up: what no sum of these exceeds, no tree exceeds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from treebound.checker.chart import Number
from treebound.checker.compiled import arborescences
from treebound.checker.compiled.tables import NO, TooLarge
from treebound.core.limits import check_memory
from treebound.core.problem import Problem
from treebound.support.jit import kernel

#: bytes for each cell of a matrix of arcs: five tables of spans; bytes for each arc of three arrays that are used up
_CELL, _ARC = 40, 40


def best_score(problem: Problem, projective: bool) -> tuple[Number, Number]:
    """Two numbers between which the score of the best tree of a problem without parts lies, both -inf if there is none.

    Integer scores: both are that score. Raises TooLarge for numbers that do not fit, TooLargeError above the limit of
    memory. Projective O(n^3), else O(n arcs) at worst. Oracle: tests enumerate all trees.
    """
    n, size = problem.n, (_CELL * (problem.n + 1) ** 2 if projective else 0) + _ARC * problem.arcs
    check_memory(f"the check of {n:,} words with {problem.arcs:,} arcs", size, "raise the limit of memory")
    possible = problem.arc > -np.inf
    arc = problem.arc[possible]
    largest = max(1.0, float(np.abs(arc).max(initial=0.0)))
    # a root arc is fined more than any tree can gain by it; reduced scores of arcs stay below 4 n scores and fines
    fined = problem.single_root and not projective
    power = math.floor(61 - math.log2(4.0 * (n + 1) * largest * (2 * n + 3 if fined else 1)))
    if problem.unit:
        if power < 0:
            raise TooLarge
        power = 0
    score = np.ceil(np.ldexp(arc, power)).astype(np.int64)
    head, mod = problem.head[possible], problem.mod[possible]
    if projective:
        best = _best_projective(n, problem.single_root, head, mod, score)
    else:
        fine = math.ceil(math.ldexp(largest, power)) * 2 * (n + 1) if fined else 0
        score[head == 0] -= fine
        best = arborescences.best_score(n, head.astype(np.int64), mod.astype(np.int64), score)
        if best != NO and fined:
            best += fine
            if best < -(fine // 2):  # every tree has several roots
                best = NO
    if best == NO:
        return -math.inf, -math.inf
    highest = Fraction(int(best)) / Fraction(2) ** power
    return highest - (0 if problem.unit else n / Fraction(2) ** power), highest


@kernel
def _best_projective(n, single_root, head, mod, score):
    """The score of the best projective tree, NO where there is none: Eisner's spans (1996), head and end. O(n^3).

    whole[h, e] is h with all its modifiers up to e; open_[h, m] the same with m as the last modifier, without m's own
    modifiers beyond it. The transposed tables hold the same, so that every loop reads two rows.
    """
    arc = np.full((n + 1, n + 1), NO)
    for a in range(len(head)):
        arc[head[a], mod[a]] = score[a]
    whole, whole_to = np.full((n + 1, n + 1), NO), np.full((n + 1, n + 1), NO)
    open_ = np.full((n + 1, n + 1), NO)
    for h in range(n + 1):
        whole[h, h] = whole_to[h, h] = 0
    first = 1 if single_root else 0
    for width in range(1, n + 1):
        for low in range(first, n + 1 - width):
            high = low + width
            inner = NO
            for k in range(low, high):
                one, two = whole[low, k], whole[high, k + 1]
                if one != NO and two != NO and one + two > inner:
                    inner = one + two
            if inner != NO:
                if arc[low, high] != NO:
                    open_[low, high] = inner + arc[low, high]
                if low > 0 and arc[high, low] != NO:
                    open_[high, low] = inner + arc[high, low]
            rightmost, leftmost = NO, NO
            for k in range(low + 1, high + 1):
                one, two = open_[low, k], whole_to[high, k]
                if one != NO and two != NO and one + two > rightmost:
                    rightmost = one + two
            if low > 0:
                for k in range(low, high):
                    one, two = open_[high, k], whole_to[low, k]
                    if one != NO and two != NO and one + two > leftmost:
                        leftmost = one + two
            whole[low, high] = whole_to[high, low] = rightmost
            whole[high, low] = whole_to[low, high] = leftmost
    if not single_root:
        return whole[0, n]
    best = NO
    for m in range(1, n + 1):
        if arc[0, m] != NO and whole[m, 1] != NO and whole[m, n] != NO:
            best = max(best, arc[0, m] + whole[m, 1] + whole[m, n])
    return best
