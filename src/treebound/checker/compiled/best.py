"""The score of the best tree under scores of arcs alone, for sentences whose chart or proof would be too large.

Real scores are rounded up to integers, so the best sum of the rounded scores bounds every tree.
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

#: bytes per cell of the five tables of spans, and per arc of the arrays that `arborescences.best_score` overwrites
_CELL, _ARC = 40, 40


def best_score(problem: Problem, projective: bool) -> tuple[Number, Number]:
    """Return a lower and an upper bound on the score of the best tree of a problem without parts.

    Both are -inf if there is no tree, and both equal the best score if scores are integers. Raises TooLarge if numbers
    do not fit, and TooLargeError above the limit of memory. Costs O(n^3) for projective trees, else O(n arcs) in the
    worst case. Oracle: tests enumerate all trees.
    """
    n, size = problem.n, (_CELL * (problem.n + 1) ** 2 if projective else 0) + _ARC * problem.arcs
    check_memory(f"the check of {n:,} words with {problem.arcs:,} arcs", size, "raise the limit of memory")
    possible = problem.arc > -np.inf
    arc = problem.arc[possible]
    largest = max(1.0, float(np.abs(arc).max(initial=0.0)))
    # a root arc is penalised by more than any tree can gain by it; reduced scores stay below 4 n scores and penalties
    penalised = problem.single_root and not projective
    power = math.floor(61 - math.log2(4.0 * (n + 1) * largest * (2 * n + 3 if penalised else 1)))
    if problem.unit:
        if power < 0:
            raise TooLarge
        power = 0
    score = np.ceil(np.ldexp(arc, power)).astype(np.int64)
    head, mod = problem.head[possible], problem.mod[possible]
    if projective:
        best = _best_projective(n, problem.single_root, head, mod, score)
    else:
        penalty = math.ceil(math.ldexp(largest, power)) * 2 * (n + 1) if penalised else 0
        score[head == 0] -= penalty
        best = arborescences.best_score(n, head.astype(np.int64), mod.astype(np.int64), score)
        if best != NO and penalised:
            best += penalty
            if best < -(penalty // 2):  # every tree has several roots
                best = NO
    if best == NO:
        return -math.inf, -math.inf
    highest = Fraction(int(best)) / Fraction(2) ** power
    return highest - (0 if problem.unit else n / Fraction(2) ** power), highest


@kernel
def _best_projective(n, single_root, head, mod, score):
    """Return the score of the best projective tree, NO (-inf) if there is none: Eisner's algorithm (1996). O(n^3).

    whole[h, e] spans h with all its modifiers up to e. open_[h, m] spans h with m as the last modifier, without m's own
    modifiers beyond m. `whole_to` is the transpose of `whole`, so that every loop reads along rows of two tables.
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
                part_a, part_b = whole[low, k], whole[high, k + 1]
                if part_a != NO and part_b != NO and part_a + part_b > inner:
                    inner = part_a + part_b
            if inner != NO:
                if arc[low, high] != NO:
                    open_[low, high] = inner + arc[low, high]
                if low > 0 and arc[high, low] != NO:
                    open_[high, low] = inner + arc[high, low]
            rightmost, leftmost = NO, NO
            for k in range(low + 1, high + 1):
                part_a, part_b = open_[low, k], whole_to[high, k]
                if part_a != NO and part_b != NO and part_a + part_b > rightmost:
                    rightmost = part_a + part_b
            if low > 0:
                for k in range(low, high):
                    part_a, part_b = open_[high, k], whole_to[low, k]
                    if part_a != NO and part_b != NO and part_a + part_b > leftmost:
                        leftmost = part_a + part_b
            whole[low, high] = whole_to[high, low] = rightmost
            whole[high, low] = whole_to[low, high] = leftmost
    if not single_root:
        return whole[0, n]
    best = NO
    for m in range(1, n + 1):
        if arc[0, m] != NO and whole[m, 1] != NO and whole[m, n] != NO:
            best = max(best, arc[0, m] + whole[m, 1] + whole[m, n])
    return best
