"""Code for decoders that prove nothing: chart of the smallest backbone, and scores of trees under all families."""

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

#: limit of dynamic-program calls of `some_tree`, which searches for an allowed tree if a decoder has met none
CALLS = 10_000
HEURISTIC: Status = "heuristic"


class Chart(NamedTuple):
    """The trees of a problem, with the scores of arcs and of the `families` that the chart scores exactly.

    arcs      the candidate arcs
    graph     the chart; NO_GRAPH stands for arborescences
    weight    float64[A + 1], scores of the variables; the last entry is 0, for edges without a variable
    families  names of the factor families that the chart scores
    """

    arcs: ArcIndex
    graph: Hypergraph
    weight: np.ndarray
    families: frozenset[str]


def space_of(space: Space) -> Space:
    """Return the space unchanged. Raises InputError if it is not a valid space."""
    if space not in ("projective", "non-projective"):
        raise InputError(f"unknown space {space!r}", hint="choose projective or non-projective")
    return space


def positive(name: str, value: float) -> None:
    """Raise InputError if the value of an option is not positive and finite."""
    if not 0 < value < np.inf:
        raise InputError(f"{name} = {value!r}", hint="give a positive number")


def deviation(problem: Problem) -> float:
    """Return the standard deviation of the scores of allowed arcs, or the unit of the scores if all are equal."""
    allowed = problem.arc[problem.arc > NEG_TEST]
    sd = float(np.std(allowed)) if len(allowed) else 0.0
    return sd or problem.unit or 1.0


def exact_families(problem: Problem, space: Space) -> frozenset[str]:
    """Return the families that the smallest backbone for the problem scores exactly."""
    return BACKBONES[smallest_backbone(problem.families, space)].families


def chart_of(problem: Problem, space: Space, scale: float = 1.0) -> Chart:
    """Return the chart of the smallest backbone of a canonical problem with finite scores.

    If that chart would be too large, the chart of arcs alone is returned. All scores are multiplied by `scale`. O(edges
    of the chart).
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
    """Return the scores times `scale`; forbidden entries stay forbidden."""
    return score if scale == 1.0 else np.where(score > NEG_TEST, score * scale, NEG)


def scored(problem: Problem, space: Space, arcs: np.ndarray | None, work: dict[str, int], seconds: float) -> Parse:
    """Return the parse of the tree with the arcs int32[n], without a proof; its value is the score under all families.

    If `arcs` is None or the tree is forbidden, return an allowed tree that a search finds (`some_tree`).
    """
    if arcs is not None:
        heads = heads_of(index_of(problem).arcs, arcs)
        value = PartScore(problem).score(heads)
        if value > -np.inf:
            return Parse(heads, value, np.inf, HEURISTIC, work, {"decode": seconds})
    return some_tree(problem, space)


def some_tree(problem: Problem, space: Space) -> Parse:
    """Return an allowed tree that an exact search finds, with status "infeasible" if there is no tree.

    The status is "limit", without a tree, if the search needs more than `CALLS` dynamic-program calls.
    """
    exact = BranchAndBound(space=space, max_dp_calls=CALLS).decode(problem)
    return replace(exact, status=HEURISTIC, bound=np.inf) if exact.status in ("optimal", "gap") else exact
