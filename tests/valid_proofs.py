"""Proofs of the best valid tree of small random sentences: honest, dishonest and damaged proofs."""

import dataclasses
import math
from functools import cache
from itertools import product

import numpy as np
from oracles.score import best, scores
from oracles.trees import trees
from strategies import FAMILIES, random_problem

from treebound.checker.ud_rules import RULES, broken_rules, surely_broken
from treebound.checker.ud_words import WordFacts
from treebound.checker.validity import validity_faults
from treebound.constraints.rows import Words
from treebound.core.labelled import NO_LABEL, LabelledProblem
from treebound.core.parse import Parse
from treebound.core.validity import Region, Split, ValidityProof
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate

SPACES = ("projective", "non-projective")


NAMES = ("nsubj", "root", "obj", "punct", "goeswith", "aux", "det", "conj")


ALL_RULES = tuple(RULES)


@dataclasses.dataclass
class Case:
    """A labelled problem of few words with all its labelled trees (score, heads, labels, valid), the best first."""

    labelled: LabelledProblem
    words: Words
    space: str
    trees: list

    @property
    def unit(self):
        return self.labelled.problem.unit

    def faults(self, parse, proof, rules=ALL_RULES):
        return validity_faults(self.labelled, self.words, rules, parse, proof, self.space)

    def parse(self, tree):
        """Return a parse that claims that `tree` is the best valid tree; None claims that no valid tree exists."""
        n = self.labelled.problem.n
        if tree is None:
            return Parse(np.array([-1] + [0] * n, np.int32), -math.inf, -math.inf, "infeasible")
        score, heads, labels = tree[:3]
        return Parse(np.array(heads, np.int32), score, score, "optimal", labels=np.array(labels, np.int32))

    @property
    def best(self):
        """Return the best valid tree, or None."""
        return next((tree for tree in self.trees if tree[3]), None)


def random_case(rng, space, valid=None, max_n=4):
    """Return a random case whose best tree is often invalid.

    `valid` True requires that a valid tree exists, False that none exists.
    """
    while True:
        families = [f for f in FAMILIES if rng.random() < 0.2]
        kind, integer = str(rng.choice(["dense", "mixed", "tied"])), bool(rng.random() < 0.7)
        inner = random_problem(rng, families, min_n=2, max_n=max_n, space=space, integer=integer, kind=kind)
        k = int(rng.integers(2, 5))
        names = rng.permutation(NAMES)[: k + 1].tolist()
        label = np.array([rng.permutation(k + 1)[:k] for _ in range(inner.arcs)], np.int32).reshape(-1, k)
        draw = rng.integers(-9, 10, label.shape) if inner.unit else rng.normal(0, 5, label.shape)
        none = rng.random(label.shape) < (0.7 if valid is False else 0.4)
        at_root = np.array([name == "root" for name in names])[label] == (inner.head == 0)[:, None]
        none |= ~at_root & (rng.random(label.shape) < 0.8)  # otherwise most proofs concern the label `root` only
        score = np.where(none, -np.inf, draw.astype(float))
        label = np.where(none & (rng.random(label.shape) < 0.5), NO_LABEL, label).astype(np.int32)
        tags = rng.choice(["NOUN", "VERB", "PUNCT", "X", "AUX", "DET"], inner.n).tolist()
        words = Words.of([f"w{m}" for m in range(inner.n)], tags)
        case = Case(LabelledProblem(inner, label, score, tuple(names)), words, space, [])
        case.trees = labelled_trees(case)
        if case.trees and len(case.trees) < 4000 and valid in (None, case.best is not None):
            return case


