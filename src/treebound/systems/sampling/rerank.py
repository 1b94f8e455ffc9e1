"""Reranking beside sampling: the best in full of the k trees that are best under what a dynamic program scores.

What the paper compares its search with (Zhang et al. 2014, section 5), but under one model: the list is that of its own
factors, so that nothing differs but the search.
"""

from __future__ import annotations

import numpy as np

from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import chart_of
from treebound.decoders.approximate.rerank_kernel import k_best
from treebound.systems.sampling.sentence import Sentence


def best_of_list(made: Sentence, space: Space, k: int) -> tuple[float, np.ndarray, int]:
    """The best score of k trees, the arcs int32[n] of that tree, and how many trees there are.

    The list is that of the smallest backbone for the sentence's factors (`decoders.approximate.charted.chart_of`).
    O(k n) passes over its chart; ties go to the tree that comes first.
    """
    chart = chart_of(made.problem, space)
    _, trees, _ = k_best(chart.graph, chart.arcs, chart.weight, made.problem.single_root, k)
    values = [made.lay(arcs) for arcs in trees]
    best = int(np.argmax(values))
    return values[best], trees[best], len(trees)
