"""Find the best tree, or the k best trees, by a dynamic program over some families, and rescore under all families."""

from __future__ import annotations

import time

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import chart_of, exact_families, positive, scored, some_tree, space_of
from treebound.decoders.approximate.rerank_kernel import best_in_full, k_best
from treebound.decoders.approximate.sampling.buffers import buffers_of
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.factors import FAMILIES


class Reranking(CheckedDecoder):
    """Decoder that finds the k best trees under the families of the chart, and returns the best one under all families.

    The status is "heuristic". It is "infeasible" if there is no tree, and "limit" if no allowed tree was met.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees. "projective" uses the smallest chart for the problem's families, as branch and bound does.
        "non-projective" uses arborescences under the arcs' scores.
    k : int
        Number of trees. Under the families of the chart, no other tree scores more than these.
    """

    name = "rerank"
    exact = False
    supports = frozenset(FAMILIES)
    cite = "Collins & Koo (2005)"

    def __init__(self, space: Space = "projective", k: int = 50):
        positive("k", k)
        self.space, self.k = space_of(space), int(k)

    def _decode(self, problem: Problem) -> Parse:
        """Find and rescore the k best trees. O(k n) passes over the part of the chart that the k best trees can use."""
        started = time.perf_counter()
        finite, least = without_infinities(problem, exact_families(problem, self.space))
        chart = chart_of(finite, self.space)
        values, arcs, calls = k_best(chart.graph, chart.arcs, chart.weight, problem.single_root, self.k)
        if not len(values):
            return some_tree(problem, self.space)
        best_score, best = best_in_full(*buffers_of(finite, np.zeros(problem.arcs)), arcs)
        work = {"dp_calls": int(calls), "trees": len(values)}
        return scored(
            problem, self.space, arcs[best] if best_score >= least else None, work, time.perf_counter() - started
        )


class BackboneOnly(Reranking):
    """Decoder that returns the best tree under the chart's families; other families only affect the reported score."""

    name = "backbone-only"
    cite = "Qian & Liu (2013), section 3"

    def __init__(self, space: Space = "projective"):
        super().__init__(space, 1)
