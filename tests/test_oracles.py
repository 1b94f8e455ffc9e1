"""The oracles themselves: known numbers of trees, and two independent ways of scoring."""

import itertools

import numpy as np
import pytest
from oracles.score import best, scores
from oracles.trees import trees
from strategies import FAMILIES, build_problem, random_problem, random_tree

from treebound.checker.scoring import tree_score


@pytest.mark.parametrize("n", range(1, 8))
def test_number_of_trees(n):
    projective = {1: (1, 1), 2: (2, 3), 3: (7, 12), 4: (30, 55), 5: (143, 273), 6: (728, 1428), 7: (3876, 7752)}
    assert (len(trees(n)), len(trees(n, single_root=False))) == projective[n]
    if n <= 6:
        assert len(trees(n, "non-projective")) == n ** (n - 1)
        assert len(trees(n, "non-projective", single_root=False)) == (n + 1) ** (n - 1)


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("seed", range(20))
def test_two_scorers_agree(space, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, max_n=5, space=space)
    candidates = trees(problem.n, space, problem.single_root)
    slow = [tree_score(problem, heads) for heads in candidates]
    np.testing.assert_allclose(scores(problem, space), slow, rtol=1e-12, atol=1e-9)
    value, winners = best(problem, space)
    assert value == pytest.approx(max(slow))
    assert len(winners) == (0 if value == -np.inf else sum(s >= value - 1e-9 * max(1, abs(value)) for s in slow))


def test_score_of_one_tree_by_hand():
    """The tree 0 -> 2, 2 -> 1, 2 -> 3, 3 -> 4 has exactly the parts that are listed here."""
    heads = np.array([-1, 2, 0, 2, 3])
    families = [f for f in FAMILIES if f != "pattern"]
    problem = build_problem(4, np.random.default_rng(0), families, single_root=True)
    arc = {(h, m): a for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))}
    inner, outer = -1, -2
    chosen = {
        "adjacent-sibling": [(-1, arc[2, 1]), (-1, arc[2, 3]), (-1, arc[3, 4])],
        "outermost-grandchild": [
            (arc[0, 2], arc[2, 1]),
            (arc[0, 2], arc[2, 3]),
            (arc[2, 1], inner),
            (arc[2, 1], outer),
            (arc[2, 3], inner),
            (arc[2, 3], arc[3, 4]),
            (arc[3, 4], inner),
            (arc[3, 4], outer),
        ],
        "grandchild": [(arc[0, 2], arc[2, 1]), (arc[0, 2], arc[2, 3]), (arc[2, 3], arc[3, 4])],
        "sibling": [(arc[2, 1], arc[2, 3])],
        "head-bigram": [(arc[2, 1], arc[0, 2]), (arc[0, 2], arc[2, 3]), (arc[2, 3], arc[3, 4])],
        "great-grandchild": [(arc[0, 2], arc[2, 3], arc[3, 4])],
        "grand-sibling": [(arc[0, 2], -1, arc[2, 1]), (arc[0, 2], -1, arc[2, 3]), (arc[2, 3], -1, arc[3, 4])],
        "valency": [(1, 0), (2, 2), (3, 1), (4, 0)],
    }
    total = sum(problem.arc[arc[a]] for a in [(0, 2), (2, 1), (2, 3), (3, 4)])
    for family, keys in chosen.items():
        table = problem.parts[family]
        for key in keys:
            row = np.flatnonzero((table.arcs == key).all(axis=1))
            assert len(row) == 1
            total += table.score[row[0]]
    assert tree_score(problem, heads) == total
    row = np.flatnonzero((trees(4) == heads).all(axis=1))
    assert scores(problem)[row[0]] == total


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("single_root", [True, False])
def test_random_trees_are_trees_of_the_space(space, single_root):
    rng = np.random.default_rng(1)
    seen = {tuple(random_tree(4, rng, space, single_root)) for _ in range(2000)}
    every = {tuple(t) for t in trees(4, space, single_root)}
    assert seen <= every
    assert len(seen) > len(every) / 2


def test_score_of_runs_and_triples_by_hand():
    """Word 1 is the head of the words 2 to 7.

    The tree has three combs of four words, two of five and one of six, and every triple of dependents.
    """
    heads = np.array([-1, 0, 1, 1, 1, 1, 1, 1])
    problem = build_problem(7, np.random.default_rng(0), ("comb", "tri-sibling", "valency"))
    arc = {(h, m): a for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))}
    runs = [[arc[1, m] for m in range(i, i + size)] for size in (4, 5, 6) for i in range(2, 9 - size)]
    keys = {
        "comb": [run + [-1] * (8 - len(run)) for run in runs],
        "tri-sibling": list(itertools.combinations([arc[1, m] for m in range(2, 8)], 3)),
        "valency": [(1, 6)] + [(m, 0) for m in range(2, 8)],
    }
    assert {family: len(rows) for family, rows in keys.items()} == {"comb": 6, "tri-sibling": 20, "valency": 7}
    total = sum(problem.arc[arc[int(h), m]] for m, h in enumerate(heads) if m > 0)
    for family, rows in keys.items():
        table = problem.parts[family]
        total += sum(table.score[(table.arcs == row).all(axis=1)].item() for row in rows)
    assert tree_score(problem, heads) == total
    row = np.flatnonzero((trees(7) == heads).all(axis=1))
    assert scores(problem)[row[0]] == total
