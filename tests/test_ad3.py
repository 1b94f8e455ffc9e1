"""Test AD3: its quadratic subproblem against other points of the hull, its bounds and proofs against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import references  # noqa: F401 - lets kernels return their working memory
from oracles.score import best
from oracles.trees import trees
from strategies import KINDS, build_problem, random_problem, tries

from treebound.checker.certificates import check_parse
from treebound.decoders.approximate import ad3_kernel as kernel
from treebound.decoders.approximate.ad3 import AD3
from treebound.decoders.approximate.dual_decomposition import parted
from treebound.decoders.canonical import canonical
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.factors import FAMILIES

ALL = tuple(family for family in FAMILIES if family != "arc")
LOCAL_FAMILIES = ("adjacent-sibling", "grandchild", "sibling")


@pytest.mark.parametrize("space", ["projective", pytest.param("non-projective", marks=pytest.mark.long)])
def test_the_subproblem_finds_the_nearest_point_of_a_polytope(space):
    """Check the solution of the quadratic subproblem for polytopes whose vertices can be listed.

    These are the polytopes of all trees of three words and of single products of arcs.
    """
    rng = np.random.default_rng(0)
    problem = canonical(build_problem(3, rng, ("great-grandchild",), space=space), space).problem
    graph, task = parted(problem, space, 0.01)
    index, eta = task.arcs, 0.7
    every = trees(3, space, True)
    tree_rows = (every[:, index.mod] == index.head).astype(float)
    for _ in range(4):
        hulls, oracles = kernel._hulls(task), kernel._begin(graph, task)
        hulls.target[:] = rng.normal(size=len(hulls.target))
        for s in (0, *range(5, len(hulls.size))):
            for _ in range(5):
                assert kernel._approach(graph, task, hulls, oracles, s, eta)
            lo, hi = hulls.first[s], hulls.first[s + 1]
            rows, scores = tree_rows, np.zeros(len(tree_rows))
            if s:
                rows = np.array(list(product((0.0, 1.0), repeat=hi - lo)))
                scores = np.where(rows.all(axis=1), task.products.phi[s - 5] / eta, 0.0)
            target, point = hulls.target[lo:hi], hulls.q[lo:hi]
            gain = scores + rows @ (
                target - point
            )  # gain of a move towards a configuration; it is not positive at the best point
            expected = (hulls.share[:, s] * hulls.offset[:, s])[: hulls.size[s]].sum() + point @ (target - point)
            assert gain.max() == pytest.approx(expected, abs=1e-6)
            assert hulls.share[: hulls.size[s], s].sum() == pytest.approx(1.0)
            assert hulls.share[: hulls.size[s], s].min() >= 0.0


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("families", [LOCAL_FAMILIES, ALL])
@tries(5, 40)
def test_every_bound_is_proved_and_agreement_is_the_optimum(families, space, tries):
    rng = np.random.default_rng(12)
    right = feasible = 0
    for i in range(tries):
        kind = KINDS[i % len(KINDS)]
        problem = random_problem(rng, families, max_n=4, space=space, kind=kind, single_root=bool(i % 3))
        parse = AD3(space, record=True).decode(problem)
        top = best(problem, space)[0]
        assert parse.bound >= top - (0.0 if problem.unit else 1e-9 * max(1.0, abs(top)))
        if parse.status in ("optimal", "gap"):
            assert check_parse(problem, parse, certificate(parse.record), space) == []
        if parse.status == "optimal":
            assert parse.value == pytest.approx(top, rel=1e-9, abs=1e-9 if not problem.unit else 0.0)
        feasible += top > -np.inf
        right += top > -np.inf and bool(np.isclose(parse.value, top, rtol=1e-9))
    assert right >= 0.5 * feasible
