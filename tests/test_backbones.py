"""Test backbone hypergraphs alone; their scores are checked through the decoders, against enumeration."""

from __future__ import annotations

import dataclasses

import numpy as np
from oracles.score import best
from strategies import draw, random_problem

from treebound.core.problem import PartTable, Problem
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.arcs.parts import ADJACENT_SIBLING, index_parts, parts_of_tree
from treebound.kernels.chart.backbones import ChartScores, carreras_graph
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, best_arcs, inside

NOTHING = np.zeros(0)


def test_weights_of_adjacent_sibling_parts() -> None:
    """Check that a weight added to the edges of an adjacent-sibling part acts as a score of this part."""
    several = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, ["adjacent-sibling", "outermost-grandchild"], integer=True)
        scored = problem.parts["adjacent-sibling"]
        extra = draw(rng, len(scored), "dense", integer=True)
        allowed = np.zeros((problem.n + 1, problem.n + 1), bool)
        allowed[problem.head, problem.mod] = True
        index = index_arcs(problem.n, allowed)
        parts = index_parts(index, problem.single_root)
        adjacent = finite(scored.score) if seed % 2 else NOTHING
        outermost = finite(problem.parts["outermost-grandchild"].score)
        grand_siblings = np.zeros(1)  # scored outside the chart
        graph = carreras_graph(index, parts, ChartScores(adjacent, outermost, NOTHING, grand_siblings), 10**9)
        weight = np.concatenate([finite(problem.arc), [0.0], extra])
        value, edges = np.empty(len(graph.first)), np.empty(len(graph.first), np.int32)
        top = inside(graph, weight, value, edges)
        expected, trees = best(with_adjacent(problem, extra + (scored.score if seed % 2 else 0.0)))
        if expected == -np.inf:
            assert top <= NEG_TEST
            continue
        assert top == expected
        arcs = np.empty(problem.n, np.int32)
        best_arcs(graph, problem.arcs, edges, arcs, np.empty(2 * problem.n + 8, np.int32))
        heads = np.full(problem.n + 1, -1)
        heads[index.mod[arcs]] = index.head[arcs]
        assert any((heads == tree).all() for tree in trees)
        into = np.empty(problem.n, np.int32)
        into[index.mod[arcs] - 1] = arcs
        several += len(parts_of_tree(ADJACENT_SIBLING, index, parts, into)) > 2
    assert several > 100  # enough random trees have several such parts


def with_adjacent(problem: Problem, score: np.ndarray) -> Problem:
    table = PartTable("adjacent-sibling", problem.parts["adjacent-sibling"].arcs, score)
    return dataclasses.replace(problem, parts=problem.parts | {"adjacent-sibling": table})


def finite(score: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(score), NEG, score)
