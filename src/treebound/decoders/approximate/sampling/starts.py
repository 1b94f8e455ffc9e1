"""Draw trees from the scores of arcs alone, as starting points of samplers and climbers.

For projective trees, draws are exact: the probabilities are inside sums of the chart of Eisner (1996), sampled from the
goal down. For non-projective trees, the best arborescence under scores with Gumbel noise approximates a draw
(Papandreou & Yuille 2011). The random walk of Wilson (1996) would have to draw the single root first. It would then
need very many steps, because it would return to the same words many times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.decoders.approximate.sampling.chance import uniform
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.chart.arborescence import ArborescenceScratch, arborescence, arborescence_scratch
from treebound.kernels.chart.arc_chart import arc_graph
from treebound.kernels.chart.hypergraph import NEG_TEST, NO_GRAPH, Hypergraph
from treebound.support.jit import kernel


class Starts(NamedTuple):
    """State for drawing trees.

    - arcs: the candidate arcs.
    - share: float64[E], running sums of the probabilities of the edges, within each item of the chart.
    - log: float64[A], logarithm of the weight of each arc, NEG if it is forbidden.
    - one_root: whether trees have a single root.
    - into: int32[n], output, the arcs of the last tree that was drawn.
    - stack: int32[2 n + 8], scratch memory.
    - trees: scratch memory of the arborescence algorithm.
    """

    arcs: ArcIndex
    share: np.ndarray
    log: np.ndarray
    one_root: bool
    into: np.ndarray
    stack: np.ndarray
    trees: ArborescenceScratch


def starts_of(index: ArcIndex, log: np.ndarray, one_root: bool, projective: bool) -> tuple[Hypergraph, Starts] | None:
    """Return the state for drawing trees with probability proportional to exp(sum of log); None without a tree.

    The graph is NO_GRAPH for non-projective trees. Raises TooLargeError for a chart above the limit. O(edges of the
    chart).

    log  float64[A], at most NEG_TEST for forbidden arcs
    """
    n = len(index.right) - 1
    graph = arc_graph(index, one_root) if projective else NO_GRAPH
    share = np.empty(len(graph.left))
    into, stack = np.empty(n, np.int32), np.empty(2 * n + 8, np.int32)
    scratch = arborescence_scratch(n, 0 if projective else len(log))
    starts = Starts(index, share, log, one_root, into, stack, scratch)
    if not projective:
        value = arborescence(index, log, n, one_root, into, log[:0], scratch)
    else:
        value = inside_shares(graph, np.append(log, 0.0), share) if graph.first[-1] > graph.first[-2] else -np.inf
    return (graph, starts) if value > NEG_TEST else None


@kernel
def inside_shares(graph, log, share):
    """Return the log of the total weight of all derivations, and write the running shares of edges to float64[E] share.

    The running share of an edge sums the probabilities of the edges of its item up to this edge. log is float64[A + 1]
    for the variables; the last entry is 0, for edges without a variable. O(edges).
    """
    items = len(graph.first) - 1
    inner = np.empty(items)
    inner[0] = 0.0
    for i in range(1, items):
        top, total = NEG_TEST, 0.0
        for e in range(graph.first[i], graph.first[i + 1]):
            share[e] = log[graph.var[e]] + inner[graph.left[e]] + inner[graph.right[e]]
            top = max(top, share[e])
        for e in range(graph.first[i], graph.first[i + 1]):
            total += np.exp(share[e] - top) if share[e] > NEG_TEST else 0.0
            share[e] = total
        inner[i] = top + np.log(total) if total > 0.0 else 10.0 * NEG_TEST
        for e in range(graph.first[i], graph.first[i + 1]):
            share[e] /= max(total, 1.0)
    return inner[items - 1]


@kernel
def draw(graph, starts, rng):
    """Draw a tree and write the arc into every word to `starts.into`.

    O(n * edges of an item) for projective trees, and one arborescence for non-projective trees.
    """
    if len(graph.first) > 0:
        into, mod = starts.into, starts.arcs.mod
        starts.stack[0], top = len(graph.first) - 2, 1
        while top > 0:
            top -= 1
            i = starts.stack[top]
            if i == 0:
                continue
            e, last, u = graph.first[i], graph.first[i + 1] - 1, uniform(rng)
            while e < last and starts.share[e] <= u * starts.share[last]:
                e += 1
            if graph.var[e] < len(mod):
                into[mod[graph.var[e]] - 1] = graph.var[e]
            starts.stack[top], starts.stack[top + 1] = graph.left[e], graph.right[e]
            top += 2
    else:
        noisy = starts.log.copy()
        for a in range(len(noisy)):
            if noisy[a] > NEG_TEST:
                noisy[a] -= np.log(-np.log(max(uniform(rng), 1e-300)))
        arborescence(starts.arcs, noisy, len(starts.into), starts.one_root, starts.into, noisy[:0], starts.trees)
