"""The best valid labelled tree against the enumeration of all labelled trees, under rules of every shape."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import build_problem
from valid_rules import NAMES, RULES, decoder, every_value, random_scores, words_of

from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.valid_trees import LabelScores, ValidDecoder
from treebound.decoders.kbest import kbest, margins


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("rules", RULES)
def test_the_best_valid_tree_is_that_of_the_enumeration(space, rules):
    rng = np.random.default_rng(len(rules))
    proved = infeasible = 0
    for _ in range(25):
        scores = random_scores(rng, space)
        values = every_value(scores, RULES[rules], space)
        parse = decoder(scores, RULES[rules], space).decode(scores.problem)
        if not values:
            assert parse.status == "infeasible"
            assert parse.value == -np.inf
            assert parse.labels is None
            infeasible += 1
            continue
        assert parse.status == "optimal"
        assert parse.value == parse.bound == max(values.values())
        assert values[tuple(parse.heads.tolist())] == parse.value
        labels = ["", *(NAMES[i] for i in parse.labels[1:])]
        assert all(rule.keeps(parse.heads, labels) for rule in RULES[rules])
        proved += 1
    assert (infeasible == 25) if rules == "none" else proved > 5


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_k_best_valid_trees_and_margins(space):
    rng = np.random.default_rng(7)
    for _ in range(15):
        scores = random_scores(rng, space)
        values = every_value(scores, RULES["all"], space)
        search = decoder(scores, RULES["all"], space)
        best = kbest(search, scores.problem, 4)
        assert best.complete
        assert [p.value for p in best.parses] == sorted(values.values(), reverse=True)[:4]
        if not values:
            continue
        parse = best.parses[0]
        for m, margin in enumerate(margins(search, scores.problem, parse)[1:], 1):
            others = [value for heads, value in values.items() if heads[m] != parse.heads[m]]
            assert margin == (parse.value - max(others) if others else np.inf)


def test_a_limit_is_reported_and_the_tree_is_valid():
    rng = np.random.default_rng(3)
    statuses = set()
    for _ in range(60):
        scores = random_scores(rng, "projective")
        values = every_value(scores, RULES["all"], "projective")
        parse = decoder(scores, RULES["all"], "projective", most_regions=2).decode(scores.problem)
        statuses.add(parse.status)
        if parse.status == "limit":
            assert parse.bound >= max(values.values(), default=-np.inf)
            if parse.value > -np.inf:
                assert values[tuple(parse.heads.tolist())] == parse.value
        elif parse.status == "optimal":
            assert parse.value == max(values.values())
    assert statuses >= {"limit", "optimal"}


def test_a_limit_bounds_all_regions():
    """Check searches that give up a region without a tree while regions with higher bounds are open.

    The first two seeds are such searches.
    """
    statuses = set()
    for seed in (2003, 2242, *range(60)):
        scores = random_scores(
            np.random.default_rng(seed), "non-projective", "mixed", ("comb", "sibling", "grandchild"), 0.6
        )
        values = every_value(scores, RULES["all"], "non-projective")
        parse = decoder(scores, RULES["all"], "non-projective", most_regions=1).decode(scores.problem)
        assert parse.bound >= max(values.values(), default=-np.inf), seed
        assert values.get(tuple(parse.heads.tolist()), -np.inf) == parse.value, seed
        statuses.add((parse.status, parse.value > -np.inf))
    assert statuses >= {("limit", True), ("limit", False), ("optimal", True)}


def test_a_search_above_a_floor_with_a_limit_proves_nothing_false():
    limited = 0
    for seed in range(60):
        space = ("projective", "non-projective")[seed % 2]
        scores = random_scores(np.random.default_rng(seed), space, "mixed")
        best = max(every_value(scores, RULES["all"], space).values(), default=-np.inf)
        search = ValidDecoder(
            BranchAndBound(space=space, max_dp_calls=1), scores, words_of(scores), RULES["all"], most_regions=2
        )
        for floor in (best - 1, best, -100.0):
            parse = search.decode_above(scores.problem, floor)
            assert parse is not None or best <= floor, seed
            limited += parse is not None and parse.status == "limit"
    assert limited > 10


def test_a_tree_that_is_valid_already_costs_one_search():
    scores = random_scores(np.random.default_rng(1), "projective")
    parse = decoder(scores, [], "projective").decode(scores.problem)
    assert parse.work["regions"] == 1


def test_a_decoder_that_keeps_no_records_gives_trees_without_a_proof():
    scores = random_scores(np.random.default_rng(1), "non-projective", families=(), forbidden=0.0)
    search = ValidDecoder(DECODERS["chu-liu-edmonds"](), scores, words_of(scores), RULES["leaves"])
    parse = search.decode(scores.problem)
    assert parse.value == max(every_value(scores, RULES["leaves"], "non-projective").values())
    assert parse.record is None


def test_a_search_that_reached_its_limit_dives_into_the_deepest_region() -> None:
    """Check a sentence whose words all prefer the same heads, although each head may have one dependent only.

    A valid tree is far below the root region. The regions with the highest bounds are near the root region; there are
    too many of them to come across a valid tree.
    """
    problem = build_problem(12, np.random.default_rng(0), (), space="non-projective")
    scores = LabelScores(problem, -problem.head[:, None].astype(float), ("a",))
    search = ValidDecoder(DECODERS["chu-liu-edmonds"](), scores, words_of(scores), RULES["pairs"], most_regions=1)
    parse = search.decode(problem)
    assert parse.status == "limit"
    assert sorted(parse.heads[1:]) == list(range(12))
    assert parse.value == -sum(range(12)) <= parse.bound
