"""The chart of scores of arcs alone, whose size is known before it is made."""

from __future__ import annotations

import numpy as np

from treebound.core.limits import check_count, check_memory
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.chart.backbones import eisner_graph
from treebound.kernels.chart.hypergraph import Hypergraph

#: bytes of an edge, with the numbers that a decoder keeps for it
EDGE = 40


def arc_edges(n: int, head: np.ndarray, mod: np.ndarray) -> int:
    """The number that `eisner_graph` compares with its limit: an upper bound of its edges. O(arcs)."""
    reach = np.where(mod > head, n + 1 - mod, mod).sum(dtype=np.int64)
    return n + 1 + int(abs(mod - head).sum(dtype=np.int64) + reach)


def arc_graph(index: ArcIndex, single_root: bool) -> Hypergraph:
    """The chart of Eisner (1996) over candidate arcs. Raises TooLargeError, before it is made, above a limit."""
    n, A = len(index.right) - 1, len(index.head)
    edges = arc_edges(n, index.head, index.mod)
    what = f"a chart of {n:,} words with {A:,} arcs"
    check_count(what, edges)
    check_memory(what, EDGE * edges, "allow fewer arcs, or choose branch-and-bound or beam")
    return eisner_graph(index, n, single_root, edges)
