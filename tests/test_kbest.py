"""Test k-best trees, margins and marginals against the enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem

from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, EMPTY, BranchAndBound
from treebound.decoders.kbest import kbest, margins
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.arcs.parts import index_parts
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.chart.marginals import log_inside_outside, matrix_tree_marginals

FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")


def feasible(rng, families=FAMILIES, **fixed):
    return random_problem(rng, families, max_n=5, feasible=True, integer=True, **fixed)


@pytest.mark.parametrize("k", [1, 2, 10, 50])
def test_k_best_trees_are_the_k_best(k):
    rng = np.random.default_rng(k)
    decoder = BranchAndBound()
    for _ in range(40):
        problem = feasible(rng)
        every = np.sort(scores(problem))[::-1]
        every = every[np.isfinite(every)]
        result = kbest(decoder, problem, k)
        assert result.complete
        assert [p.value for p in result.parses] == every[:k].tolist()
        heads = {tuple(p.heads.tolist()) for p in result.parses}
        assert len(heads) == len(result.parses)  # all trees differ
        assert result.solved <= 1 + (k - 1) * problem.n


def test_k_best_needs_a_k():
    with pytest.raises(ValueError, match="at least 1"):
        kbest(BranchAndBound(), feasible(np.random.default_rng(0)), 0)


def test_k_best_of_an_infeasible_problem_is_empty_and_complete():
    problem = feasible(np.random.default_rng(0))
    problem = problem.with_arc(np.full(problem.arcs, -np.inf))
    assert kbest(BranchAndBound(), problem, 5).parses == []


def test_k_best_is_not_called_complete_when_a_limit_was_hit():
    rng = np.random.default_rng(3)
    states = set()
    for _ in range(60):
        problem = feasible(rng, kind="mixed")
        result = kbest(BranchAndBound(backbone="carreras", max_dp_calls=3), problem, 5)
        best = np.sort(scores(problem))[::-1][:5]
        values = [p.value for p in result.parses]
        assert values == sorted(values, reverse=True)
        if result.complete:
            assert values == best[: len(values)].tolist()
        states.add(result.complete)
    assert states == {True, False}


@pytest.mark.parametrize("config", ["tuned", "published"])
def test_a_search_for_more_than_a_floor(config):
    """Check that the search above a floor returns the best tree if its score exceeds the floor, else None.

    A search that stops at its limit never proves that no tree exceeds the floor.
    """
    rng = np.random.default_rng(8)
    decoder = BranchAndBound(config, backbone="carreras")
    capped = BranchAndBound(config, backbone="carreras", max_dp_calls=2)
    above_floor = limited = 0
    for _ in range(60):
        problem = feasible(rng, kind="mixed")
        best = scores(problem).max()
        for floor in (-np.inf, best - 1, best, best + 1):
            parse, capped_parse = decoder.decode_above(problem, floor), capped.decode_above(problem, floor)
            assert (parse is None) == (best <= floor)
            assert parse is None or (parse.value == best and parse.certified)
            assert capped_parse is not None or best <= floor
            assert capped_parse is None or capped_parse.value <= best
            above_floor += parse is not None
            limited += capped_parse is not None and capped_parse.status == "limit"
    assert above_floor == 120
    assert limited > 10


def test_known_trees_change_no_margin():
    rng = np.random.default_rng(9)
    decoder = BranchAndBound()
    for _ in range(40):
        problem = feasible(rng)
        parse = decoder.decode(problem)
        known = kbest(decoder, problem, 4).parses
        assert np.array_equal(margins(decoder, problem, parse), margins(decoder, problem, parse, known), equal_nan=True)


def test_margins_are_the_losses_without_an_arc():
    rng = np.random.default_rng(1)
    decoder = BranchAndBound()
    for _ in range(60):
        problem = feasible(rng)
        parse = decoder.decode(problem)
        every, score = trees(problem.n, "projective", problem.single_root), scores(problem)
        margin = margins(decoder, problem, parse)
        assert np.isnan(margin[0])
        for m in range(1, problem.n + 1):
            without = score[every[:, m] != parse.heads[m]].max(initial=-np.inf)
            assert margin[m] == parse.value - without


def test_no_margin_without_a_certificate():
    rng = np.random.default_rng(2)
    decoder = BranchAndBound(backbone="carreras", max_dp_calls=1)
    problem = next(p for p in (feasible(rng, kind="mixed") for _ in range(100)) if not decoder.decode(p).certified)
    assert np.isnan(margins(decoder, problem, decoder.decode(problem))).all()


def expected(problem, space):
    """Return (log Z, arc probabilities) by enumeration, with scores as natural logarithms."""
    every, score = trees(problem.n, space, problem.single_root), scores(problem, space) / 100
    log_z = np.logaddexp.reduce(score)
    p = np.exp(score - log_z)
    return log_z, [p[every[:, m] == h].sum() for h, m in zip(problem.head, problem.mod, strict=True)]


def _scaled(problem, family):
    return problem.parts[family].score / 100 if family in problem.parts else EMPTY


@pytest.mark.parametrize("backbone", [name for name, b in BACKBONES.items() if b.space == "projective"])
def test_marginals_of_projective_trees(backbone):
    rng = np.random.default_rng(4)
    exact = [f for f in FAMILIES if f in BACKBONES[backbone].families]
    for _ in range(40):
        problem = random_problem(rng, exact, max_n=5, feasible=True)
        allowed = np.zeros((problem.n + 1, problem.n + 1), bool)
        allowed[problem.head, problem.mod] = True
        index = index_arcs(problem.n, allowed)
        parts = index_parts(index, problem.single_root)
        write = BACKBONES[backbone].graph
        graph = write(index, parts, chart_scores({f: _scaled(problem, f) for f in exact}), 10**9)
        items = len(graph.first)
        marginal = np.empty(problem.arcs + 1)
        log_z = log_inside_outside(graph, np.append(problem.arc / 100, 0.0), np.empty(items), np.empty(items), marginal)
        expected_log_z, expected_marginal = expected(problem, "projective")
        assert log_z == pytest.approx(expected_log_z)
        assert marginal[:-1] == pytest.approx(expected_marginal, abs=1e-9)
        assert sum(marginal[:-1]) == pytest.approx(problem.n)


def test_marginals_of_non_projective_trees():
    rng = np.random.default_rng(5)
    for _ in range(60):
        problem = random_problem(rng, (), max_n=5, space="non-projective", feasible=True, kind="mixed")
        log_z, marginal = matrix_tree_marginals(
            problem.n, problem.head, problem.mod, problem.arc / 100, problem.single_root
        )
        expected_log_z, expected_marginal = expected(problem, "non-projective")
        assert log_z == pytest.approx(expected_log_z)
        assert marginal == pytest.approx(expected_marginal, abs=1e-8)


def test_every_exact_decoder_gives_the_same_k_best():
    rng = np.random.default_rng(7)
    for _ in range(5):
        problem = feasible(rng, ())
        values = [
            [p.value for p in kbest(DECODERS[name](), problem, 4).parses] for name in ("eisner", "branch-and-bound")
        ]
        assert values[0] == values[1]
