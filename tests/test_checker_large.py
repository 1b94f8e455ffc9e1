"""Test how the checker treats large problems: the best score without a certificate, and estimates of size."""

import dataclasses
import math

import numpy as np
import pytest
from oracles.score import best
from strategies import build_problem, random_problem

from treebound.checker import certificates
from treebound.checker.certificates import certificate_faults
from treebound.checker.chart import build_chart
from treebound.checker.compiled.best import best_score
from treebound.checker.compiled.tables import TooLarge
from treebound.checker.sizes import chart_edges, check_size
from treebound.core.limits import GIB, TooLargeError, memory_limit

SPACES = ("projective", "non-projective")


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(certificates, "MANY_EDGES", -1)
    monkeypatch.setattr(certificates, "MANY_ARCS", -1)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("integer", [True, False])
def test_the_best_score_equals_enumeration(space, integer):
    rng = np.random.default_rng(5)
    infeasible = 0
    for _ in range(60):
        problem = random_problem(rng, (), max_n=5, space=space, integer=integer)
        value = best(problem, space)[0]
        lowest, highest = best_score(problem, space == "projective")
        infeasible += value == -math.inf
        if integer or value == -math.inf:
            assert lowest == highest == value
        else:
            assert lowest < highest < lowest + 1e-12 * max(1, np.abs(problem.arc[np.isfinite(problem.arc)]).max())
            assert lowest - 1e-12 <= value <= highest + 1e-12
    assert 0 < infeasible < 50


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("integer", [True, False])
def test_a_bound_without_parts_is_compared_with_the_best_score(space, integer, everything_is_large):
    rng = np.random.default_rng(6)
    for _ in range(20):
        problem = random_problem(rng, (), max_n=5, space=space, integer=integer, feasible=True)
        value = best(problem, space)[0]
        empty = certificates.Certificate((), frozenset())
        assert certificate_faults(problem, value, empty, space) == []
        assert certificate_faults(problem, value + 1, empty, space) == []
        below = value - (1 if integer else 1e-3 * max(1, abs(value)))
        (fault,) = certificate_faults(problem, below, empty, space)
        score, bound = fault.removeprefix("a tree scores ").split(", more than the bound ")
        assert float(score) == pytest.approx(value, rel=1e-10)
        assert float(bound) == below


def test_integers_that_do_not_fit_are_refused():
    problem = build_problem(3, np.random.default_rng(0), (), integer=True, single_root=True)
    score = np.zeros(problem.arcs)
    for projective, largest in ((True, 2.0**57), (False, 2.0**53)):
        score[0] = largest / 2
        assert best_score(problem.with_arc(score), projective)[1] in (0, largest / 2)
        score[0] = 2 * largest
        with pytest.raises(TooLarge):
            best_score(problem.with_arc(score), projective)


@pytest.mark.parametrize(("families", "n"), [((), 30), (("grandchild",), 20)])
def test_estimates_of_the_edges_of_a_chart(families, n):
    rng = np.random.default_rng(7)
    for _ in range(30):
        problem = random_problem(rng, families, max_n=6)
        assert len(build_chart(problem, frozenset(families)).edges) <= chart_edges(problem, frozenset(families))
    problem = build_problem(n, rng, families, allowed=np.ones((n + 1, n + 1), bool), single_root=False)
    edges = len(build_chart(problem, frozenset(families)).edges)
    assert edges <= chart_edges(problem, frozenset(families)) <= 1.13 * edges


@pytest.mark.parametrize("compiled", [True, False])
def test_proofs_above_the_limit_of_memory_are_refused(compiled):
    """The arrays of compiled code take less memory than Python's objects, and arcs alone less than a chart."""
    problem = build_problem(12, np.random.default_rng(8), ("sibling",), integer=True)
    edges, parts = chart_edges(problem, frozenset()), problem.parts["sibling"].score.size
    limit = (200 if compiled else 500) * edges / GIB
    message = f"proof about 12 words with {problem.arcs} arcs would take about"
    with memory_limit(limit), pytest.raises(TooLargeError, match=message):
        check_size(problem, frozenset(), True, compiled)
    with memory_limit(limit + 2e6 * (1 + parts / 1000) / GIB):
        check_size(problem, frozenset(), True, compiled)
    bare = dataclasses.replace(problem, parts={})
    with memory_limit(500 * (problem.arcs + 1) / GIB):
        check_size(bare, frozenset(), False, compiled)
        with pytest.raises(TooLargeError):
            check_size(problem, frozenset(), False, compiled)
