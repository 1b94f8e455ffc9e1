"""Trees of the families that a dynamic program scores, looked at under all families: its best one, or its k best."""

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
    """The best under all families of the k trees that are best under those that the chart scores exactly.

    space   "projective": the smallest chart for the problem's families, as under branch and bound; "non-projective":
            arborescences of the arcs' scores
    k       trees; they come with a proof that no other tree scores more under the chart's families
    Status "heuristic"; "infeasible" where there is no tree, "limit" where none was met that is allowed.
    """

    name = "rerank"
    exact = False
    supports = frozenset(FAMILIES)
    cite = "Collins & Koo (2005)"

    def __init__(self, space: Space = "projective", k: int = 50):
        positive("k", k)
        self.space, self.k = space_of(space), int(k)

    def _decode(self, problem: Problem) -> Parse:
        """O(k n) passes over what is left of a chart without what the k best trees do not use."""
        started = time.perf_counter()
        given, least = without_infinities(problem, exact_families(problem, self.space))
        chart = chart_of(given, self.space)
        values, arcs, calls = k_best(chart.graph, chart.arcs, chart.weight, problem.single_root, self.k)
        if not len(values):
            return some_tree(problem, self.space)
        most, best = best_in_full(*buffers_of(given, np.zeros(problem.arcs)), arcs)
        work = {"dp_calls": int(calls), "trees": len(values)}
        return scored(problem, self.space, arcs[best] if most >= least else None, work, time.perf_counter() - started)


class BackboneOnly(Reranking):
    """The best tree under the families that the chart scores exactly; what the others make of it is only reported."""

    name = "backbone-only"
    cite = "Qian & Liu (2013), section 3"

    def __init__(self, space: Space = "projective"):
        super().__init__(space, 1)
