"""What decoders without a proof of their own share: the chart that scores most families, trees scored in full."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, MAX_EDGES, BranchAndBound, smallest_backbone
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import ArcIndex, heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.arc_chart import arc_graph
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph

#: DP calls to find a tree that is allowed where none was met, or that there is none
CALLS = 10_000
HEURISTIC: Status = "heuristic"


class Chart(NamedTuple):
    """The trees of a problem, with the scores of arcs and of the `families` that the graph scores itself.

    graph   NO_GRAPH: arborescences
    weight  float64[A + 1] scores of the variables, 0 for none
    """

    arcs: ArcIndex
    graph: Hypergraph
    weight: np.ndarray
    families: frozenset[str]


def space_of(space: Space) -> Space:
    """The space, if it is one. InputError for any other."""
    if space not in ("projective", "non-projective"):
        raise InputError(f"unknown space {space!r}", hint="choose projective or non-projective")
    return space


def positive(name: str, value: float) -> None:
    """InputError for an option that must be above 0 and is not."""
    if not 0 < value < np.inf:
        raise InputError(f"{name} = {value!r}", hint="give a positive number")


def deviation(problem: Problem) -> float:
    """The standard deviation of the scores of arcs that are allowed; where all are equal, the unit of the scores."""
    allowed = problem.arc[problem.arc > NEG_TEST]
    sd = float(np.std(allowed)) if len(allowed) else 0.0
    return sd or problem.unit or 1.0


def exact_families(problem: Problem, space: Space) -> frozenset[str]:
    """The families that the smallest backbone for the problem scores."""
    return BACKBONES[smallest_backbone(problem.families, space)].families


def chart_of(problem: Problem, space: Space, scale: float = 1.0) -> Chart:
    """The smallest backbone of a canonical problem of finite scores; that of arcs alone where it would be too large.

    All scores are multiplied by `scale`. O(edges of the chart).
    """
    index = index_of(problem)
    scores = chart_scores({family: scaled(table.score, scale) for family, table in problem.parts.items()})
    weight = np.append(scaled(problem.arc, scale), 0.0)
    backbone = BACKBONES[smallest_backbone(problem.families, space)]
    graph = backbone.graph(*index, scores, MAX_EDGES)
    if len(graph.first) == 1:
        backbone = BACKBONES["eisner"]
        graph = arc_graph(index.arcs, problem.single_root)
    return Chart(index.arcs, graph, weight, backbone.families)


def scaled(score: np.ndarray, scale: float) -> np.ndarray:
    """The scores times `scale`; what is impossible stays so."""
    return score if scale == 1.0 else np.where(score > NEG_TEST, score * scale, NEG)


def scored(problem: Problem, space: Space, arcs: np.ndarray | None, work: dict[str, int], seconds: float) -> Parse:
    """A tree, int32[n] arcs, with its full score and no claim; of None, or a forbidden one, what a search finds."""
    if arcs is not None:
        heads = heads_of(index_of(problem).arcs, arcs)
        value = PartScore(problem).score(heads)
        if value > -np.inf:
            return Parse(heads, value, np.inf, HEURISTIC, work, {"decode": seconds})
    return some_tree(problem, space)


def some_tree(problem: Problem, space: Space) -> Parse:
    """A tree that is allowed, found by a search that proves things: status "infeasible" where there is none.

    Status "limit", without a tree, where that took more than `CALLS` dynamic programs.
    """
    exact = BranchAndBound(space=space, max_dp_calls=CALLS).decode(problem)
    return replace(exact, status=HEURISTIC, bound=np.inf) if exact.status in ("optimal", "gap") else exact
