"""The sibling bound by adjacent pairs is valid for every tree and tight where no share can move.

Folding keeps the bound valid. A search with this bound finds the best tree of every enumerated problem.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracles.score import best
from oracles.trees import trees
from strategies import random_problem, tries

from treebound.core.problem import Problem
from treebound.decoders.canonical import canonical
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, MAX_EDGES, BranchAndBound, _state
from treebound.decoders.exact.branch_and_bound.state import Task, find_certain
from treebound.kernels.chart.best_tree import mark_tree, oracle_scratch, tree_variables
from treebound.kernels.chart.hypergraph import inside
from treebound.kernels.sibling_spans import (
    Spans,
    apply_spans,
    clear_neighbours,
    fold_spans,
    move_spans,
    neighbours_of,
    set_neighbours,
    visit_spans,
)

BACKBONE = BACKBONES["grandparent-sibling"]
FAMILIES = ("adjacent-sibling", "grandchild", "sibling", "comb")


def random_task(rng: np.random.Generator, families: tuple[str, ...]) -> tuple[Problem, Task]:
    """Return a random problem with siblings and the task of its search, whose spans may be changed."""
    problem = canonical(random_problem(rng, families, min_n=3, max_n=5, feasible=True), "projective").problem
    result = _state(problem, BACKBONE, (), MAX_EDGES, adjacent=True)
    assert result is not None
    return problem, result.task._replace(spans=Spans(*(x.copy() for x in result.task.spans)))


def variables(problem: Problem, task: Task, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (numbers, z): the numbers of the variables that a tree selects, and int8[V] with 1 at these variables.

    No variable is selected if an arc of the tree is not a candidate.
    """
    z = np.zeros(len(task.theta), np.int8)
    arcs = [np.flatnonzero((problem.mod == m) & (problem.head == heads[m])) for m in range(1, problem.n + 1)]
    if any(len(a) == 0 for a in arcs):
        return np.zeros(0, np.int32), z
    chosen = np.sort(np.concatenate(arcs))
    pairs = []
    for s, b in pairwise(chosen):
        if task.adjacent.start[s] == task.adjacent.start[b]:
            pairs.append(task.adjacent.first[b] + s)
    chosen = np.concatenate([chosen, np.array(pairs, np.int64)]).astype(np.int32)
    z[chosen] = 1
    return chosen, z


def spread(rng: np.random.Generator, spans: Spans, unit: float) -> None:
    """Give the spans random shares."""
    share = rng.random(len(spans.phi)) * np.abs(spans.phi)
    spans.share[:] = np.floor(share) if unit else share


@pytest.mark.parametrize("seed", range(30))
def test_every_tree_is_below_the_bound_which_is_tight_where_no_share_moves(seed: int) -> None:
    """The bound of a tree is at least its score, and equals its score if the step for this tree moves no share.

    Shares are random at first and are then moved by steps. The coefficients always follow from the shares.
    """
    rng = np.random.default_rng(seed)
    problem, task = random_task(rng, ("adjacent-sibling", "sibling"))
    spans, adjacent = task.spans, task.adjacent
    spread(rng, spans, problem.unit)
    weight = np.zeros(len(task.theta))
    constant = apply_spans(spans, adjacent, weight)
    direction, neighbours = np.zeros(len(spans.phi), np.int8), neighbours_of(problem.arcs)
    for heads in rng.permutation(trees(problem.n, "projective", problem.single_root))[:100]:
        chosen, z = variables(problem, task, heads)
        if len(chosen) == 0:
            continue
        set_neighbours(adjacent, chosen, len(chosen), z, neighbours)
        score, moved = visit_spans(spans, z, neighbours, direction)
        assert score == sum(phi for s, b, phi in zip(spans.s, spans.b, spans.phi, strict=True) if z[s] and z[b])
        bound = constant + weight @ z
        assert bound >= score - 1e-6
        if moved == 0:
            assert bound == pytest.approx(score, abs=1e-6)
        constant += move_spans(spans, adjacent, direction, 3.0, weight)
        assert constant + weight @ z <= bound + 1e-6, "the step lowers the bound of this tree"
        clear_neighbours(chosen, len(chosen), neighbours)
        anew = np.zeros(len(weight))
        assert apply_spans(spans, adjacent, anew) == pytest.approx(constant)
        np.testing.assert_allclose(weight, anew, atol=1e-6)
    assert (neighbours.before == -1).all()


