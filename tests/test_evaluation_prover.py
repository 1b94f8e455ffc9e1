"""Test that the prover proves true bounds and refutes false ones, and that the checker accepts its certificates."""

import dataclasses

import numpy as np
import pytest
from oracles.score import best
from strategies import build_problem, random_problem

from treebound.checker.certificates import check_parse
from treebound.checker.prover import Refutation, prove
from treebound.checker.scoring import tree_score
from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse
from treebound.core.problem import PartTable

PROVED = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")


@pytest.mark.parametrize("integer", [True, False], ids=["integer", "real"])
def test_true_bounds_are_proved_and_false_ones_refuted(integer):
    rng = np.random.default_rng(0)
    branched = infeasible = 0
    for i in range(300):
        families = [f for f in PROVED if rng.random() < 0.5]
        hard = (
            {"families": ["sibling"], "kind": "mixed", "max_n": 7} if i % 3 == 0 else {"families": families, "max_n": 6}
        )
        problem = random_problem(rng, integer=integer, **hard)
        value, winners = best(problem)
        certificate = prove(problem, value)
        heads = winners[0] if len(winners) else np.array([-1] + [0] * problem.n)
        parse = Parse(heads, value, value, "optimal" if len(winners) else "infeasible")
        assert check_parse(problem, parse, certificate) == [], i
        branched += len(certificate.nodes) > 1
        if value == -np.inf:
            infeasible += 1
            continue
        below = value - (1 if integer else 1e-3 * max(1.0, abs(value)))
        refutation = prove(problem, below)
        assert isinstance(refutation, Refutation), i
        assert tree_score(problem, refutation.heads) > below
        unfinished = dataclasses.replace(parse, bound=value + 7, status="limit")
        assert check_parse(problem, unfinished, prove(problem, value + 7)) == []
    assert branched > 2
    assert infeasible > 5


def test_steps_are_limited():
    problem = build_problem(7, np.random.default_rng(3), PROVED, kind="mixed")
    value, _ = best(problem)
    assert prove(problem, value, max_steps=1) is None


def test_unknown_families():
    problem = build_problem(3, np.random.default_rng(0), ())
    parts = {"unknown-family": PartTable("unknown-family", np.array([[0, 1]], np.int32), np.zeros(1))}
    with pytest.raises(UnsupportedError, match="unknown-family"):
        prove(dataclasses.replace(problem, parts=parts), 0.0)
