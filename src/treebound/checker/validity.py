"""Check independently that a labelled tree is the best valid one: its score, its validity, and the proof of optimality.

A proof (`core.validity`) divides the labelled trees into regions. A region is closed in one of three ways: all its
trees break a rule (`ud_rules`), a word has no arc left, or a certificate bounds the trees of its relaxation
(`certificates`). The code shares nothing with the search or with the search's implementation of the rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebound.checker.certificates import certificate_faults, check_parse, claim_faults, tree_faults
from treebound.checker.ud_domains import Domains
from treebound.checker.ud_rules import RULES, broken_rules
from treebound.checker.ud_words import Sentence, WordFacts
from treebound.checker.validity_regions import Choices, LabelledSpace
from treebound.core.labelled import LabelledProblem
from treebound.core.parse import Parse
from treebound.core.spaces import Space
from treebound.core.validity import Region, ValidityProof

__all__ = ["validity_faults"]

#: errors that reading a damaged proof may raise; each is reported as a fault
DAMAGE = (ValueError, TypeError, AttributeError, IndexError, KeyError, OverflowError)


def validity_faults(
    labelled: LabelledProblem,
    sentence: Sentence,
    rules: Sequence[str],
    parse: Parse,
    proof: ValidityProof | None,
    space: Space = "projective",
) -> list[str]:
    """Return the faults of the claim that a labelled tree is the best valid one; an empty list if there are none.

    The checks are: score, bound and status agree, the tree belongs to the space, its labels and its score agree with
    the problem, and it breaks no rule. With a proof, the bound is checked, too: no labelled tree that keeps all rules
    scores more than `parse.bound`, and none exists if the status is `infeasible`.

    Parameters
    ----------
    labelled
        The problem with all labels of every arc: `score[a, slot]` is the score of arc a under `label[a, slot]`.
        `labelled.problem.arc` is not read.
    sentence
        Columns of the sentence, with n + 1 entries.
    rules
        The rules that a tree must keep; ids of `ud_rules.RULES`.
    parse
        The tree with heads int32[n + 1], labels int32[n + 1], value, bound and status.
    proof
        The regions of the search, or None.
    space
        The set of trees: projective or non-projective.

    Returns
    -------
    list of str
        One sentence for each fault.

    Raises
    ------
    TooLargeError
        If the sentence is too large to be checked.

    Notes
    -----
    The cost is a check of every certificate in the proof, plus O(labelled arcs) for every region.
    """
    statement, faults = _statement(labelled, sentence, rules, space)
    if statement is None:
        return faults
    faults = _tree_faults(statement, parse)
    if faults or proof is None:
        return faults
    if not parse.bound < math.inf:
        return [f"the bound {parse.bound} claims nothing that could be proved"]
    try:
        return _shape_faults(statement, proof.regions) or _region_faults(statement, proof.regions, parse.bound)
    except DAMAGE as error:
        return [f"the proof is damaged: {str(error)[:100]}"]


@dataclass(frozen=True)
class _Statement:
    """The problem of a claim: labelled trees, facts about the words, rules, and the space of the trees."""

    trees: LabelledSpace
    words: WordFacts
    rules: tuple[str, ...]
    space: Space

    @property
    def projective(self) -> bool:
        """Return whether the trees must be projective."""
        return self.space == "projective"


def _statement(
    labelled: LabelledProblem, sentence: Sentence, rules: Sequence[str], space: Space
) -> tuple[_Statement | None, list[str]]:
    """Return (the problem that a claim is about, or None if it is malformed; its faults)."""
    unknown = [f"unknown rule {str(rule)[:40]!r}" for rule in rules if rule not in RULES]
    if unknown:
        return None, unknown
    try:
        words = WordFacts.read(sentence)
    except DAMAGE as error:
        return None, [str(error)]
    n = labelled.problem.n
    if words.n != n:
        return None, [f"the sentence has {words.n} words, the problem has {n}"]
    trees = LabelledSpace(labelled)
    faults = trees.faults()
    return (None, faults) if faults else (_Statement(trees, words, tuple(rules), space), [])


def _tree_faults(statement: _Statement, parse: Parse) -> list[str]:
    """Return the faults of a tree: of its labels, its score, and the claims about it."""
    trees, inner = statement.trees, statement.trees.inner
    faults = claim_faults(parse)
    if faults:
        return faults
    if parse.value == -math.inf:
        return check_parse(trees.relaxed(trees.whole), parse, None, statement.space)
    faults = tree_faults(parse.heads, inner.n, statement.space, inner.single_root)
    if faults:
        return faults
    heads = [int(h) for h in parse.heads]
    if parse.labels is None or len(parse.labels) != inner.n + 1:
        size = "no" if parse.labels is None else len(parse.labels)
        return [f"{size} labels for a sentence of {inner.n} words (expected n + 1, the root first)"]
    labels = [int(label) for label in parse.labels]
    faults = trees.label_faults(heads, labels)
    faults = faults or check_parse(trees.scored(heads, labels), parse, None, statement.space)
    if faults:
        return faults
    names = ["", *(trees.names[label] for label in labels[1:])]
    broken = broken_rules(statement.rules, statement.words, heads, names, statement.projective)
    return [f"the tree breaks the rule {rule}" for rule in broken]


def _shape_faults(statement: _Statement, regions: Sequence[Region]) -> list[str]:
    """Return the reasons why the regions do not form a binary tree of splits; an empty list if they do."""
    if not regions:
        return ["the proof is empty"]
    sides: list[list[bool]] = [[] for _ in regions]
    for i, region in enumerate(regions):
        if not isinstance(region.parent, int | np.integer) or isinstance(region.parent, bool):
            return [f"region {i} has the parent {str(region.parent)[:20]}, which is not an integer"]
        if i == 0:
            if region.parent != -1:
                return ["the first region is not the root of the division"]
        elif not 0 <= region.parent < i:
            return [f"region {i} has the parent {region.parent}, which does not come before it"]
        elif not isinstance(region.inside, bool | np.bool_):
            return [f"region {i} is on the unknown side {str(region.inside)[:20]} of a split"]
        else:
            sides[region.parent].append(bool(region.inside))
        if region.split is not None:
            fault = statement.trees.split_faults(region.split)
            if fault:
                return [f"region {i} {fault[0]}"]
    faults = []
    for i, (region, side) in enumerate(zip(regions, sides, strict=True)):
        if region.split is None and side:
            faults.append(f"region {i} is not divided and has {len(side)} children")
        elif region.split is not None and sorted(side) != [False, True]:
            faults.append(f"region {i} is divided and does not have one child on each side")
    return faults


def _region_faults(statement: _Statement, regions: Sequence[Region], bound: float) -> list[str]:
    """Return one sentence for each region that nothing closes. `_shape_faults` must have found no fault before."""
    waiting = Counter(region.parent for region in regions)
    choices: dict[int, list[Choices]] = {}
    faults = []
    for i, region in enumerate(regions):
        allowed = list(statement.trees.whole)
        if i > 0:
            split = regions[region.parent].split
            assert split is not None
            allowed = statement.trees.divided(choices[region.parent], split, bool(region.inside))
            waiting[region.parent] -= 1
            if not waiting[region.parent]:
                del choices[region.parent]
        if region.split is not None:
            choices[i] = allowed
            continue
        try:
            faults += [f"region {i}: {fault}" for fault in _closing_faults(statement, allowed, region, bound)]
        except DAMAGE as error:
            faults.append(f"region {i} is damaged: {str(error)[:100]}")
    return faults


def _closing_faults(statement: _Statement, allowed: list[Choices], region: Region, bound: float) -> list[str]:
    """Return the reasons why a region may hold a valid tree above the bound; an empty list if it is closed."""
    if any(word.empty for word in allowed[1:]):
        return []
    if region.rule != "":
        if region.rule not in statement.rules:
            return [f"{str(region.rule)[:40]!r} is not one of the rules"]
        domains = Domains([(), *(word.pairs for word in allowed[1:])])
        broken = RULES[region.rule](statement.words, domains, statement.projective)
        return [] if broken else [f"its trees do not all provably break the rule {region.rule}"]
    if region.bound is None:
        return ["neither a rule nor a bound closes it"]
    return certificate_faults(statement.trees.relaxed(allowed), bound, region.bound, statement.space)