def labelled_trees(case):
    """Return all labelled trees, the best first."""
    labelled, inner, words = case.labelled, case.labelled.problem, WordFacts.read(case.words)
    unlabelled = inner.with_arc(np.zeros(inner.arcs))
    arcs = {arc: a for a, arc in enumerate(zip(inner.head.tolist(), inner.mod.tolist(), strict=True))}
    out = []
    parts = scores(unlabelled, case.space)
    for heads, part_score in zip(trees(inner.n, case.space, inner.single_root).tolist(), parts.tolist(), strict=True):
        numbers = [arcs.get((heads[m], m)) for m in range(1, inner.n + 1)]
        if None in numbers or part_score == -math.inf:
            continue
        slots = [np.flatnonzero(labelled.score[a] > -np.inf).tolist() for a in numbers]
        for chosen in product(*slots):
            labels = [-1, *(int(labelled.label[a, s]) for a, s in zip(numbers, chosen, strict=True))]
            score = part_score + sum(float(labelled.score[a, s]) for a, s in zip(numbers, chosen, strict=True))
            out.append((score, heads, labels))
    out.sort(key=lambda tree: -tree[0])

    @cache
    def valid(heads, labels):
        names = ["", *(labelled.names[label] for label in labels[1:])]
        return not broken_rules(ALL_RULES, words, heads, names, case.space == "projective")

    return [(*tree, valid(tuple(tree[1]), tuple(tree[2]))) for tree in out]


