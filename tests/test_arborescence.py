"""Test Chu-Liu-Edmonds beyond the sizes of the contract tests: nested contractions against all trees."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from oracles.score import best, scores
from oracles.trees import trees
from strategies import build_problem, problems

from treebound.checker.certificates import check_parse, tree_faults
from treebound.decoders.exact.chu_liu_edmonds import ChuLiuEdmonds
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.dense_arborescence import dense_arborescence
from treebound.kernels.chart.hypergraph import NEG


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["dense", "tied", "sparse"])
def test_seven_words(single_root, kind):
    rng = np.random.default_rng(7)
    for _ in range(25):
        problem = build_problem(7, rng, (), kind=kind, single_root=single_root)
        parse = ChuLiuEdmonds().decode(problem)
        assert parse.value == best(problem, "non-projective")[0]
        assert check_parse(problem, parse, space="non-projective") == []


def test_cycles_within_cycles():
    """Check the best tree if cycles are nested: pairs of words prefer each other, then pairs of pairs, and so on."""
    n = 64
    rng = np.random.default_rng(1)
    allowed = ~np.eye(n + 1, dtype=bool)
    allowed[:, 0] = False
    problem = build_problem(n, rng, (), allowed=allowed, kind="tied", single_root=False)
    words = np.arange(n)
    same = (problem.head > 0).astype(int)
    for block in (2, 4, 8, 16, 32):
        same += 2 * ((words[problem.head - 1] // block == words[problem.mod - 1] // block) & (problem.head > 0))
    problem = problem.with_arc(problem.arc + 1000 * same)
    parse = ChuLiuEdmonds().decode(problem)
    assert check_parse(problem, parse, space="non-projective") == []
    # changing one head does not improve the tree
    table = np.full((n + 1, n + 1), -np.inf)
    table[problem.head, problem.mod] = problem.arc
    for m in range(1, n + 1):
        for h in range(n + 1):
            node, ancestors = h, set()
            while node > 0:
                ancestors.add(node)
                node = parse.heads[node]
            if m not in ancestors:
                assert table[h, m] <= table[parse.heads[m], m]


def solve(problem, weight=None, bounds=True):
    """Return (value, heads, arc_max) of the kernel; `weight` replaces the problem's arc scores."""
    allowed = np.zeros((problem.n + 1, problem.n + 1), bool)
    allowed[problem.head, problem.mod] = True
    index = index_arcs(problem.n, allowed)
    weight = np.where(np.isneginf(problem.arc), NEG, problem.arc) if weight is None else weight
    arcs, arc_max = np.full(problem.n, -1, np.int32), np.empty(problem.arcs if bounds else 0)
    scratch = arborescence_scratch(problem.n, problem.arcs)
    value = arborescence(index, weight, problem.n, problem.single_root, arcs, arc_max, scratch)
    return value, np.append(-1, problem.head[arcs]) if value > NEG else None, arc_max


@given(problems(families=(), max_n=6, space="non-projective"))
@settings(max_examples=150, deadline=None)
def test_bound_of_every_arc(problem):
    """Check that arc_max bounds the best tree through each arc, and is the best score for arcs of the best tree."""
    every, score = trees(problem.n, "non-projective", problem.single_root), scores(problem, "non-projective")
    value, heads, arc_max = solve(problem)
    if not np.isfinite(score.max()):
        assert value == NEG
        return
    slack = 0.0 if problem.unit else 1e-9 * max(1.0, abs(score.max()))
    assert abs(value - score.max()) <= slack
    assert tree_faults(heads, problem.n, "non-projective", problem.single_root) == []
    assert solve(problem, bounds=False)[1].tolist() == heads.tolist()
    for a, (h, m) in enumerate(zip(problem.head, problem.mod, strict=True)):
        through = score[every[:, m] == h].max(initial=-np.inf)
        assert arc_max[a] >= through - slack
        assert arc_max[a] <= value + slack
        if heads[m] == h:
            assert abs(arc_max[a] - value) <= slack
        if problem.arc[a] == -np.inf:
            assert arc_max[a] == NEG


@pytest.mark.parametrize("single_root", [True, False])
def test_bounds_remove_most_arcs(single_root):
    """Check that most bounds of arcs are below the best score.

    Equal bounds for all arcs would pass the previous test.
    """
    rng = np.random.default_rng(5)
    below = exact = arcs = 0
    for _ in range(50):
        problem = build_problem(5, rng, (), kind="dense", single_root=single_root)
        every, score = trees(5, "non-projective", single_root), scores(problem, "non-projective")
        value, _, arc_max = solve(problem)
        through = np.array([score[every[:, m] == h].max() for h, m in zip(problem.head, problem.mod, strict=True)])
        arcs += len(arc_max)
        below += int((arc_max < value).sum())
        exact += int((arc_max == through).sum())
    assert below > 0.7 * arcs
    assert exact > 0.5 * arcs


@given(problems(families=(), max_n=5, space="non-projective", feasible=True), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_forced_and_forbidden_arcs(problem, seed):
    """Check the best tree with a forced arc: all other arcs into its dependent are forbidden, as in the search."""
    rng = np.random.default_rng(seed)
    every, score = trees(problem.n, "non-projective", problem.single_root), scores(problem, "non-projective")
    weight, allowed = problem.arc.copy(), np.ones(len(score), bool)
    for a in rng.choice(problem.arcs, size=int(rng.integers(1, problem.n + 1)), replace=False):
        h, m = problem.head[a], problem.mod[a]
        if rng.random() < 0.4:
            weight[(problem.mod == m) & (problem.head != h)] = NEG
            allowed &= every[:, m] == h
        else:
            weight[a] = NEG
            allowed &= every[:, m] != h
    best_allowed = score[allowed].max(initial=-np.inf)
    value = solve(problem, weight)[0]
    if best_allowed == -np.inf:
        assert value == NEG
    else:
        assert abs(value - best_allowed) <= (0.0 if problem.unit else 1e-9 * max(1.0, abs(best_allowed)))


def matrix_of(problem):
    """Return (scores, heads): float64[n + 1, n + 1], and the best head of each word, int32[n + 1].

    The head is 0 if a word has no candidate head, and -1 for the root.
    """
    matrix = np.full((problem.n + 1, problem.n + 1), -np.inf)
    matrix[problem.head, problem.mod] = problem.arc
    heads = matrix.argmax(axis=0).astype(np.int32)
    heads[0] = -1
    matrix[:, 0] = np.inf  # column 0 and the diagonal are not read
    np.fill_diagonal(matrix, np.nan)
    return matrix, heads


@given(problems(families=(), max_n=6, space="non-projective"))
@settings(max_examples=150, deadline=None)
def test_a_dense_matrix_has_the_same_best_tree(problem):
    """Compare the dense with the sparse algorithm, ties included: both prefer the same arcs."""
    matrix, heads = matrix_of(problem)
    initial = heads.copy()
    value, expected, _ = solve(problem, bounds=False)
    exists = dense_arborescence(matrix, problem.single_root, heads)
    assert exists == (value > NEG)
    assert heads.tolist() == (expected if exists else initial).tolist()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["dense", "tied", "sparse"])
def test_a_large_dense_matrix_has_the_same_best_tree(single_root, kind):
    rng = np.random.default_rng(11)
    for n in (12, 30, 60):
        for _ in range(10):
            problem = build_problem(n, rng, (), kind=kind, single_root=single_root)
            matrix, heads = matrix_of(problem)
            assert dense_arborescence(matrix, single_root, heads)
            assert heads.tolist() == solve(problem, bounds=False)[1].tolist()
