"""Test beam search on given scores: a beam that holds all hypotheses is exact, a beam of width 1 is greedy."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import build_problem, random_problem, tries

from treebound.decoders.approximate.beam import BeamSearch
from treebound.factors import FAMILIES

ALL = tuple(family for family in FAMILIES if family != "arc")


@pytest.mark.parametrize("single_root", [True, False])
@tries(8, 60)
def test_a_beam_that_holds_all_sequences_finds_the_best_tree(single_root, tries):
    rng = np.random.default_rng(9)
    for _ in range(tries):
        problem = random_problem(rng, ALL, max_n=4, single_root=single_root, integer=True, feasible=True)
        parse = BeamSearch(20_000).decode(problem)
        assert parse.value == scores(problem, "projective").max()
        assert parse.work["dead_ends"] == 0


def test_a_beam_loses_trees_and_wider_ones_lose_fewer():
    rng = np.random.default_rng(3)
    problems = [build_problem(6, rng, ALL) for _ in range(12)]
    values = [sum(BeamSearch(w).decode(p).value for p in problems) for w in (1, 8, 64)]
    best = sum(scores(p, "projective").max() for p in problems)
    assert values[0] < values[1] <= values[2] <= best


def test_if_no_sequence_ends_in_a_tree_the_best_tree_of_the_arcs_is_taken():
    """Check that the beam returns the best tree by arc scores if none of its sequences ends in a tree.

    A sequence ends without a tree if a word's only candidate head has been closed before.
    """
    dead = 0
    for seed in range(30):
        problem = random_problem(np.random.default_rng(seed), ("sibling",), min_n=5, max_n=5, feasible=True)
        parse = BeamSearch(1).decode(problem)
        same_tree = (trees(problem.n, "projective", problem.single_root) == parse.heads).all(axis=1)
        assert parse.value == pytest.approx(scores(problem, "projective")[same_tree][0])
        if parse.work["dead_ends"]:
            arcs_alone = scores(problem.rescored(problem.arc, {}), "projective")
            assert arcs_alone[same_tree][0] == pytest.approx(arcs_alone.max())
            dead += 1
    assert dead
