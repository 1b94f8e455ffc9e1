"""Test the checker's chart: one derivation per tree, exact best scores and max-marginals, against enumeration."""

from itertools import chain, combinations

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import build_problem, random_problem, unchecked

from treebound.checker.chart import CHART_FAMILIES, build_chart, max_marginals

SUBSETS = [frozenset(s) for s in chain.from_iterable(combinations(sorted(CHART_FAMILIES), r) for r in range(4))]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("families", [frozenset(), frozenset({"grandchild"})], ids=["without g", "with g"])
@pytest.mark.parametrize("n", range(1, 7))
def test_every_tree_has_one_derivation(n, families, single_root):
    problem = build_problem(n, np.random.default_rng(n), families, single_root=single_root)
    chart = build_chart(problem, families)
    derivations = [0] * chart.items
    for edge in chart.edges:
        derivations[edge.head] += int(np.prod([derivations[t] for t in edge.tails]))
    assert derivations[0] == len(trees(n, single_root=single_root))


@pytest.mark.parametrize("families", SUBSETS, ids=lambda s: "+".join(sorted(s)) or "arc")
def test_best_and_max_marginals_equal_enumeration(families):
    rng = np.random.default_rng(0)
    for _ in range(150):
        problem = random_problem(rng, families, max_n=6)
        every, value = trees(problem.n, single_root=problem.single_root), scores(problem)
        chart = build_chart(problem, families)
        best, marginal = max_marginals(chart, problem.arc.tolist())
        assert float(best) == pytest.approx(value.max())
        arc_max = np.full(problem.arcs, -np.inf)
        for edge, m in zip(chart.edges, marginal, strict=True):
            if edge.arc >= 0:
                arc_max[edge.arc] = max(arc_max[edge.arc], float(m))
        for a in range(problem.arcs):
            expected = value[every[:, problem.mod[a]] == problem.head[a]].max(initial=-np.inf)
            assert arc_max[a] == pytest.approx(expected)


def test_integers_stay_exact_beyond_the_precision_of_floats():
    problem = build_problem(4, np.random.default_rng(3), kind="large")
    huge = unchecked(problem, arc=problem.arc * 2.0**40)
    chart = build_chart(huge, CHART_FAMILIES)
    exact = [int(s) for s in huge.arc]
    best, marginal = max_marginals(chart, exact)
    assert isinstance(best, int)
    assert best == max(marginal)
    shifted, _ = max_marginals(chart, [s + 1 for s in exact])
    assert shifted - best == 4
