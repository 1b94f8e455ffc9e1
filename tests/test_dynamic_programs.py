"""Test the decoders that need one pass of a dynamic program: values, trees and counts of work."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import best
from strategies import random_problem

from treebound.checker.certificates import check_parse
from treebound.decoders.exact.dynamic_program import carreras, eisner, grandparent_sibling
from treebound.decoders.exact.koo import koo_model0, koo_model1


@pytest.mark.parametrize("make", [eisner, carreras, grandparent_sibling, koo_model0, koo_model1])
def test_dynamic_programs_against_enumeration(make):
    decoder, rng, infeasible = make(), np.random.default_rng(2), 0
    for _ in range(40):
        families = [f for f in sorted(decoder.supports - {"arc"}) if rng.random() < 0.7]
        problem = random_problem(rng, families, max_n=5)
        parse = decoder.decode(problem)
        value = best(problem)[0]
        infeasible += value == -np.inf
        assert parse.value == parse.bound == pytest.approx(value, rel=1e-12)
        assert parse.status == ("infeasible" if value == -np.inf else "optimal")
        assert (parse.work["dp_calls"], parse.work["nodes"], parse.work["root_solved"]) == (1, 1, 1)
        assert check_parse(problem, parse) == []
    assert 0 < infeasible < 20
