"""The third-order dynamic programs of Koo & Collins (2010) as published: dense tables, one pass, no search."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.chart.model1 import model0, model1


class GrandparentSpans(CheckedDecoder):
    """A decoder of projective trees by a chart in which every span records the head of its head.

    O(n^4) time, O(n^3) space.

    model  0 scores arcs and all grandchildren; 1 also adjacent siblings, grand-siblings and outermost grandchildren
    """

    space: Space = "projective"
    exact = True

    def __init__(self, model: Literal[0, 1]):
        self.model = model
        self.name = f"koo-model{model}"
        self.cite = f"Koo & Collins (2010), section 4.{model + 1}"
        second = {"adjacent-sibling", "outermost-grandchild", "grand-sibling"} if model else set()
        self.supports = frozenset({"arc", "grandchild"} | second)

    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of a canonical problem."""
        started = time.perf_counter()
        index, parts = index_of(problem)
        finite = without_infinities(problem, problem.families)[0]
        sizes = {
            "grandchild": parts.grandchild,
            "adjacent-sibling": parts.adjacent,
            "grand-sibling": parts.grand_sibling,
        }
        scores_of_family = {family: table.score for family, table in finite.parts.items()}
        scores = chart_scores({f: np.zeros(first[-1]) for f, first in sizes.items()} | scores_of_family)
        if self.model == 0:
            value, arcs = model0(index, parts, finite.arc, scores.grandchild)
        else:
            value, arcs = model1(index, parts, finite.arc, scores)
        feasible = value > NEG_TEST
        value = float(value) if feasible else -np.inf
        work = {"dp_calls": 1, "nodes": 1, "root_solved": 1}
        seconds = {"decode": time.perf_counter() - started}
        return Parse(heads_of(index, arcs), value, value, "optimal" if feasible else "infeasible", work, seconds)


def koo_model0() -> GrandparentSpans:
    """Return the decoder of model 0: arcs and all grandchildren."""
    return GrandparentSpans(0)


def koo_model1() -> GrandparentSpans:
    """Return the decoder of model 1: model 0 plus adjacent siblings, grand-siblings and outermost grandchildren."""
    return GrandparentSpans(1)
