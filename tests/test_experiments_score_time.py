"""Test the stage that compares sampling with proved optima."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import build_problem

from studies.zhang_2014.score_time.measure import EXACT, METHODS, SPACES, measure
from treebound.decoders.canonical import canonical


@pytest.mark.parametrize("space", SPACES)
def test_shares_are_of_proved_optima(space: str) -> None:
    """Check the rows: the proof first, then one row per method, budget and seed.

    More runs find at least as many optima, and no score exceeds an optimum.
    """
    rng = np.random.default_rng(4)
    families = ("adjacent-sibling", "grandchild")
    problems = [canonical(build_problem(n, rng, families, kind="mixed", space=space), space).problem for n in (3, 6, 9)]
    budgets, seeds = (1, 6), 2
    rows = measure(problems, space, budgets, seeds)
    assert rows[0]["method"] == EXACT
    assert rows[0]["optima"] == rows[0]["proved"] == 3
    assert rows[0]["score"] == 1.0
    keys = [(row["method"], row["patience"], row["seed"]) for row in rows[1:]]
    assert keys == [(m, p, s) for m in METHODS[space] for p in budgets for s in range(1, seeds + 1)]
    for row in rows:
        assert (row["words"], row["long"], row["long_optima"], row["sentences"]) == (18, 0, 0, 3)
        assert row["optima"] <= row["proved"]
        assert row["cpu_s"] >= 0.0
    by_key = dict(zip(keys, rows[1:], strict=True))
    for method in METHODS[space]:
        for seed in (1, 2):
            assert by_key[method, 6, seed]["optima"] >= by_key[method, 1, seed]["optima"]
            assert by_key[method, 6, seed]["runs"] > by_key[method, 1, seed]["runs"]
    assert by_key["greedy", 6, 1]["optima"] >= 2
