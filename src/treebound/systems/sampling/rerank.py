"""Reranking, as an alternative to sampling: rescore the k best trees of a dynamic program with all features.

Zhang et al. (2014, section 5) compare their search with reranking. Here the list of trees comes from factors of the
same model, so that only the search differs.
"""

from __future__ import annotations

import numpy as np

from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import chart_of
from treebound.decoders.approximate.rerank_kernel import k_best
from treebound.systems.sampling.sentence import Sentence


def best_of_list(sentence: Sentence, space: Space, k: int) -> tuple[float, np.ndarray, int]:
    """Rescore a list of at most k trees; return the best score, the best tree's arcs int32[n], and the list's length.

    The list contains the k best trees of the smallest backbone for the sentence's factors
    (`decoders.approximate.charted.chart_of`). O(k n) passes over the chart. Ties go to the tree that comes first.
    """
    chart = chart_of(sentence.problem, space)
    _, trees, _ = k_best(chart.graph, chart.arcs, chart.weight, sentence.problem.single_root, k)
    values = [sentence.lay(arcs) for arcs in trees]
    best = int(np.argmax(values))
    return values[best], trees[best], len(trees)
