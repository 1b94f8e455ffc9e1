"""Test the comparison of solvers: equal scores, detected contradictions, sums."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from strategies import build_problem

from studies.common.solvers import disagreement
from studies.riedel_clarke_2006.integer_programs import measure

FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")


@pytest.mark.parametrize("space", measure.SPACES)
def test_all_solvers_on_the_same_problems(space):
    scored = [build_problem(4, np.random.default_rng(seed), FAMILIES, space=space) for seed in range(3)]
    data = measure.measure(scored, space, 30.0)
    assert list(dict.fromkeys(data["solver"])) == list(measure.SOLVERS)
    assert disagreement(data) == ""
    exact = data[[not measure.SOLVERS[name].relaxed for name in data["solver"]]]
    assert exact["proved"].all()
    assert (exact.groupby("sentence")["value"].nunique() == 1).all()
    rows = measure.summary(data.assign(model="synthetic", space=space))
    assert {row["solver"]: row["best"] for row in rows if not row["solver"].startswith("relaxation")} == {
        name: 3 for name, solver in measure.SOLVERS.items() if not solver.relaxed
    }
    assert all(row["gap"] >= 0 and row["loss"] >= 0 and row["longer_than"] == 0 for row in rows)


def solver_rows(**changes) -> pd.DataFrame:
    row = {"sentence": 7, "n": 12, "value": 5.0, "bound": 5.0, "tolerance": 1e-6, "found": True, "proved": True}
    row |= {"seconds": 0.1, "solves": 1, "model": "m", "space": "s"}
    return pd.DataFrame([row | {"solver": "branch and bound"}, row | {"solver": "incremental"} | changes])


def test_contradictions_are_found():
    assert disagreement(solver_rows()) == ""
    assert disagreement(solver_rows(value=5.0000005, bound=5.0000005)) == ""
    assert disagreement(solver_rows(value=4.0, bound=4.0)) == (
        "sentence 7: branch and bound proves 5.000000, incremental proves 4.000000"
    )
    assert "has a tree of 5.000000, incremental proves that none is above 4.500000" in disagreement(
        solver_rows(value=4.0, bound=4.5, proved=False)
    )
    assert disagreement(solver_rows(value=-np.inf, bound=np.inf, proved=False, found=False)) == ""


def test_a_missing_tree_is_no_loss():
    rows = measure.summary(solver_rows(value=-np.inf, bound=8.0, proved=False, found=False))
    exact_row, limited_row = rows
    assert (exact_row["proved"], exact_row["best"], exact_row["gap"], exact_row["longer_than"]) == (1, 1, 0.0, 10)
    assert (
        limited_row["proved"],
        limited_row["best"],
        limited_row["found"],
        limited_row["gap"],
        limited_row["loss"],
    ) == (0, 0, 0, 3.0, 0.0)
