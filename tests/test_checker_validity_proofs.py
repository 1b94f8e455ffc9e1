"""Test proofs of the best valid tree: the checker accepts proofs of an exhaustive search and no false proof."""

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from strategies import build_problem
from valid_proofs import (
    ALL_RULES,
    CHEATS,
    SPACES,
    Case,
    build_proof,
    by_other_certificate,
    by_rule,
    changed_region,
    lower,
    random_case,
)

from treebound.checker.proofs import Writer, reading
from treebound.checker.validity import validity_faults
from treebound.checker.validity_proofs import (
    decoded_validity,
    encoded_validity,
    read_validity,
    validity_line,
)
from treebound.checker.validity_regions import LabelledSpace
from treebound.constraints.rows import Words
from treebound.core.errors import InputError
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import Problem
from treebound.core.validity import Region, Split, ValidityProof


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("tries", [20, pytest.param(500, marks=pytest.mark.long)])
def test_true_proofs_are_accepted_and_survive_a_file(space, tries):
    rng = np.random.default_rng(1)
    closed, infeasible = Counter(), 0
    for _ in range(tries):
        case = random_case(rng, space, valid=bool(rng.random() < 0.7))
        proof, parse = build_proof(case, case.best).proof, case.parse(case.best)
        assert case.faults(parse, proof) == []
        assert case.faults(parse, None) == []
        text = validity_line(case.labelled.problem, proof)
        reread = read_validity(case.labelled.problem, Path("proofs"), 2, text)
        assert case.faults(parse, reread) == []
        assert validity_line(case.labelled.problem, reread) == text
        infeasible += case.best is None
        closed.update(r.rule if r.rule else "bound" if r.bound else "empty" for r in proof.regions if r.split is None)
    assert infeasible > 0
    assert closed["bound"] > 10
    assert len(closed) > 8, closed


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("tries", [6, pytest.param(200, marks=pytest.mark.long)])
def test_a_proof_of_a_lower_bound_is_refused(space, tries):
    """Check that a proof is refused if it wrongly closes the region of a better valid tree.

    The claim is that a worse tree is the best, or that no valid tree exists.
    """
    rng = np.random.default_rng(2)
    refused = 0
    while refused < tries:
        case = random_case(rng, space, valid=True, max_n=3)
        worse = lower(case)
        if not worse:
            continue
        for cheat in CHEATS:
            tree = worse[int(rng.integers(len(worse)))]
            proof = build_proof(case, tree, cheat).proof
            assert case.faults(case.parse(tree), proof), cheat
            assert case.faults(case.parse(None), build_proof(case, None, cheat).proof), cheat
        refused += 1


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("tries", [6, pytest.param(300, marks=pytest.mark.long)])
def test_no_damaged_proof_proves_a_false_claim(space, tries):
    """Check that a damaged proof of a true claim never proves a false claim and never crashes the checker."""
    rng = np.random.default_rng(3)
    refused, accepted, total = Counter(), 0, 0
    while total < tries:
        case = random_case(rng, space, valid=True, max_n=3)
        worse = lower(case)
        if not worse:
            continue
        total += 1
        true = build_proof(case, case.best).proof
        tree = worse[int(rng.integers(len(worse)))]
        lie = case.parse(tree)
        honest = [true, build_proof(case, tree, by_other_certificate).proof, build_proof(case, tree, by_rule).proof]
        for _ in range(40):
            change, proof = changed_region(rng, honest[int(rng.integers(3))], case)
            assert case.faults(lie, proof), change
            assert case.faults(case.parse(None), proof), change
            refused[change] += 1
            accepted += case.faults(case.parse(case.best), proof) == []
    assert len(refused) == 16
    assert accepted < 0.6 * refused.total()


