"""Test hill climbing over heads: scores are correct, and no neighbour of the returned tree scores more."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem, tries
from synthetic import synthetic_treebank

from treebound.decoders.approximate.climbing import HillClimbing
from treebound.factors import FAMILIES
from treebound.learning.pruner import train_pruner
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

DEFAULT = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
ALL = tuple(family for family in FAMILIES if family != "arc")


def neighbours(every: np.ndarray, heads: np.ndarray, single_root: bool) -> np.ndarray:
    """Return bool[T]: which rows of `every` differ from the tree `heads` in the head of one word.

    With a single root, trees with a new dependent of the root also count: two words then have another head.
    """
    changed = every[:, 1:] != heads[1:]
    out = changed.sum(axis=1) == 1
    if single_root:
        old = int(np.flatnonzero(heads[1:] == 0)[0])
        new = every[:, 1:] == 0
        out |= (changed.sum(axis=1) == 2) & changed[:, old] & (changed & new).any(axis=1)
    return out


@pytest.mark.parametrize("families", [DEFAULT, ("head-bigram", "great-grandchild", "valency"), ALL])
@pytest.mark.parametrize("single_root", [True, False])
@tries(15, 60)
def test_no_neighbour_scores_more(families, single_root, tries):
    rng = np.random.default_rng(5)
    best = crossing = 0
    for _ in range(tries):
        problem = random_problem(
            rng, families, max_n=5, space="non-projective", single_root=single_root, integer=True, feasible=True
        )
        parse = HillClimbing().decode(problem)
        every, score = trees(problem.n, "non-projective", single_root), scores(problem, "non-projective")
        rows = np.flatnonzero((every[:, 1:] == parse.heads[1:]).all(axis=1))
        assert parse.value == score[rows[0]]
        assert score[neighbours(every, parse.heads, single_root)].max(initial=-np.inf) <= parse.value
        assert parse.status == "heuristic"
        assert parse.bound == np.inf
        best += parse.value == score.max()
        crossing += rows[0] not in np.flatnonzero((every[:, None] == trees(problem.n)).all(axis=2).any(axis=1))
    assert best > 2 * tries / 3
    assert crossing > tries / 12


def test_infeasible_problems_are_reported():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, DEFAULT, max_n=4, space="non-projective", feasible=True)
    rootless = problem.with_arc(np.where(problem.head == 0, -np.inf, problem.arc))
    assert HillClimbing().decode(problem).status == "heuristic"
    assert HillClimbing().decode(rootless).status == "infeasible"


def test_non_projective_training_costs_as_much_as_projective_training():
    """Compare the numbers of dynamic-program calls in training: at most three times as many for non-projective trees.

    In an earlier version, every sentence needed as many calls as its limit allowed.
    """
    examples, dev = synthetic_treebank(150, seed=1), synthetic_treebank(60, seed=2)
    pruner = train_pruner(examples, epochs=2, bits=14)
    calls, uas = {}, {}
    for space in ("projective", "non-projective"):
        spec = Settings(DEFAULT, labels="none", epochs=2, k=5, bits=16, max_dp_calls=200, space=space)
        model = train(spec, examples, dev, pruner)
        assert Parser(model, "rerank").decoder.space == space  # the default is the space of the model
        assert Parser(model, "rerank", space="projective").decoder.space == "projective"
        parses = Parser(model).parse(dev)
        assert all(parse.certified for parse in parses)
        calls[space] = sum(record["dp_calls"] for record in model.history)
        uas[space] = evaluate(dev, [parse.heads for parse in parses]).summary["uas"]
    assert calls["non-projective"] <= 3 * calls["projective"]
    assert uas["non-projective"] > uas["projective"] - 3
