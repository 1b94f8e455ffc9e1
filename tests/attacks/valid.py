"""The best valid trees: the decoder against enumeration, with the rules of the checker as the judge."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import valid_rules
from strategies import FAMILIES, random_problem
from ud_columns import LABELS, columns, random_family
from valid_proofs import Case, labelled_trees

import treebound
from treebound.checker.ud_rules import RULES, broken_rules
from treebound.checker.ud_words import WordFacts
from treebound.checker.validity_proofs import decoded_validity, encoded_validity
from treebound.constraints.ud import RULES as SEARCHED
from treebound.constraints.ud import LabelledTree, load, violations
from treebound.core.labelled import best_labels
from treebound.core.parse import Parse
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.valid_trees import LabelScores, ValidDecoder
from treebound.decoders.kbest import kbest, margins

SPACES = ("projective", "non-projective")
MOST_TREES = 3000  #: number of labelled trees that are enumerated
ALL_RULES = tuple(rule for rule in SEARCHED if rule in RULES)


def random_case(rng: np.random.Generator, space: str) -> tuple[Case, LabelScores, tuple[str, ...]]:
    """Return (sentence with all its labelled trees, the same as scores of a decoder, ids of the rules to keep)."""
    while True:
        labels, tags = random_family(rng)
        families = [f for f in FAMILIES if rng.random() < 0.15]
        inner = random_problem(rng, families, min_n=2, max_n=4, space=space, single_root=bool(rng.random() < 0.9))
        extra = rng.choice(LABELS, 2).tolist() if rng.random() < 0.3 else []
        names = tuple(dict.fromkeys(rng.permutation([*labels, *extra])[: int(rng.integers(2, 6))].tolist()))
        names = names if "root" in names or rng.random() < 0.2 else (*names, "root")
        draw = (
            rng.integers(-9, 10, (inner.arcs, len(names))) if inner.unit else rng.normal(0, 5, (inner.arcs, len(names)))
        )
        none = rng.random(draw.shape) < rng.choice([0.2, 0.5, 0.7])
        at_root = np.array([name == "root" for name in names])[None, :] == (inner.head == 0)[:, None]
        none |= ~at_root & (rng.random(draw.shape) < 0.8)
        table = np.where(none, -np.inf, inner.arc[:, None] + draw)
        words = columns(rng, inner.n, tags)
        labelled = best_labels(inner, table, len(names), names)
        slots = (table > -np.inf).sum(axis=1)
        into = [slots[inner.mod == m].sum() for m in range(1, inner.n + 1)]
        if 0 in into or np.prod(np.array(into, float)) > MOST_TREES:
            continue
        case = Case(labelled, words, space, [])
        case.trees = labelled_trees(case)
        rules = ALL_RULES if rng.random() < 0.6 else tuple(r for r in ALL_RULES if rng.random() < 0.5)
        return case, LabelScores(inner, table, names), rules


def slack_of(case: Case) -> float:
    """Return the error that a difference of two scores may have."""
    return 0.0 if case.unit else 1e-12 * max(1e4, case.labelled.problem.total)


def keeps(case: Case, rules: tuple[str, ...], heads: list[int], labels: list[int]) -> bool:
    """Return whether a labelled tree keeps the rules, by the rules of the checker."""
    names = ["", *(case.labelled.names[label] for label in labels[1:])]
    return not broken_rules(rules, WordFacts.read(case.words), heads, names, case.space == "projective")


def check_rules(case: Case, rules: tuple[str, ...], note: str) -> None:
    """Check that the rules of the search and the rules of the checker judge all labelled trees alike."""
    facts = WordFacts.read(case.words)
    for _, heads, labels, _ in case.trees[:: max(1, len(case.trees) // 40)]:
        names = ["", *(case.labelled.names[label] for label in labels[1:])]
        tree = LabelledTree(case.words, np.array(heads, np.int32), tuple(names), case.labelled.names, case.space)
        searched = {violation.rule for violation in violations([SEARCHED[rule] for rule in rules], tree)}
        checked = set(broken_rules(rules, facts, heads, names, case.space == "projective"))
        assert searched == checked, f"{note}: {heads} {names}: {searched ^ checked}"


def check_parse(case: Case, rules: tuple[str, ...], parse: Parse, valid: list, note: str) -> None:
    """Check the best valid tree and its proof; `valid` are all valid trees, the best first."""
    slack = slack_of(case)
    if not valid:
        assert parse.status == "infeasible", note
        assert parse.labels is None, note
    else:
        assert parse.status == "optimal", note
        assert abs(parse.value - valid[0][0]) <= slack, f"{note}, best {valid[0][:3]}"
        assert abs(parse.bound - parse.value) <= slack, note
        own = [t for t in valid if t[1] == parse.heads.tolist() and t[2][1:] == parse.labels[1:].tolist()]
        assert len(own) == 1, f"{note}: its tree is not valid"
    proof = parse.record.proof
    parts = case.labelled.problem.parts.values()
    if any(np.isneginf(table.score).any() for table in parts):
        return  # if parts forbid every tree of a region, some searches of the region end without a proof
    faults = case.faults(parse, proof, rules)
    assert not faults, f"{note}: {faults}"
    problem = case.labelled.problem
    assert not case.faults(parse, decoded_validity(problem, encoded_validity(problem, proof)), rules), note
    step = 1.0 if case.unit else 1e-4 * max(1.0, abs(parse.bound))
    if valid:
        lie = replace(case.parse(None), bound=parse.bound - step, status="limit")
        assert case.faults(lie, proof, rules), f"{note}: a lower bound is accepted"


def check_lists(case: Case, search: ValidDecoder, parse: Parse, valid: list, k: int, note: str) -> None:
    """Check the k best valid trees and the margins."""
    slack = slack_of(case)
    values: dict[tuple[int, ...], float] = {}
    for score, heads, *_ in valid:
        values.setdefault(tuple(heads), score)
    best = kbest(search, case.labelled.problem, k)
    top = sorted(values.values(), reverse=True)[:k]
    listed = [p.value for p in best.parses]
    assert best.complete, note
    assert len(listed) == len(top), f"{note}: {listed} and not {top}"
    assert np.abs(np.array(listed) - top).max(initial=0.0) <= slack, f"{note}: {listed} and not {top}"
    if not valid:
        return
    margin = margins(search, case.labelled.problem, parse)
    for m in range(1, case.labelled.problem.n + 1):
        others = [value for heads, value in values.items() if heads[m] != parse.heads[m]]
        right = parse.value - max(others, default=-np.inf)
        assert margin[m] == right or abs(margin[m] - right) <= slack, f"{note}: margin {margin[m]} of {m}, not {right}"


def check_limit(search: ValidDecoder, case: Case, valid: list, rng: np.random.Generator, note: str) -> None:
    """Check that a search with a limit claims nothing that is false, also above a floor and in a list."""
    parse = search.decode(case.labelled.problem)
    slack = slack_of(case)
    best = valid[0][0] if valid else -np.inf
    note = f"{note}, limited: {parse.value} <= {parse.bound}, {parse.status}, best {best}"
    assert parse.bound >= best - slack, note
    assert parse.value <= best + slack, note
    assert parse.status != "infeasible" or not valid, note
    assert parse.status != "optimal" or abs(parse.value - best) <= slack, note
    if parse.labels is not None:
        own = [t for t in valid if t[1] == parse.heads.tolist()]
        assert any(t[2][1:] == parse.labels[1:].tolist() for t in own), f"{note}: its labels break a rule"
        assert abs(parse.value - own[0][0]) <= slack, f"{note}: its best valid labels score {own[0][0]}"
    floor = float(rng.choice([best - 1, best + 1, 0.0, *(t[0] - 0.5 for t in valid[:9])])) if valid else 0.0
    above = search.decode_above(case.labelled.problem, floor)
    assert above is not None or best <= floor + slack, f"{note}: nothing above {floor}"
    listed = kbest(search, case.labelled.problem, 3)
    if listed.complete:
        scores = {tuple(heads): score for score, heads, *_ in reversed(valid)}
        top = sorted(scores.values(), reverse=True)[:3]
        values = [p.value for p in listed.parses]
        assert len(values) == len(top), f"{note}: {values}, not {top}"
        assert np.abs(np.array(values) - top).max(initial=0.0) <= slack, f"{note}: {values}, not {top}"


def rules_case(rng: np.random.Generator) -> list[str]:
    """Check a random sentence under rules of Universal Dependencies."""
    space = str(rng.choice(SPACES))
    case, scores, rules = random_case(rng, space)
    valid = [tree for tree in case.trees if keeps(case, rules, tree[1], tree[2])]
    options = {"space": space, "record": True, "stars": int(rng.choice([0, 8]))}
    selected = [SEARCHED[rule] for rule in rules]
    search = ValidDecoder(BranchAndBound(**options), scores, case.words, selected)
    parse = search.decode(scores.problem)
    note = f"{space}, n {scores.problem.n}, {scores.names}, {case.words.word_class}: {parse.value} {parse.status}"
    check_rules(case, rules, note)
    check_parse(case, rules, parse, valid, note)
    check_lists(case, search, parse, valid, int(rng.integers(1, 6)), note)
    calls = BranchAndBound(**options, max_dp_calls=int(rng.choice([0, 1, 2])))
    limited = ValidDecoder(calls, scores, case.words, selected, int(rng.integers(1, 4)))
    check_limit(limited, case, valid, rng, note)
    changed = "valid already" if parse.work["regions"] == 1 else "searched"
    return [f"{space}: {parse.status}, {changed}", f"n {scores.problem.n}"]


def invented_case(rng: np.random.Generator) -> list[str]:
    """Check a random sentence under invented rules of every shape."""
    space, name = str(rng.choice(SPACES)), str(rng.choice(list(valid_rules.RULES)))
    rules = valid_rules.RULES[name]
    scores = valid_rules.random_scores(rng, space, str(rng.choice(["dense", "sparse", "tied", "mixed", "large"])))
    values = valid_rules.every_value(scores, rules, space)
    parse = valid_rules.decoder(scores, rules, space).decode(scores.problem)
    best = max(values.values(), default=-np.inf)
    note = f"{name}, {space}: {parse.value} {parse.status} {parse.heads}, best {best}"
    assert parse.status == ("optimal" if values else "infeasible"), note
    assert parse.value == best, note
    assert not values or values[tuple(parse.heads.tolist())] == best, note
    return [f"invented rules {name}, {space}: {parse.status}"]


def public_case(rng: np.random.Generator) -> list[str]:
    """Check `treebound.decode` with validator rules against enumeration."""
    space = str(rng.choice(SPACES))
    case, scores, _ = random_case(rng, space)
    inner = scores.problem
    if inner.parts or (scores.table.max(axis=1) == -np.inf).all():
        return ["public, with parts"]
    n, labels = inner.n, np.full((inner.n + 1, inner.n + 1, len(scores.names)), -np.inf)
    labels[inner.head, inner.mod] = scores.table
    how = {"label_names": scores.names, "words": case.words, "valid": "ud-warnings", "space": space}
    valid = [tree for tree in case.trees if keeps(case, load("ud-warnings").ids, tree[1], tree[2])]
    parse = None
    with suppress(treebound.InputError):  # there is no valid tree
        parse = treebound.decode(np.zeros((n + 1, n + 1)), labels=labels, single_root=inner.single_root, **how)
    assert (parse is None) == (not valid), f"{parse} {valid[:1]}"
    if parse is None:
        return [f"public, {space}: no tree"]
    assert abs(parse.value - valid[0][0]) <= slack_of(case), f"{parse.value}, not {valid[0][0]}"
    return [f"public, {space}: {parse.status}"]


def case(seed: int) -> list[str]:
    """Check the best valid tree of one random sentence."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(3, p=[0.75, 0.1, 0.15])
    return (rules_case, invented_case, public_case)[chosen](rng)


def cases(folder: Path) -> Callable[[int], list[str]]:
    """Return the function `case`, which needs no folder."""
    return case
