"""Masks: finite scores that are meant to forbid, as -1e9, -1e32 or the smallest float do in neural parsers.

A mask that is counted as a score leaves no digits of a float64 to the scores that matter, so that nothing could be
proved. The rule below recognizes it, and it is then -inf. A tree with a mask scores less than every tree without one,
so the best trees, their score and the proof are those of the scores as they are given.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import LARGEST_SUM, Problem
from treebound.core.spaces import Space
from treebound.kernels.chart.first_order import FOUND, best_tree
from treebound.support.jit import kernel

#: a mask is below this number; scores above it are exact enough for `optimal` (`treebound.decoders.base.TOLERANCE`)
HIGHEST = -(2.0**20)
#: a mask is lower than minus this many times the largest absolute score that a tree without masks can have
TIMES = 1000.0


def highest_mask(problem: Problem, space: Space) -> float:
    """Return the highest mask among the scores of arcs and parts. All scores down from it are masks. -inf: none.

    A score v is a mask if, with T the largest absolute score that a tree of scores above v can have (for each word the
    largest absolute score of an arc into it, and of the parts that are counted at such an arc, summed over words),

        v < -1000 T,   v < -2**20,   and there is a tree of arcs that all score more than v.

    Then a tree with a mask scores at most v + T, a tree without masks at least -T. Integer scores are exact whatever
    their size: they have masks only where their sum reaches `LARGEST_SUM`. O(scores log scores), and O(n^3) for each
    step by a factor of 1000; O(scores) where no score is low enough. Oracle: tests/test_masks.py enumerates all trees.
    """
    tables = problem.parts.values()
    scores = [problem.arc, *(table.score for table in tables)]
    low = any(np.any((score < HIGHEST) & (score > -np.inf)) for score in scores)
    if not low or (problem.unit and problem.total < LARGEST_SUM):
        return -np.inf
    value, group, word = [problem.arc], [np.arange(problem.arcs)], [problem.mod]
    groups = problem.arcs
    for table in tables:
        value.append(table.score)
        if table.family == "valency":  # a word has one of its numbers of modifiers
            group.append(groups + np.arange(len(table)))
            word.append(table.arcs[:, 0])
            groups += len(table)
        else:
            arc = table.arcs.max(axis=1, initial=0)  # any arc of the part: a tree has the part only if it has the arc
            group.append(arc)
            word.append(problem.mod[arc])
    joined = np.concatenate(value)
    order = np.argsort(-joined, kind="stable")
    order = order[joined[order] > -np.inf]
    items = order, joined, np.concatenate(group).astype(np.int64), np.concatenate(word).astype(np.int64)
    return _highest_mask(items, groups, problem.head, problem.n, space == "projective", problem.single_root)


@kernel
def _highest_mask(items, groups, head, n, projective, single_root):
    """Return the highest mask. Items are the arcs, then the parts: the arrays (order, value, group, word).

    order   int64[K]   items that are not forbidden, from the highest score down
    value   float64[K] scores
    group   int64[K]   scores of parts of one group are added: a tree may have all of them
    word    int64[K]   of the groups of a word, a tree has one
    head    int32[A]   heads of the arcs, whose modifiers are their words
    """
    order, value, group, word = items
    arcs = len(head)
    allowed = np.full((n + 1, n + 1), -np.inf)
    heads = np.empty(n + 1, np.int32)
    of_arcs, of_parts = np.zeros(n + 1), np.zeros(n + 1)  # largest absolute scores for each word
    of_group = np.zeros(groups)
    total = 0.0
    for i in order:
        v = value[i]
        if v < HIGHEST and v < -TIMES * total and best_tree(allowed, projective, single_root, heads)[0] == FOUND:
            return v
        m = word[i]
        if i < arcs:
            allowed[head[i], m] = 0.0
            total += max(0.0, abs(v) - of_arcs[m])
            of_arcs[m] = max(of_arcs[m], abs(v))
        else:
            of_group[group[i]] += abs(v)
            total += max(0.0, of_group[group[i]] - of_parts[m])
            of_parts[m] = max(of_parts[m], of_group[group[i]])
    return -np.inf
