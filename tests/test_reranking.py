"""k best trees of charts and of arborescences, and the best of them under all factors, compared with enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem, tries

from treebound.decoders import DECODERS
from treebound.decoders.approximate.charted import chart_of, exact_families
from treebound.decoders.approximate.rerank_kernel import k_best
from treebound.decoders.base import without_infinities
from treebound.decoders.canonical import canonical
from treebound.factors import FAMILIES

ALL = tuple(family for family in FAMILIES if family != "arc")
SECOND_ORDER = ("adjacent-sibling", "outermost-grandchild", "sibling")


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("k", [1, 4, 30])
@tries(6, 40)
def test_k_best_trees_are_those_of_enumeration(space, k, tries):
    rng = np.random.default_rng(11)
    for i in range(tries):
        some = ALL if i % 2 else SECOND_ORDER
        problem = random_problem(rng, some, max_n=5, space=space, single_root=bool(i % 3), forbidden=0.1)
        canonical_problem = canonical(problem, space).problem
        counted = exact_families(canonical_problem, space)
        chart = chart_of(without_infinities(canonical_problem, counted)[0], space)
        values, arcs, _ = k_best(chart.graph, chart.arcs, chart.weight, problem.single_root, k)
        parts = {f: t for f, t in problem.parts.items() if f in counted}
        score = scores(replace(problem, parts=parts), space)
        top = np.sort(score[score > -np.inf])[::-1][:k]
        assert values.tolist() == pytest.approx(top.tolist(), rel=1e-9, abs=1e-9)
        assert len({row.tobytes() for row in arcs}) == len(top)
        every = trees(problem.n, space, problem.single_root)
        for value, row in zip(values, arcs, strict=True):
            assert chart.arcs.mod[row].tolist() == list(range(1, problem.n + 1))
            rows_equal = (every[:, 1:] == chart.arcs.head[row]).all(axis=1)
            assert score[rows_equal][0] == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@tries(8, 40)
def test_more_trees_are_no_worse_and_all_trees_are_exact(space, tries):
    rng = np.random.default_rng(5)
    for _ in range(tries):
        problem = random_problem(rng, ALL, min_n=2, max_n=4, space=space, integer=True, feasible=True)
        single, few, every = (
            DECODERS[name](space=space, **options).decode(problem)
            for name, options in (("backbone-only", {}), ("rerank", {"k": 5}), ("rerank", {"k": 200}))
        )
        assert single.value <= few.value <= every.value == scores(problem, space).max()
        assert every.work["trees"] == (scores(problem, space) > -np.inf).sum()
        assert {single.status, few.status, every.status} == {"heuristic"}