@pytest.mark.parametrize("space", SPACES)
def test_damage_to_the_division_is_always_found(space):
    """Check that a proof with malformed regions proves nothing, not even a true claim.

    Regions are dropped or doubled, have a single child, form a cycle, or have numbers out of range.
    """
    rng = np.random.default_rng(4)
    tried = 0
    while tried < 8:
        case = random_case(rng, space, valid=True, max_n=3)
        regions, parse = build_proof(case, case.best).proof.regions, case.parse(case.best)
        if len(regions) < 5:
            continue
        tried += 1
        last = len(regions) - 1
        split = next(i for i, r in enumerate(regions) if r.split)
        inside = next(i for i, r in enumerate(regions) if r.parent == split and r.inside)
        odd_split = [
            Split(0, frozenset()),
            Split(case.labelled.problem.n + 1, frozenset()),
            Split(1, frozenset({(0, 99)})),
            Split(1, iter([(0, 0)])),
        ]
        wrong = [
            [],
            regions[:-1],
            regions[1:],
            [*regions, regions[last]],
            [*regions, Region(last, True, rule="leaf-det")],
            [dataclasses.replace(r, inside=True) for r in regions],
            [dataclasses.replace(r, parent=i) if i == inside else r for i, r in enumerate(regions)],
            [dataclasses.replace(r, parent=last) if i == inside else r for i, r in enumerate(regions)],
            [dataclasses.replace(r, parent=10**20) if i == last else r for i, r in enumerate(regions)],
            [dataclasses.replace(r, rule="", bound=None) for r in regions],
            [dataclasses.replace(r, rule="no-rule", bound=None) for r in regions],
            *(
                [dataclasses.replace(regions[split], split=odd) if i == split else r for i, r in enumerate(regions)]
                for odd in odd_split
            ),
        ]
        for changed in wrong:
            assert case.faults(parse, ValidityProof(changed)), changed


def test_the_fault_of_a_region_says_what_is_wrong_with_its_split():
    case = random_case(np.random.default_rng(5), "projective", valid=True)
    n, parse = case.labelled.problem.n, case.parse(case.best)
    splits = {
        f"region 0 divides word 0 of {n}": Split(0, frozenset()),
        f"region 0 divides word 10000000000000000000 of {n}": Split(10**30, frozenset()),  # cut
        "region 0 names the pair (0, 99), which is out of range": Split(1, frozenset({(0, 99)})),
    }
    for fault, split in splits.items():
        assert case.faults(parse, ValidityProof([Region(-1, True, split=split)])) == [fault]


@pytest.mark.parametrize("space", SPACES)
def test_false_claims_about_the_tree_are_found(space):
    rng = np.random.default_rng(5)
    for _ in range(12):
        case = random_case(rng, space, valid=True)
        parse, proof, n = case.parse(case.best), build_proof(case, case.best).proof, case.labelled.problem.n
        wrong = [
            dataclasses.replace(parse, value=parse.value + 1),
            dataclasses.replace(parse, value=parse.value + 1, bound=parse.bound + 1),
            dataclasses.replace(parse, bound=parse.bound - 1),
            dataclasses.replace(parse, labels=None),
            dataclasses.replace(parse, labels=parse.labels[:-1]),
            dataclasses.replace(parse, labels=np.full(n + 1, -1)),
            dataclasses.replace(parse, labels=np.full(n + 1, 99)),
            dataclasses.replace(parse, heads=parse.heads[:-1]),
            dataclasses.replace(parse, heads=np.full(n + 1, 1)),
            dataclasses.replace(parse, heads=np.full(n + 1, 99)),
            dataclasses.replace(parse, status="infeasible"),
            case.parse(None),
        ]
        wrong += [case.parse(tree) for tree in case.trees[:50] if not tree[3]]  # trees that break a rule
        for lie in wrong:
            assert case.faults(lie, proof), lie
        for heads, labels in ((parse.heads, tree[2]) for tree in case.trees[:20] if tree[1] == parse.heads.tolist()):
            lie = dataclasses.replace(parse, heads=heads, labels=np.array(labels))
            same = [t for t in case.trees if t[1:] == (heads.tolist(), labels, True)]
            assert (case.faults(lie, proof) == []) == any(abs(t[0] - parse.value) < 1e-6 for t in same)
        assert case.faults(parse, proof, [*ALL_RULES, "no-rule"]) == ["unknown rule 'no-rule'"]
        assert validity_faults(
            case.labelled, Words.of(["x"] * (n + 1), ["X"] * (n + 1)), ALL_RULES, parse, proof, space
        )


def test_rules_that_are_not_selected_close_no_region():
    rng = np.random.default_rng(6)
    used = 0
    while used < 10:
        case = random_case(rng, "projective", valid=True)
        proof, parse = build_proof(case, case.best).proof, case.parse(case.best)
        for rule in {region.rule for region in proof.regions} - {""}:
            assert case.faults(parse, proof, [r for r in ALL_RULES if r != rule])
            used += 1