@pytest.mark.parametrize("seed", range(30))
def test_folding_keeps_the_bounds_of_trees_valid_and_never_raises_them(seed: int) -> None:
    """A tree of live arcs has a bound that is not higher than before."""
    rng = np.random.default_rng(seed)
    problem, task = random_task(rng, ("adjacent-sibling", "sibling"))
    spans, adjacent = task.spans, task.adjacent
    spread(rng, spans, problem.unit)
    original = Spans(*(x.copy() for x in spans))
    weight, theta = np.zeros(len(task.theta)), np.zeros(len(task.theta))
    constant = apply_spans(spans, adjacent, weight)
    alive = np.ones(len(weight), np.bool_)
    alive[: problem.arcs] = rng.random(problem.arcs) < 0.7
    certain = np.zeros(len(weight), np.bool_)
    find_certain(task.arcs, alive, certain)
    before = weight.copy()
    constant_change, change = fold_spans(spans, adjacent, alive, certain, theta, weight)
    assert not any(
        certain[constant_change.s] | certain[constant_change.b] | ~alive[constant_change.s] | ~alive[constant_change.b]
    )
    for heads in trees(problem.n, "projective", problem.single_root):
        chosen, z = variables(problem, task, heads)
        if len(chosen) == 0 or not alive[chosen].all():
            continue
        score = sum(phi for s, b, phi in zip(original.s, original.b, original.phi, strict=True) if z[s] and z[b])
        bound = constant + change + weight @ z
        assert score - 1e-6 <= bound <= constant + before @ z + 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_the_backbone_chooses_the_variables_of_adjacent_pairs(seed: int) -> None:
    """The best tree under random scores of arcs and pairs selects the variables of its adjacent pairs."""
    rng = np.random.default_rng(seed)
    problem, task = random_task(rng, FAMILIES)
    graph = _state(problem, BACKBONE, (), MAX_EDGES, adjacent=True).graph  # type: ignore[union-attr]
    weight = np.append(rng.normal(size=problem.arcs), np.zeros(len(task.theta) - problem.arcs))
    weight[problem.arcs + 1 :] = rng.normal(size=len(weight) - problem.arcs - 1)
    scratch = oracle_scratch(None, graph, problem.n, problem.arcs)
    assert inside(graph, weight, scratch.value, scratch.best) > -1e29
    chosen, z = np.zeros(2 * problem.n + 1, np.int32), np.zeros(len(weight), np.int8)
    _, size = tree_variables(graph, task.arcs, chosen, scratch)
    mark_tree(task.arcs, weight, chosen, size, z, np.zeros(problem.n + 1, np.int32))
    heads = np.zeros(problem.n + 1, np.int32)
    arcs = chosen[:size][chosen[:size] < problem.arcs]
    heads[problem.mod[arcs]] = problem.head[arcs]
    np.testing.assert_array_equal(z, variables(problem, task, heads)[1])


@tries(150, 3000)
def test_the_search_finds_the_best_tree(tries: int) -> None:
    """The search with either bound finds the value of the enumeration, in problems of all shapes."""
    rng = np.random.default_rng(1)
    by_adjacent = BranchAndBound(siblings="adjacent", root_steps=3, node_steps=2)
    by_arcs = BranchAndBound(siblings="arcs")
    for _ in range(tries):
        families = [f for f in (*FAMILIES, "valency", "tri-sibling", "head-bigram") if rng.random() < 0.7]
        problem = random_problem(rng, [*families, "grandchild", "sibling"], min_n=2, max_n=6)
        parse, value = by_adjacent.decode(problem), best(problem)[0]
        assert parse.value == pytest.approx(value)
        assert parse.value == pytest.approx(by_arcs.decode(problem).value)
        assert parse.status == ("optimal" if value > -np.inf else "infeasible")
