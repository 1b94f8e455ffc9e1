"""Recognise masks: finite scores that are meant to forbid an arc, for instance -1e9, -1e32 or the smallest float.

Neural parsers write such scores. Added as a score, a mask leaves no digits of a float64 for the other scores, and
nothing could be proved. `highest_mask` recognises masks, which then count as -inf. A tree with a mask scores less
than every tree without one. The best trees, their scores and the proof are therefore valid for the original scores.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import LARGEST_SUM, Problem
from treebound.core.spaces import Space
from treebound.kernels.chart.first_order import FOUND, best_tree
from treebound.support.jit import kernel

#: a mask is below this number; scores above it are exact enough for `optimal` (`treebound.decoders.base.TOLERANCE`)
HIGHEST = -(2.0**20)
#: a mask is below minus this factor times the largest absolute score that a tree without masks can have
TIMES = 1000.0


def highest_mask(problem: Problem, space: Space) -> float:
    """Return the highest mask among the scores of arcs and parts, or -inf if there is none.

    All scores at or below the highest mask are masks. Let T be the largest absolute score of a tree whose scores are
    all above v. T is a sum over words of the largest absolute score of an arc into the word, and of the parts that are
    counted at that arc. A score v is a mask if

        v < -1000 T,   v < -2**20,   and there is a tree of arcs that all score more than v.

    Then a tree with a mask scores at most v + T, and a tree without masks scores at least -T. Integer scores are exact
    whatever their size: they have masks only if their sum reaches `LARGEST_SUM`. O(scores log scores), and O(n^3) for
    each step by a factor of 1000; O(scores) if no score is low enough. Oracle: tests/test_masks.py enumerates all
    trees.
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
        if table.family == "valency":  # a tree has exactly one valency part for each word
            group.append(groups + np.arange(len(table)))
            word.append(table.arcs[:, 0])
            groups += len(table)
        else:
            arc = table.arcs.max(axis=1, initial=0)  # any arc of the part will do: a tree with the part has the arc
            group.append(arc)
            word.append(problem.mod[arc])
    joined = np.concatenate(value)
    order = np.argsort(-joined, kind="stable")
    order = order[joined[order] > -np.inf]
    items = order, joined, np.concatenate(group).astype(np.int64), np.concatenate(word).astype(np.int64)
    return _highest_mask(items, groups, problem.head, problem.n, space == "projective", problem.single_root)


@kernel
def _highest_mask(items, groups, head, n, projective, single_root):
    """Return the highest mask. Items are the arcs, then the parts, as the arrays (order, value, group, word).

    Parameters
    ----------
    items : tuple of arrays
        order int64[*]: items that are not forbidden, from the highest score down. value float64[K]: score of each item.
        group int64[K]: group of each item; a tree may have all parts of a group, so their absolute scores are added.
        word int64[K]: word of each item; a tree has exactly one of the groups of a word.
    groups : int
        Number of groups.
    head : int32[A]
        Heads of the arcs; the modifier of an arc is its `word`.
    n, projective, single_root
        Number of words and the set of trees.
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
