"""Compute the score of every tree of a problem, and the best trees, by brute force.

A tree is turned into the list of parts that it contains, once for each number of words. A problem is turned into dense
tables indexed by words, independent of the order of its parts. A score is then a sum of table look-ups. For the larger
product families, each part is tested in turn: a tree has a part if it has all arcs of the part.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from oracles.trees import trees
from treebound.core.problem import NONE, NONE_OUTER, Problem

LARGE_PRODUCTS = frozenset({"head-bigram", "great-grandchild", "tri-sibling", "comb", "pattern"})


@cache
def _parts(n: int, space: str, single_root: bool) -> dict[str, np.ndarray]:
    """Return, for each family, intp[T, K]: the K entries of the family's dense table that each tree adds up.

    Tables have shape [n + 2] ** 3 (arc: ** 2, grand-sibling: ** 4) and are indexed (h, m, third) or (g, h, m, s). The
    third word is 0 for NONE and n + 1 for NONE_OUTER. The table of valency is indexed (word, count). Entry 0 = (0, 0,
    0) means "no part" and must be 0.
    """
    heads = trees(n, space, single_root)
    size, words = n + 2, range(1, n + 1)

    def entry(h: np.ndarray, m: np.ndarray | int, third: np.ndarray | int) -> np.ndarray:
        return (h * size + m) * size + third

    arc, adjacent, outermost, grandchild, sibling, grand_sibling, valency = [], [], [], [], [], [], []
    for m in words:
        h = heads[:, m].astype(np.intp)
        arc.append(h * size + m)
        nearest = np.zeros(len(heads), np.intp)  # nearest to m of the other modifiers of h between h and m
        inner = np.zeros(len(heads), np.intp)  # farthest modifier of m on the side of h
        outer = np.full(len(heads), n + 1, np.intp)  # farthest modifier of m on the side away from h
        for s in words:
            between = (np.minimum(h, m) < s) & (s < np.maximum(h, m))
            same = (heads[:, s] == h) & between
            nearest = np.where(same & ((nearest == 0) | (abs(s - m) < abs(nearest - m))), s, nearest)
            below = heads[:, s] == m
            towards = below & ((s > m) == (h > m)) & (s != m)
            inner = np.where(towards & ((inner == 0) | (abs(s - m) > abs(inner - m))), s, inner)
            away = below & ((s > m) == (m > h)) & (s != m)
            outer = np.where(away & ((outer == n + 1) | (abs(s - m) > abs(outer - m))), s, outer)
            grandchild.append(np.where(below, entry(h, m, s), 0))
            if s > m:
                sibling.append(np.where((heads[:, s] == h) & (h > 0), entry(h, m, s), 0))
        adjacent.append(entry(h, m, nearest))
        outermost += [entry(h, m, inner), entry(h, m, outer)]
        g = np.take_along_axis(heads, h[:, None], axis=1)[:, 0].astype(np.intp)
        grand_sibling.append(np.where(h > 0, entry(g, h, m) * size + nearest, 0))
        valency.append(m * size + (heads == m).sum(axis=1))
    columns = {
        "arc": arc,
        "adjacent-sibling": adjacent,
        "outermost-grandchild": outermost,
        "grandchild": grandchild,
        "grand-sibling": grand_sibling,
        "valency": valency,
        "sibling": sibling or [np.zeros(len(heads), np.intp)],
    }
    return {family: np.stack(entries, axis=1) for family, entries in columns.items()}


def _table(problem: Problem, family: str) -> np.ndarray:
    """Return the scores of one family as a flat dense table; arcs outside the problem are forbidden."""
    size, head, mod = problem.n + 2, problem.head, problem.mod
    if family == "arc":
        table = np.full((size, size), -np.inf)
        table[head, mod] = problem.arc
        return table.ravel()
    part = problem.parts[family]
    first, second = part.arcs[:, 0], part.arcs[:, 1]
    if family == "valency":
        table = np.zeros((size, size))
        for word, count, score in zip(first, second, part.score, strict=True):
            table[word, count:] = score  # the last part of a word also covers all larger counts
        return table.ravel()
    if family == "grand-sibling":
        table = np.zeros((size, size, size, size))
        third = part.arcs[:, 2]
        s = np.where(second == NONE, 0, mod[second])
        table[head[first], mod[first], mod[third], s] = part.score
        return table.ravel()
    table = np.zeros((size, size, size))
    if family == "adjacent-sibling":
        table[head[second], mod[second], np.where(first == NONE, 0, mod[first])] = part.score
    elif family == "outermost-grandchild":
        third = np.where(second == NONE, 0, np.where(second == NONE_OUTER, problem.n + 1, mod[np.maximum(second, 0)]))
        table[head[first], mod[first], third] = part.score
    elif family == "grandchild":
        table[head[first], mod[first], mod[second]] = part.score
    elif family == "sibling":
        i, j = np.minimum(mod[first], mod[second]), np.maximum(mod[first], mod[second])
        table[head[first], i, j] = part.score
    else:
        raise ValueError(f"no oracle for the family {family!r}")
    return table.ravel()


def scores(problem: Problem, space: str = "projective") -> np.ndarray:
    """Return float64[T]: the score of each tree of `oracles.trees.trees`, -inf for a forbidden tree."""
    heads = trees(problem.n, space, problem.single_root)
    total = np.zeros(len(heads))
    for family in problem.families & LARGE_PRODUCTS:
        table = problem.parts[family]
        selected = np.hstack([heads[:, problem.mod] == problem.head, np.ones((len(heads), 1), bool)])  # last: NONE
        fires = np.ones((len(heads), len(table)), bool)
        for column in table.arcs.T:
            fires &= selected[:, column]
        total += np.where(fires, table.score, 0.0).sum(axis=1)
    for family, entries in _parts(problem.n, space, problem.single_root).items():
        if family in problem.families:
            total += _table(problem, family)[entries].sum(axis=1)
    return total


def best(problem: Problem, space: str = "projective") -> tuple[float, np.ndarray]:
    """Return (value, trees): the best score and all trees with that score, int32[B, n + 1].

    Real scores are compared with a tolerance of 1e-9. The result is (-inf, no trees) if the problem is infeasible.
    """
    total = scores(problem, space)
    value = float(total.max())
    if value == -np.inf:
        return value, np.empty((0, problem.n + 1), np.int32)
    slack = 0.0 if problem.unit else 1e-9 * max(1.0, abs(value))
    return value, trees(problem.n, space, problem.single_root)[total >= value - slack]
