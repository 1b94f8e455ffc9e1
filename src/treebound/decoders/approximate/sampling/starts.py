"""Trees drawn from the scores of arcs alone: where samplers and climbers begin.

Where arcs must not cross, draws are exact: probabilities are inside sums of the chart of Eisner (1996), taken from the
goal down. Where they may, the best arborescence under scores with Gumbel noise stands for a draw (Papandreou & Yuille
2011): the walk of Wilson (1996) would have to draw the only root first, and then walks in circles for long.
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
    """What trees are drawn by.

    share    float64[E] of the edges of an item the running sums of their probabilities
    log      float64[A] logarithm of the weight of each arc, NEG where it is forbidden
    into     int32[n] OUT the arcs of the tree drawn last
    stack    int32[2 n + 8] scratch
    """

    arcs: ArcIndex
    share: np.ndarray
    log: np.ndarray
    one_root: bool
    into: np.ndarray
    stack: np.ndarray
    trees: ArborescenceScratch


def starts_of(index: ArcIndex, log: np.ndarray, one_root: bool, projective: bool) -> tuple[Hypergraph, Starts] | None:
    """Return what draws trees with probability ~ exp(sum of log), or None if the arcs make up no tree.

    The graph is NO_GRAPH if arcs may cross. Raises TooLargeError for a chart above the limit. O(edges of the chart).

    log  float64[A], at most NEG_TEST for what is forbidden
    """
    n = len(index.right) - 1
    graph = arc_graph(index, one_root) if projective else NO_GRAPH
    share = np.empty(len(graph.left))
    into, stack = np.empty(n, np.int32), np.empty(2 * n + 8, np.int32)
    scratch = arborescence_scratch(n, 0 if projective else len(log))
    made = Starts(index, share, log, one_root, into, stack, scratch)
    if not projective:
        value = arborescence(index, log, n, one_root, into, log[:0], scratch)
    else:
        value = inside_shares(graph, np.append(log, 0.0), share) if graph.first[-1] > graph.first[-2] else -np.inf
    return (graph, made) if value > NEG_TEST else None


@kernel
def inside_shares(graph, log, share):
    """Logarithm of the sum over all derivations; of every edge the running share of its item into float64[E] share.

    log float64[A + 1] of the variables, 0 of none. O(edges).
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
    """Draw a tree: the arc into every word into `starts.into`. O(n edges of an item), or an arborescence."""
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
