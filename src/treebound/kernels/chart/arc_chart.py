"""The chart of a first-order problem, whose size is checked before it is built."""

from __future__ import annotations

import numpy as np

from treebound.core.limits import check_count, check_memory
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.chart.backbones import eisner_graph
from treebound.kernels.chart.hypergraph import Hypergraph

#: bytes of an edge, including the values that a decoder stores for it
EDGE = 40


def arc_edges(n: int, head: np.ndarray, mod: np.ndarray) -> int:
    """Return an upper bound of the number of edges of `eisner_graph`. O(arcs).

    `eisner_graph` compares this bound with its argument `limit`.
    """
    reach = np.where(mod > head, n + 1 - mod, mod).sum(dtype=np.int64)
    return n + 1 + int(abs(mod - head).sum(dtype=np.int64) + reach)


def arc_graph(index: ArcIndex, single_root: bool) -> Hypergraph:
    """Return the chart of Eisner (1996) over candidate arcs. Raises TooLargeError before a chart above the limits is
    built.
    """
    n, A = len(index.right) - 1, len(index.head)
    edges = arc_edges(n, index.head, index.mod)
    subject = f"a chart of {n:,} words with {A:,} arcs"
    check_count(subject, edges)
    check_memory(subject, EDGE * edges, "allow fewer arcs, or choose branch-and-bound or beam")
    return eisner_graph(index, n, single_root, edges)
