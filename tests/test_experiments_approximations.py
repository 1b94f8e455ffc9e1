"""Test the comparison of approximate decoders on synthetic scores: optima, proofs and losses of each decoder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from oracles.score import best
from strategies import build_problem

from studies.across.approximations import measure
from studies.across.approximations.contestants import CONTESTANTS, EXACT
from studies.across.approximations.settings import Approximations
from studies.across.approximations.synthetic import SYNTHETIC, synthetic
from studies.common.solvers import disagreement
from treebound.core.problem import Problem

SETTINGS = Approximations(models=("any",), k=10, sentences=3, synthetic=2, longest=10, calls=500, seconds=5.0)
FAMILIES = ("adjacent-sibling", "grandchild", "sibling")


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_every_decoder_of_the_space_is_judged_against_the_best_tree(space, monkeypatch):
    contestants = {name: CONTESTANTS[name] for name in (EXACT, "backbone only", "beam, 8")}
    monkeypatch.setattr(measure, "CONTESTANTS", contestants)
    scored = [build_problem(4, np.random.default_rng(seed), FAMILIES, space=space) for seed in range(3)]
    data = measure.contest(scored, space, SETTINGS, lambda parses: pd.DataFrame(index=range(len(parses))))
    absent = set() if space == "projective" else {"beam, 8"}
    assert set(data["solver"]) == contestants.keys() - absent
    assert disagreement(data) == ""
    table = measure.joined(data.assign(model="m", space=space))
    for row in table.itertuples():
        top = best(scored[row.sentence], space)[0]
        assert row.best == top
        assert row.is_best == (row.value == top)
        assert row.loss == top - row.value
        assert not row.wrong
    rows = {row["solver"]: row for row in measure.summary(data.assign(model="m", space=space))}
    assert (rows[EXACT]["best"], rows[EXACT]["proved"], rows[EXACT]["known"]) == (3, 3, 3)
    assert rows["backbone only"]["proved"] == 0
    assert rows["backbone only"]["correct"] is None


def test_gold_trees_distinguish_search_errors_from_model_errors():
    shared = {"model": "m", "space": "projective", "n": 3, "tolerance": 1e-6, "found": True, "seconds": 0.002}
    rows = [
        {"solver": "a", "sentence": 0, "value": 5.0, "proved": True, "correct": 3, "gold": 5.0},
        {"solver": "b", "sentence": 0, "value": 4.0, "proved": False, "correct": 2, "gold": 5.0},
        {"solver": "a", "sentence": 1, "value": 7.0, "proved": True, "correct": 1, "gold": 6.0},
        {"solver": "b", "sentence": 1, "value": 7.0, "proved": False, "correct": 1, "gold": 6.0},
    ]
    bound = [5.0, 6.0, 7.0, np.inf]
    data = pd.DataFrame([shared | row | {"scored": 3, "bound": b} for row, b in zip(rows, bound, strict=True)])
    a, b = measure.summary(data)
    assert (a["wrong"], a["search_errors"], a["best"], a["loss"]) == (1, 0, 2, 0.0)
    assert (b["wrong"], b["search_errors"], b["best"], b["loss"], b["bounded"], b["gap"]) == (2, 1, 1, 1.0, 1, 1.0)
    assert b["correct"] == 3
    curve = next(row for row in measure.within(data) if row["solver"] == "b")
    assert [c for c, ms in zip(curve["best"], measure.WITHIN, strict=True) if ms < 2.0] == [0] * 6
    assert curve["best"][-1] == 1
    assert curve["proved"][-1] == 0


@pytest.mark.parametrize("kind", SYNTHETIC)
@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_synthetic_scores_are_dense_and_reproducible(kind, space):
    problem, same, different = (synthetic(kind, 5, seed, space) for seed in (1, 1, 2))
    assert isinstance(problem, Problem)
    assert problem.arcs == 5 * 5
    assert problem.arc.tolist() == same.arc.tolist() != different.arc.tolist()
    assert problem.families == {"arc", "sibling", "grandchild"}
    parts = np.concatenate([problem.parts["sibling"].score, problem.parts["grandchild"].score])
    assert 0.1 < parts.std() < 0.5
