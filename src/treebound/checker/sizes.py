"""The size of a proof, computed before the check: edges of the chart, and bytes of memory."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from treebound.checker.chart import HEAD_FAMILIES
from treebound.core.limits import check_memory
from treebound.core.problem import Problem

#: bytes of an edge (its array doubles when it is full, and is copied once), and bytes of the number of an item
_EDGE, _ITEM = 200, 8
#: bytes of an edge, an arc, a part, and each arc of a part, as Python objects with exact numbers
_OBJECT = 500
#: bytes of a part, and of each arc of a part, in look-up tables over all pairs of a head's arcs
_PART = 100


def chart_edges(problem: Problem, exact: Set[str]) -> int:
    """Return an upper bound on the number of edges of the chart that `chart.build_chart` builds. O(A log A).

    The bound is tight if all arcs are possible.
    """
    n, head, mod = problem.n, problem.head.astype(np.int64), problem.mod.astype(np.int64)
    distance = abs(mod - head)
    order = np.lexsort((distance, mod > head, head))
    side = (head * 2 + (mod > head))[order]
    first = np.searchsorted(side, side)
    size = np.bincount(side, minlength=2 * n + 2)[side]
    rank = np.arange(len(side)) - first
    between = int((distance[order] * (2 * rank - size + 1)).sum())
    contexts = np.ones(len(side), np.int64)
    if exact & HEAD_FAMILIES:
        contexts = np.maximum(1, np.bincount(mod, minlength=n + 1))[head[order]]
    reach = np.where(mod > head, n + 1 - mod, mod)[order]
    return between + int((contexts * (rank + 1 + reach)).sum()) + 2 * int(contexts.sum()) + 2 * (n + 1)


def check_size(problem: Problem, exact: Set[str], projective: bool, compiled: bool) -> None:
    """Raise TooLargeError if checking a proof would take more memory than the limit.

    exact     families that the chart scores
    compiled  whether numbers are in arrays of int64, or Python's numbers
    """
    parts = sum(table.arcs.size + len(table) for table in problem.parts.values())
    edges = chart_edges(problem, exact) if projective else 0
    if compiled:
        with_head = bool(exact & HEAD_FAMILIES)
        degree = np.bincount(problem.head, minlength=problem.n + 1).astype(np.int64)
        items = 2 * ((problem.arcs if with_head else problem.n) + 1) * (problem.n + 1) if projective else 0
        items += int((degree * degree).sum()) if projective else 0
        size = _EDGE * edges + _ITEM * items + _PART * parts + 8 * (problem.n + 1) ** 2
    else:
        size = _OBJECT * (edges + problem.arcs + parts)
    what = f"the proof about {problem.n:,} words with {problem.arcs:,} arcs"
    check_memory(what, size, "give fewer arcs, or check the tree and its score alone")