class Builder:
    """A proof that no valid tree of a case scores more than `bound`, by halving the (head, label) pairs of words.

    The function `cheat` wrongly closes a region that contains a better valid tree. Proofs of true claims need none.
    """

    def __init__(self, case, bound, cheat=None):
        self.case, self.bound, self.cheat = case, bound, cheat
        self.regions = []
        self.certificates = []
        labelled, inner = case.labelled, case.labelled.problem
        arc, slot = np.nonzero(labelled.score > -np.inf)
        pairs = zip(inner.mod[arc].tolist(), inner.head[arc].tolist(), labelled.label[arc, slot].tolist(), strict=True)
        domains = [set() for _ in range(inner.n + 1)]
        for m, h, label in pairs:
            domains[m].add((h, label))
        self.close(-1, True, domains)
        self.proof = ValidityProof(self.regions)

    def close(self, parent, inside, domains):
        index = len(self.regions)
        region = Region(parent, inside)
        self.regions.append(region)
        if all(domains[1:]):
            region = self.closed(region, domains)
        if region is None:
            word = max(range(1, len(domains)), key=lambda m: len(domains[m]))
            pairs = sorted(domains[word])
            if len(pairs) == 1:
                self.regions[index] = self.cheat(self, parent, inside, domains)
                return
            half = set(pairs[: len(pairs) // 2])
            self.regions[index] = Region(parent, inside, Split(word, frozenset(half)))
            self.close(index, True, [*domains[:word], half, *domains[word + 1 :]])
            self.close(index, False, [*domains[:word], domains[word] - half, *domains[word + 1 :]])
        else:
            self.regions[index] = region

    def closed(self, region, domains):
        """Return the region closed by a rule or a bound, or None if it must be split."""
        case = self.case
        named = [{(h, case.labelled.names[label]) for h, label in domain} for domain in domains]
        for rule in ALL_RULES:
            if surely_broken(rule, case.words, named, case.space):
                return dataclasses.replace(region, rule=rule)
        relaxed = self.relaxed(domains)
        if best(relaxed, case.space)[0] > self.bound + (0 if case.unit else 1e-9):
            return None
        return dataclasses.replace(region, bound=self.certified(relaxed))

    def certified(self, relaxed):
        record = BranchAndBound(space=self.case.space, record=True).decode(relaxed).record
        self.certificates.append(certificate(record))
        return self.certificates[-1]

    def relaxed(self, domains):
        labelled, inner = self.case.labelled, self.case.labelled.problem
        arc = [
            max(
                (
                    float(score)
                    for label, score in zip(labelled.label[a], labelled.score[a], strict=True)
                    if (int(inner.head[a]), int(label)) in domains[inner.mod[a]]
                ),
                default=-math.inf,
            )
            for a in range(inner.arcs)
        ]
        return inner.with_arc(np.array(arc))


def build_proof(case, tree, cheat=None):
    return Builder(case, -math.inf if tree is None else tree[0], cheat)


def lower(case):
    """Return the valid trees with lower scores than the best valid tree."""
    return [tree for tree in case.trees if tree[3] and tree[0] < case.best[0] - 1e-3]


def by_rule(builder, parent, inside, domains):
    return Region(parent, inside, rule=str(np.random.default_rng(len(builder.regions)).choice(ALL_RULES)))


def by_unknown_rule(builder, parent, inside, domains):
    return Region(parent, inside, rule="no-such-rule")


def by_nothing(builder, parent, inside, domains):
    return Region(parent, inside)


def by_other_certificate(builder, parent, inside, domains):
    if builder.certificates:
        return Region(parent, inside, bound=builder.certificates[-1])
    return Region(parent, inside)


def by_own_certificate(builder, parent, inside, domains):
    return Region(parent, inside, bound=builder.certified(builder.relaxed(domains)))


def by_missing_children(builder, parent, inside, domains):
    return Region(parent, inside, Split(1, frozenset(domains[1])))


def by_cycle(builder, parent, inside, domains):
    return Region(len(builder.regions), inside, Split(1, frozenset(domains[1])))


CHEATS = [by_rule, by_unknown_rule, by_nothing, by_other_certificate, by_own_certificate, by_missing_children, by_cycle]


CHANGES = [
    *("drop", "double", "parent", "inside", "swap", "word", "pairs", "pair"),
    *("rule", "bound", "split", "empty", "garbage", "number", "copy", "shuffle"),
]


def changed_region(rng, proof, case):
    """Return (change, proof): the name of a random change, and the proof after this change of one or a few regions."""
    regions = list(proof.regions)
    index = int(rng.integers(len(regions)))
    region = regions[index]
    second_region = regions[int(rng.integers(len(regions)))]
    n, names = case.labelled.problem.n, len(case.labelled.names)
    odd = [None, -2, -1, 0, 1, len(regions), 10**30, 0.5, "1", True, [], math.nan][int(rng.integers(12))]
    change = str(rng.choice(CHANGES))
    if change == "drop":
        del regions[index]
    elif change == "double":
        regions.insert(index, region)
    elif change == "parent":
        regions[index] = dataclasses.replace(
            region, parent=odd if rng.random() < 0.5 else int(rng.integers(-1, index + 2))
        )
    elif change == "inside":
        regions[index] = dataclasses.replace(region, inside=odd if rng.random() < 0.3 else not region.inside)
    elif change == "swap":
        regions = [dataclasses.replace(r, inside=not r.inside) if r.parent == region.parent else r for r in regions]
    elif change == "word" and region.split:
        word = odd if rng.random() < 0.3 else int(rng.integers(-1, n + 2))
        regions[index] = dataclasses.replace(region, split=Split(word, region.split.pairs))
    elif change == "pairs" and region.split:
        pairs = frozenset(p for p in product(range(n + 1), range(names)) if rng.random() < 0.5)
        regions[index] = dataclasses.replace(region, split=Split(region.split.word, pairs))
    elif change == "pair" and region.split:
        wrong = [(0, names), (n + 1, 0), (-1, 0), (0, -1), (0,), (0, 1, 2), 5, None, ("0", 1), (10**30, 0), (True, 0)]
        pairs = region.split.pairs | {wrong[int(rng.integers(len(wrong)))]}
        regions[index] = dataclasses.replace(region, split=Split(region.split.word, pairs))
    elif change == "rule":
        rule = str(rng.choice([*ALL_RULES, "", "nonsense"])) if rng.random() < 0.8 else odd
        regions[index] = dataclasses.replace(region, rule=rule)
    elif change == "bound":
        bound = second_region.bound if rng.random() < 0.7 else odd
        regions[index] = dataclasses.replace(region, bound=bound, rule="")
    elif change == "split":
        regions[index] = dataclasses.replace(region, split=second_region.split if rng.random() < 0.7 else odd)
    elif change == "empty":
        regions = regions[: int(rng.integers(2))]
    elif change == "garbage":
        regions[index] = odd
    elif change == "number":
        regions = odd
    elif change == "copy":
        regions[index] = dataclasses.replace(second_region, parent=region.parent)
    elif change == "shuffle":
        regions = [regions[i] for i in rng.permutation(len(regions))]
    return change, ValidityProof(regions)