def test_a_rule_closes_a_region_only_in_the_space_of_the_claim():
    """Check that punctuation may depend on a word whose own arc is crossed, whatever such a word allows otherwise."""
    head = np.array([3, 0, 2, 1])  # the arc 3 -> 1 is not projective, because word 2 is not below word 3
    problem = Problem(4, head, np.arange(1, 5), np.zeros(4))
    label = np.arange(4, dtype=np.int32)[:, None]
    labelled = LabelledProblem(problem, label, np.zeros((4, 1)), ("goeswith", "root", "obj", "punct"))
    words = Words.of(["a", "b", "c", ","], ["X", "VERB", "NOUN", "PUNCT"])
    case = Case(labelled, words, "non-projective", [])
    rules, tree = ["leaf-goeswith"], case.parse((0.0, [-1, *head], [-1, 0, 1, 2, 3]))
    assert case.faults(tree, None, rules) == []
    proof = ValidityProof([Region(-1, True, rule="leaf-goeswith")])
    fault = ["region 0: its trees do not all provably break the rule leaf-goeswith"]
    assert case.faults(case.parse(None), proof, rules) == fault


def test_scores_of_labels_that_cannot_be_added_are_refused():
    rng = np.random.default_rng(7)
    case = random_case(rng, "projective", valid=True)
    proof, parse = build_proof(case, case.best).proof, case.parse(case.best)
    for factor in (1e40, 1 / 3 if case.unit else 1e40):
        score = case.labelled.score * factor
        case.labelled = dataclasses.replace(case.labelled, score=score)
        assert case.faults(parse, proof)


def test_every_arc_counts_toward_the_largest_sum_of_scores():
    problem = build_problem(4, np.random.default_rng(0), ())
    for size, is_exact in ((2.0**41, True), (2.0**43, False)):  # for 16 arcs, below and above 2**46
        score = np.full((problem.arcs, 1), size)
        labelled = LabelledProblem(problem, np.zeros(score.shape, np.int32), score, ("root",))
        assert (LabelledSpace(labelled).faults() == []) == is_exact


def test_damaged_lines_are_input_errors():
    rng = np.random.default_rng(8)
    refused = 0
    for _ in range(10):
        case = random_case(rng, "projective", valid=True)
        problem, proof = case.labelled.problem, build_proof(case, case.best).proof
        data = encoded_validity(problem, proof)
        for _ in range(40):
            damaged = json.loads(json.dumps(data))
            lists = [damaged["regions"], *damaged["regions"], *(r[3] for r in damaged["regions"])]
            lists += [row for region in damaged["regions"] for row in region[3]]
            chosen = lists[int(rng.integers(len(lists)))]
            odd = [None, -5, 10**30, 0.5, "1", True, [], {}, [[]], [99, 0]][int(rng.integers(10))]
            if chosen and rng.random() < 0.7:
                chosen[int(rng.integers(len(chosen)))] = odd
            else:
                damaged[str(rng.choice(sorted(damaged)))] = odd
            error = ""
            try:
                reread = read_validity(problem, Path("proofs"), 7, json.dumps(damaged).encode())
                case.faults(case.parse(case.best), reread)
            except InputError as reason:
                error = str(reason)
                refused += 1
            assert not error or (error.startswith("proofs:7: ") and "\n" not in error)
    assert refused > 200


def test_a_file_records_that_its_proofs_concern_valid_trees(tmp_path):
    case = random_case(np.random.default_rng(9), "projective", valid=True)
    problem, proof = case.labelled.problem, build_proof(case, case.best).proof
    path = tmp_path / "proofs"
    for valid in (None, "ud"):
        with path.open("wb") as file:
            writer = Writer(file, "projective", valid)
            writer.write(validity_line(problem, None))
            writer.write(validity_line(problem, proof))
        with reading(path) as stored:
            assert stored.valid == valid
            assert read_validity(problem, path, *stored.line()) is None
            assert case.faults(case.parse(case.best), read_validity(problem, path, *stored.line())) == []
            stored.finish()
    assert decoded_validity(problem, encoded_validity(problem, proof)).regions[0] is not None
    path.write_bytes(path.read_bytes().replace(b'"valid":"ud"', b'"valid":"xx"'))
    with pytest.raises(InputError, match="unknown rules"), reading(path):
        pass
