"""Test messages against sums over all assignments, and arc probabilities against enumeration if there are no loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import build_problem, random_problem, tries

from treebound.decoders.approximate.belief_kernel import send
from treebound.decoders.approximate.belief_propagation import BeliefPropagation
from treebound.decoders.canonical import canonical
from treebound.kernels.bounded import make_products

CHARTED = ("adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling")
spaces = pytest.mark.parametrize("space", ["projective", "non-projective"])


def marginals(problem, space, scale):
    """Return float64[A], the arc probabilities by enumeration; nan if there is no tree."""
    log = scores(problem, space) * scale
    if log.max(initial=-np.inf) == -np.inf:
        return np.full(problem.arcs, np.nan)
    p = np.exp(log - np.logaddexp.reduce(log))
    every = trees(problem.n, space, problem.single_root)
    return np.array([p[every[:, m] == h].sum() for h, m in zip(problem.head, problem.mod, strict=True)])


@pytest.mark.parametrize("size", [2, 3])
def test_messages_are_sums_over_the_settings_of_a_factor(size):
    rng = np.random.default_rng(1)
    for _ in range(20):
        phi, belief, message = rng.normal() * 3, rng.uniform(0.05, 0.95, size), rng.normal(size=size)
        products = make_products(np.arange(size, dtype=np.int32)[None], np.array([phi]), 0.0, 0)
        before, total = message.copy(), np.zeros(size)
        send(products, products.phi, belief, message, 0.0, total)
        odds = np.log(belief / (1 - belief)) - before
        for j in range(size):
            weight = [0.0, 0.0]
            for setting in product((0, 1), repeat=size):
                others = sum(odds[i] for i in range(size) if i != j and setting[i])
                weight[setting[j]] += np.exp(others + phi * all(setting))
            assert message[j] == pytest.approx(np.log(weight[1] / weight[0]), abs=1e-9)
        assert total.tolist() == message.tolist()


@spaces
@tries(10, 60)
def test_probabilities_are_exact_without_products(space, tries):
    rng = np.random.default_rng(3)
    families = CHARTED if space == "projective" else ()
    for i in range(tries):
        problem = random_problem(
            rng, families, max_n=5, space=space, kind="dense", single_root=bool(i % 2), forbidden=0.1
        )
        normalised = canonical(problem, space).problem
        result = BeliefPropagation(space).marginals(normalised, 0.01)
        assert result == pytest.approx(marginals(normalised, space, 0.01), abs=1e-9, nan_ok=True)


@spaces
def test_probabilities_are_exact_if_each_product_has_one_undecided_arc(space):
    """Check that arc probabilities are exact in factor graphs without loops.

    Word 3 has a single candidate head, so each scored pair of arcs has only one undecided arc.
    """
    allowed = np.ones((5, 5), bool)
    allowed[:, 3] = False
    allowed[2, 3] = True
    for seed in range(4):
        problem = build_problem(4, np.random.default_rng(seed), ("head-bigram",), allowed=allowed, space=space)
        problem = canonical(problem, space).problem
        table = problem.parts["head-bigram"]
        decided = (problem.mod[table.arcs] == 3).any(axis=1)
        parts = {"head-bigram": replace(table, score=np.where(decided, table.score, 0.0))}
        problem = problem.rescored(problem.arc, parts)
        result = BeliefPropagation(space, iterations=200, damping=0.0).marginals(problem, 0.01)
        assert result == pytest.approx(marginals(problem, space, 0.01), abs=1e-9)


@spaces
def test_it_finds_most_optima_if_arc_scores_dominate(space):
    rng = np.random.default_rng(6)
    families = ("sibling", "head-bigram", "great-grandchild")
    optima = 0
    for _ in range(12):
        problem = build_problem(5, rng, families, space=space)
        problem = replace(problem, arc=10.0 * problem.arc)
        parse = BeliefPropagation(space).decode(problem)
        assert (parse.status, parse.bound) == ("heuristic", np.inf)
        optima += parse.value == scores(problem, space).max()
    assert optima >= 8
