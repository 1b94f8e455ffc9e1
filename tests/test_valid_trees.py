"""The best valid labelled tree against the enumeration of all labelled trees, under rules of every shape."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracles.score import scores as tree_scores
from oracles.trees import trees
from strategies import random_problem

from treebound.constraints.rows import Words
from treebound.constraints.ud.violations import Fact, Violation
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.valid_trees import LabelScores, ValidDecoder
from treebound.decoders.kbest import kbest, margins

NAMES = ("a", "b", "c", "d")
FAMILIES = ("grandchild", "sibling")


class Rule:
    """A rule with unknown causes, so that any label may cause a violation."""

    def causes(self, names):
        return frozenset(names)


class AtMostOne(Rule):
    """Rule about pairs of words: no head has two dependents with the label a."""

    id, level = "at-most-one-a", 3

    def violations(self, tree):
        words = [m for m in range(1, len(tree.heads)) if tree.labels[m] == "a"]
        for i, m in enumerate(words):
            for other in words[i + 1 :]:
                if tree.heads[m] == tree.heads[other]:
                    head, label = frozenset([int(tree.heads[m])]), frozenset("a")
                    yield Violation(self.id, (Fact(m, head, label), Fact(other, head, label)))

    def keeps(self, heads, labels):
        pairs = [(h, label) for h, label in zip(heads[1:], labels[1:], strict=True) if label == "a"]
        return len(set(pairs)) == len(pairs)


class Leaf(Rule):
    """Rule about dependents: a word with the label b only has dependents with the label b."""

    id, level = "leaf-b", 3

    def violations(self, tree):
        for m in range(1, len(tree.heads)):
            h = int(tree.heads[m])
            if h and tree.labels[h] == "b" and tree.labels[m] != "b":
                others = frozenset(NAMES) - {"b"}
                yield Violation(self.id, (Fact(h, None, frozenset("b")), Fact(m, frozenset([h]), others)))

    def keeps(self, heads, labels):
        return all(labels[h] != "b" or labels[m] == "b" for m, h in enumerate(heads) if m and h)


class Needs(Rule):
    """Rule about missing words: a word with the label c has a dependent with the label d."""

    id, level = "c-needs-d", 3

    def violations(self, tree):
        n = len(tree.heads) - 1
        for m in range(1, n + 1):
            if tree.labels[m] != "c":
                continue
            if not any(tree.heads[k] == m and tree.labels[k] == "d" for k in range(1, n + 1)):
                missing = [Fact(k, frozenset([m]), frozenset("d"), holds=False) for k in range(1, n + 1) if k != m]
                yield Violation(self.id, (Fact(m, None, frozenset("c")), *missing))

    def keeps(self, heads, labels):
        needing = [m for m in range(1, len(heads)) if labels[m] == "c"]
        return all(any(heads[k] == m and labels[k] == "d" for k in range(1, len(heads))) for m in needing)


class RootLabel(Rule):
    """Rule about single arcs: the label of the root's dependent is d."""

    id, level = "root-d", 2

    def violations(self, tree):
        for m in range(1, len(tree.heads)):
            if tree.heads[m] == 0 and tree.labels[m] != "d":
                yield Violation(self.id, (Fact(m, frozenset([0])), Fact(m, None, frozenset("d"), holds=False)))

    def keeps(self, heads, labels):
        return all(labels[m] == "d" for m in range(1, len(heads)) if heads[m] == 0)


class Impossible(Rule):
    """Rule that no tree satisfies."""

    id, level = "never", 3

    def violations(self, tree):
        yield Violation(self.id, (Fact(1),))

    def keeps(self, heads, labels):
        return False


RULES = {
    "pairs": [AtMostOne()],
    "leaves": [Leaf()],
    "missing": [Needs()],
    "arcs": [RootLabel()],
    "all": [AtMostOne(), Leaf(), Needs(), RootLabel()],
    "none": [Impossible()],
}


def random_scores(rng, space, kind="tied"):
    problem = random_problem(rng, FAMILIES, max_n=4, integer=True, kind=kind, space=space)
    labels = rng.integers(-6, 7, (problem.arcs, len(NAMES))).astype(float)
    labels[rng.random(labels.shape) < 0.15] = -np.inf
    table = problem.arc[:, None] + labels
    return LabelScores(problem, table, NAMES)


def every_value(scores, rules, space):
    """Return the best score of a valid labelling by tuple of heads, for all trees that have one, by enumeration."""
    problem, n = scores.problem, scores.problem.n
    arc_of = {(int(h), int(m)): a for a, (h, m) in enumerate(zip(problem.head, problem.mod, strict=True))}
    bare = problem.with_arc(np.zeros(problem.arcs))
    values = {}
    for heads, parts in zip(trees(n, space, problem.single_root), tree_scores(bare, space), strict=True):
        if parts == -np.inf:
            continue
        rows = scores.table[[arc_of[int(heads[m]), m] for m in range(1, n + 1)]]
        for labels in product(range(len(NAMES)), repeat=n):
            value = parts + rows[np.arange(n), labels].sum()
            names = ["", *(NAMES[i] for i in labels)]
            if value > -np.inf and all(rule.keeps(heads, names) for rule in rules):
                key = tuple(heads.tolist())
                values[key] = max(value, values.get(key, -np.inf))
    return values


def decoder(scores, rules, space, **options):
    words = Words.of(["w"] * scores.problem.n, ["X"] * scores.problem.n)
    return ValidDecoder(BranchAndBound(space=space), scores, words, rules, **options)


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
                assert values[tuple(parse.heads.tolist())] >= parse.value
        elif parse.status == "optimal":
            assert parse.value == max(values.values())
    assert statuses >= {"limit", "optimal"}


def test_a_tree_that_is_valid_already_costs_one_search():
    scores = random_scores(np.random.default_rng(1), "projective")
    parse = decoder(scores, [], "projective").decode(scores.problem)
    assert parse.work["regions"] == 1
