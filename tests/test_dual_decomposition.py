"""Test dual decomposition: bounds above every tree, agreement only at the optimum, proofs that the checker accepts."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import best
from strategies import KINDS, build_problem, random_problem, rescored, tries

from treebound.checker.certificates import certificate_faults, check_parse
from treebound.decoders.approximate.dual_decomposition import DualDecomposition
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.factors import FAMILIES

ALL = tuple(family for family in FAMILIES if family != "arc")
LOCAL_FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
spaces = pytest.mark.parametrize("space", ["projective", "non-projective"])


@spaces
@pytest.mark.parametrize("families", [LOCAL_FAMILIES, ("head-bigram", "great-grandchild", "pattern"), ALL])
@tries(6, 80)
def test_every_bound_is_proved_and_agreement_is_the_optimum(families, space, tries):
    rng = np.random.default_rng(2)
    proved = feasible = 0
    for i in range(tries):
        kind = KINDS[i % len(KINDS)]
        problem = random_problem(rng, families, max_n=5, space=space, kind=kind, single_root=bool(i % 3))
        parse = DualDecomposition(space, record=True).decode(problem)
        top = best(problem, space)[0]
        assert parse.bound >= top - (0.0 if problem.unit else 1e-9 * max(1.0, abs(top)))
        if parse.status in ("optimal", "gap"):
            proof = certificate(parse.record)
            assert check_parse(problem, parse, proof, space) == []
        if parse.status == "optimal":
            assert parse.value == pytest.approx(top, rel=1e-9, abs=1e-9 if not problem.unit else 0.0)
            if problem.unit:
                assert certificate_faults(problem, parse.value - 1.0, proof, space) != []
        proved += parse.status == "optimal"
        feasible += top > -np.inf
    assert proved >= (0.1 if "pattern" in families else 0.7) * feasible  # bounds of products are loose


@spaces
def test_proved_parses_agree_with_branch_and_bound(space):
    rng = np.random.default_rng(8)
    proved = 0
    for _ in range(3):
        problem = build_problem(6, rng, LOCAL_FAMILIES, space=space)
        problem = rescored(problem, 6.0 * problem.arc)  # arc scores dominate, as in trained models
        decomposed, exact = DualDecomposition(space).decode(problem), BranchAndBound(space=space).decode(problem)
        assert decomposed.value <= exact.value <= decomposed.bound
        if decomposed.certified:
            assert decomposed.value == exact.value
        proved += decomposed.certified
    assert proved


@spaces
def test_more_iterations_never_loosen_the_bound(space):
    problem = build_problem(6, np.random.default_rng(4), ALL, kind="dense", space=space)
    parses = [DualDecomposition(space, iterations=i).decode(problem) for i in (1, 5, 50)]
    assert parses[0].bound >= parses[1].bound >= parses[2].bound
    assert parses[0].value <= parses[1].value <= parses[2].value
    assert parses[0].status == "gap"
    assert parses[0].work["iterations"] == 1
