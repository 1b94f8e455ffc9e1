"""Invented rules about labelled trees, and the best valid labelling of every tree by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
from oracles.score import scores as tree_scores
from oracles.trees import trees
from strategies import random_problem

from treebound.constraints.rows import Words
from treebound.constraints.ud.violations import Fact, Violation
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.valid_trees import LabelScores, ValidDecoder

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


def random_scores(rng, space, kind="tied", families=FAMILIES, forbidden=0.15):
    """Return the scores of a random sentence; on average, the share `forbidden` of its labelled arcs is forbidden."""
    problem = random_problem(rng, families, max_n=4, integer=True, kind=kind, space=space)
    labels = rng.integers(-6, 7, (problem.arcs, len(NAMES))).astype(float)
    labels[rng.random(labels.shape) < forbidden] = -np.inf
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


def words_of(scores):
    """Return words without properties, which the invented rules do not read."""
    return Words.of(["w"] * scores.problem.n, ["X"] * scores.problem.n)


def decoder(scores, rules, space, **options):
    """Return a search for the best valid tree of a sentence."""
    return ValidDecoder(BranchAndBound(space=space), scores, words_of(scores), rules, **options)
