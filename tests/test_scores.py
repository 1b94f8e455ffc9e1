"""Users' scores against enumeration: all kinds of arguments, both spaces, one or several roots, and named faults."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from oracles import constraints as oracle
from oracles.score import best
from own_scores import random_scores, winners
from strategies import FAMILIES, random_problem, tries

import treebound
from treebound import constraints
from treebound.constraints.rows import Words
from treebound.core.errors import InputError, TreeboundError, UnsupportedError
from treebound.core.labelled import best_labels
from treebound.core.problem import Problem

SPACES = ("projective", "non-projective")
every_space = pytest.mark.parametrize("space", SPACES)
every_root = pytest.mark.parametrize("single_root", [True, False], ids=["one-root", "several"])


ARGUMENTS = [
    (),
    ("labels",),
    ("allowed",),
    ("adjacent_siblings",),
    ("siblings",),
    ("grandparents",),
    ("labels", "allowed", "adjacent_siblings", "siblings", "grandparents"),
]


@every_space
@every_root
@pytest.mark.parametrize("names", ARGUMENTS, ids="+".join)
@tries(12, 60)
def test_decode_finds_the_best_tree(names: tuple[str, ...], single_root: bool, space: str, tries: int) -> None:
    rng = np.random.default_rng(len(names) + 10 * single_root)
    infeasible = 0
    for case in range(tries):
        integer = case % 2 == 0
        scores = random_scores(rng, names, integer)
        best_first = winners(scores, space, single_root)
        if integer:  # -inf is not an integer, so the unit declares integer scores
            scores["unit"] = 1.0
        if not best_first:
            infeasible += 1
            with pytest.raises(InputError, match=r"arc.* admits? no tree"):
                treebound.decode(space=space, single_root=single_root, **scores)
            continue
        parse = treebound.decode(space=space, single_root=single_root, **scores)
        value = best_first[0][0]
        assert parse.status == "optimal", case
        assert parse.value == pytest.approx(value, rel=0, abs=0 if integer else 1e-9 * max(1, abs(value)))
        ties = {heads for tied, heads in best_first if tied >= value - 1e-9}
        assert tuple(parse.heads.tolist()) in ties
        if "labels" in names:
            for m in range(1, len(parse.heads)):
                assert parse.labels[m] == scores["labels"][parse.heads[m], m].argmax()
        made = treebound.problem(space=space, single_root=single_root, **scores)
        assert treebound.check(made, parse) == []
    assert infeasible < tries / 2


@every_space
@every_root
@tries(8, 30)
def test_sparse_tensors_are_dense_ones(single_root: bool, space: str, tries: int) -> None:
    rng = np.random.default_rng(3)
    names = ("adjacent_siblings", "siblings", "grandparents")
    for _ in range(tries):
        scores = random_scores(rng, names, False)
        n = len(scores["arc"]) - 1
        sparse: dict[str, Any] = {"arc": scores["arc"]}
        for name in names:
            keep = []
            for h, s, m in product(range(n + 1), range(n + 1), range(1, n + 1)):
                pair = 0 < h != m and s > 0 and s not in (h, m)
                near = h != m and (s == h or min(h, m) < s < max(h, m))
                chain = h not in (s, m) and 0 < s != m
                if {"adjacent_siblings": near, "siblings": pair and s < m, "grandparents": chain}[name]:
                    keep.append((h, s, m))
            places = np.array(keep, int).reshape(-1, 3)
            sparse[name] = places, scores[name][tuple(places.T)]
        dense_problem = treebound.problem(space=space, single_root=single_root, **scores)
        sparse_problem = treebound.problem(space=space, single_root=single_root, **sparse)
        for family, table in dense_problem.parts.items():
            assert np.array_equal(table.arcs, sparse_problem.parts[family].arcs)
            assert np.array_equal(table.score, sparse_problem.parts[family].score), family


def named(problem: Problem) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the parts of a problem as words instead of arc numbers."""
    out = {}
    for family, table in problem.parts.items():
        if family == "valency":
            out[family] = table.arcs, table.score
            continue
        ends = np.stack([problem.head, problem.mod], axis=1)
        filled = (table.arcs >= 0)[..., None]
        out[family] = np.where(filled, ends[np.maximum(table.arcs, 0)], table.arcs[..., None]), table.score
    return out


def matrix(problem: Problem) -> np.ndarray:
    arc = np.full((problem.n + 1, problem.n + 1), -np.inf)
    arc[problem.head, problem.mod] = problem.arc
    return arc


@every_space
@pytest.mark.parametrize("family", FAMILIES)
@tries(8, 20)
def test_parts_of_every_family_by_their_arcs(family: str, space: str, tries: int) -> None:
    for seed in range(tries):
        rng = np.random.default_rng(seed)
        random = random_problem(rng, [family], max_n=5, space=space, feasible=None if seed % 4 == 0 else True)
        value, _ = best(random, space)
        options = {"space": space, "single_root": random.single_root, "unit": random.unit}
        scores = {"parts": named(random), "allowed": matrix(random) > -np.inf}
        if value == -np.inf:
            with pytest.raises(InputError, match=r"admits? no tree"):
                treebound.decode(matrix(random), **scores, **options)
            continue
        parse = treebound.decode(matrix(random), **scores, **options)
        assert parse.status == "optimal"
        assert parse.value == pytest.approx(value, rel=0, abs=0 if random.unit else 1e-9 * max(1, abs(value))), seed
        assert treebound.check(random, parse, space=space) == []


@every_space
@every_root
@tries(5, 15)
def test_k_best_margins_and_marginals(single_root: bool, space: str, tries: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(tries):
        scores = random_scores(rng, ("siblings",), False)
        scores["arc"] = rng.normal(size=scores["arc"].shape)
        every = winners(scores, space, single_root)
        how = {"space": space, "single_root": single_root}
        parse = treebound.decode(**scores, k_best=4, margins=True, marginals=True, **how)
        sure = parse.confidence
        assert [t.value for t in sure.trees] == pytest.approx([v for v, _ in every[:4]])
        assert sure.complete == (len(every) >= 1)
        for m in range(1, len(parse.heads)):
            others = [v for v, heads in every if heads[m] != parse.heads[m]]
            assert sure.margins[m] == pytest.approx(parse.value - max(others) if others else np.inf)
        assert ((sure.marginals[1:] > 0) & (sure.marginals[1:] <= 1 + 1e-9)).all()
        made = treebound.problem(**scores, **how)
        assert treebound.check(made, parse) == []
    arc = rng.normal(size=(5, 5))
    parse = treebound.decode(arc, marginals=True, space=space, single_root=single_root)
    every = winners({"arc": arc}, space, single_root)
    weight = np.exp([v for v, _ in every])
    for m in range(1, 5):
        share = weight[[heads[m] == parse.heads[m] for _, heads in every]].sum() / weight.sum()
        assert parse.confidence.marginals[m] == pytest.approx(share)


@every_space
@pytest.mark.parametrize("workers", [1, 2])
def test_many_are_decoded_as_one(workers: int, space: str) -> None:
    rng = np.random.default_rng(5)
    sentences: list[Any] = []
    for case in range(150):
        n = int(rng.integers(1, 9))
        arc = rng.integers(-50, 50, (n + 1, n + 1)) if case % 3 else rng.normal(size=(n + 1, n + 1)).astype(np.float32)
        sentences.append(arc)
        if case % 5 == 0:
            sentences[-1] = {"arc": arc, "labels": rng.normal(size=(n + 1, n + 1, 3))}
        if case % 10 == 0:
            sentences[-1]["grandparents"] = rng.normal(size=[n + 1] * 3)
    parses = treebound.decode_all(sentences, workers=workers, space=space)
    assert len(parses) == len(sentences)
    for scores, parse in zip(sentences, parses, strict=True):
        single = treebound.decode(**(scores if isinstance(scores, dict) else {"arc": scores}), space=space)
        assert parse.heads.tolist() == single.heads.tolist()
        assert (parse.value, parse.bound, parse.status) == (single.value, single.bound, single.status)
        assert (parse.labels is None) == (single.labels is None)
        assert parse.labels is None or parse.labels.tolist() == single.labels.tolist()
    assert treebound.decode_all([]) == []
    batch = rng.normal(size=(3, 4, 4))
    assert [p.value for p in treebound.decode_all(batch)] == [treebound.decode(arc).value for arc in batch]


@every_space
@every_root
def test_the_arc_kernel_finds_the_tree_of_the_search(single_root: bool, space: str) -> None:
    """Longer sentences than enumeration allows have the same tree as branch and bound.

    An option of branch and bound forces a search.
    """
    rng = np.random.default_rng(7)
    for n in (10, 20, 40):
        for forbidden in (0.0, 0.5):
            arc = np.where(rng.random((n + 1, n + 1)) < forbidden, -np.inf, rng.normal(size=(n + 1, n + 1)))
            arc[np.arange(n), np.arange(1, n + 1)] = 0.0  # a chain is a tree in both spaces
            fast = treebound.decode(arc, space=space, single_root=single_root)
            slow = treebound.decode(arc, space=space, single_root=single_root, max_dp_calls=10**6)
            assert fast.value == pytest.approx(slow.value)
            assert fast.heads.tolist() == slow.heads.tolist()


def test_integers_stay_exact() -> None:
    arc = np.zeros((3, 3), np.int64)
    arc[0, 1], arc[1, 2], arc[0, 2], arc[2, 1] = 2**43 + 1, 2**43, 2**43, 2**43
    parse = treebound.decode(arc)
    assert parse.value == 2**44 + 1
    assert treebound.problem(arc).unit == 1.0
    assert treebound.problem(arc.astype(float)).unit == 0.0
    assert treebound.problem(arc, siblings=np.zeros((3, 3, 3))).unit == 0.0
    with pytest.raises(InputError, match=r"arc\[0, 2\] is 0.5; unit requires"):
        treebound.problem(np.array([[0, 1, 0.5], [0, 0, 1], [0, 1, 0]]), unit=1.0)
    with pytest.raises(InputError, match=r"grandparents.*unit requires"):
        treebound.problem(arc, grandparents=np.full((3, 3, 3), 0.5), unit=1.0)


def test_scores_of_very_different_sizes_are_not_called_proved() -> None:
    arc = np.ones((4, 4))
    arc[:, 1], arc[:, 2] = -1e15, 1e15  # every tree has one such arc, so they are not masks
    parse = treebound.decode(arc)
    assert parse.status == "gap"
    assert treebound.check(treebound.problem(arc), parse) == []


def test_check_finds_tampering() -> None:
    rng = np.random.default_rng(2)
    arc, siblings = rng.integers(-999, 999, (6, 6)), np.triu(rng.integers(-999, 999, (6, 6, 6)), 1)
    siblings[0] = 0
    made = treebound.problem(arc, siblings=siblings)
    parse = treebound.decode(arc, siblings=siblings, k_best=3, record=True)
    assert treebound.check(made, parse) == []
    second = parse.confidence.trees[1]
    assert second.value < parse.value
    worse = replace(parse, heads=second.heads, value=second.value, bound=second.value, confidence=None)
    tampered = [
        replace(parse, value=parse.value + 1),
        replace(parse, bound=parse.bound + 1),
        replace(parse, heads=second.heads),
        replace(parse, status="infeasible"),
        worse,
        replace(worse, record=None),
        replace(worse, record=None, status="gap"),
        replace(parse, confidence=replace(parse.confidence, trees=parse.confidence.trees[::-1])),
        replace(parse, confidence=replace(parse.confidence, trees=(parse.confidence.trees[0],) * 2)),
    ]
    for variant in tampered:
        assert treebound.check(made, variant), variant
    assert treebound.check(made, worse, prove=False) == [], "the tree and its score are right"
    variant = treebound.problem(arc + 1, siblings=siblings)
    assert treebound.check(variant, parse)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({"arc": np.zeros((3, 4))}, r"arc is float64\[3, 4\]; give \[n \+ 1, n \+ 1\]"),
        ({"arc": np.zeros((1, 1))}, "arc is"),
        ({"arc": np.zeros(3)}, "arc is"),
        ({"arc": [["a", "b"], ["c", "d"]]}, "arc is <U1"),
        ({"arc": [[0.0], [0.0, 1.0]]}, "arc: "),
        ({"arc": None}, "arc is None; give an array of numbers"),
        ({"arc": np.full((3, 3), np.nan)}, r"arc\[0, 1\] is nan"),
        ({"arc": np.full((3, 3), np.inf)}, r"arc\[0, 1\] is inf"),
        ({"arc": np.full((3, 3), 1e25)}, "arc and the scores of parts sum to"),
        ({"arc": np.full((3, 3), 2**60)}, "arc and the scores of parts sum to"),
        ({"labels": np.zeros((3, 3))}, r"labels is float64\[3, 3\]; give \[3, 3, L\]"),
        ({"labels": np.zeros((3, 3, 0))}, "labels is"),
        ({"labels": np.full((3, 3, 2), np.nan)}, r"labels\[0, 1, 0\] is nan"),
        ({"allowed": np.zeros((3, 3))}, r"allowed is float64\[3, 3\]; give bool"),
        ({"allowed": np.zeros((3, 3), bool)}, "allowed and arc admit no tree: every arc to word 1 is forbidden"),
        ({"arc": np.full((3, 3), -np.inf)}, "arc admits no tree: every arc to word 1 is forbidden"),
        ({"siblings": np.zeros((3, 3))}, "siblings is"),
        ({"grandparents": np.full((3, 3, 3), np.nan)}, r"grandparents\[0, 1, 2\] is nan"),
        ({"siblings": np.arange(27.0).reshape(3, 3, 3)}, None),
        ({"siblings": (np.array([[0, 1, 2]]), [1.0])}, r"siblings: part 0 is \[0, 1, 2\]"),
        ({"siblings": (np.array([[1, 2]]), [1.0])}, r"siblings\[0\] is int64\[1, 2\]"),
        ({"adjacent_siblings": (np.array([[1, 9, 2]]), [1.0])}, "adjacent_siblings: part 0"),
        ({"grandparents": (np.array([[0, 1, 1]]), [1.0])}, "grandparents: part 0"),
        ({"grandparents": (np.array([[0, 1, 2]]), [np.nan])}, r"grandparents\[1\]\[0\] is nan"),
        ({"grandparents": (np.array([[0, 1, 2]]), [1.0, 2.0])}, "grandparents is int64"),
        ({"parts": {"cousin": (np.zeros((1, 2, 2), int), [1.0])}}, "parts: unknown family 'cousin'"),
        ({"parts": {"sibling": (np.array([[[1, 1], [1, 2]]]), [1.0])}}, "part 0 names 1 -> 1, which is no arc of 2"),
        ({"parts": {"sibling": (np.array([[[0, 1], [1, 2]]]), [1.0])}}, "these arcs are not a part of family sibling"),
        ({"parts": {"sibling": (np.zeros((1, 2)), [1.0])}}, r"parts\['sibling'\]\[0\] is float64.*array of integers"),
        ({"parts": {"sibling": (np.zeros((1, 2), int), [1.0])}}, r"parts\['sibling'\]\[0\] is int64"),
        ({"parts": {"grandchild": (np.array([[[0, 1], [1, 2]]]), [np.inf])}}, r"parts\['grandchild'\].score"),
        ({"parts": {"sibling": np.zeros(3)}}, r"parts\['sibling'\] is a ndarray"),
        ({"parts": [1]}, "parts is a list"),
        (
            {"siblings": np.zeros((3, 3, 3)), "parts": {"sibling": (np.zeros((0, 2, 2), int), [])}},
            r"siblings and parts\['sibling'\] are both given",
        ),
        ({"space": "curved"}, "space = 'curved'; choose from projective, non-projective"),
        ({"k_best": 0}, "k_best = 0; give a number from 1"),
        ({"decoder": "oracle"}, "unknown decoder 'oracle'; choose from"),
        ({"decoder": "eisner", "space": "non-projective"}, "decoder 'eisner' does not search non-projective trees"),
        ({"decoder": "eisner", "siblings": np.zeros((3, 3, 3))}, "eisner does not score sibling; use branch-and-bound"),
        ({"turbo": True}, "branch-and-bound has no option 'turbo'; leave it out"),
        ({"constraints": "nl_alpino"}, "label_names are not given"),
        ({"constraints": "atlantis", "label_names": ["a"]}, "no constraints for corpus 'atlantis'"),
        ({"constraints": [], "label_names": ["a"]}, "labels scores None labels, label_names has 1"),
        ({"constraints": [], "label_names": ["a"], "labels": np.zeros((3, 3, 1))}, "words is a NoneType; give"),
    ],
)
def test_what_is_wrong_is_named(scores: dict[str, Any], reason: str | None) -> None:
    scores = {"arc": np.zeros((3, 3)), **scores}
    if reason is None:  # two words cannot be siblings below a third word, so the argument is ignored
        assert treebound.decode(**scores).status == "optimal"
        return
    with pytest.raises(TreeboundError, match=reason):
        treebound.decode(**scores)


def test_pairs_of_siblings_have_one_score() -> None:
    tensor = np.zeros((4, 4, 4))
    tensor[1, 2, 3], tensor[1, 3, 2] = 1.0, 2.0
    with pytest.raises(InputError, match=r"siblings\[1, 3, 2\] is 2.0, siblings\[1, 2, 3\] is 1.0; a pair has one"):
        treebound.decode(np.zeros((4, 4)), siblings=tensor)
    tensor[1, 3, 2] = 1.0
    tensor[0, 1, 2] = 1.0
    treebound.decode(np.zeros((4, 4)), siblings=tensor)
    with pytest.raises(InputError, match=r"siblings\[0\] has scores"):
        treebound.decode(np.zeros((4, 4)), siblings=tensor, single_root=False)


def test_a_sentence_with_a_fault_is_named() -> None:
    good, bad = np.zeros((3, 3)), np.full((3, 3), np.nan)
    with pytest.raises(InputError, match=r"sentence 2: arc\[0, 1\] is nan"):
        treebound.decode_all([good, good, bad])
    with pytest.raises(InputError, match=r"sentence 0: .*colour"):
        treebound.decode_all([{"arc": good, "colour": 1}])


UNIQUE = '[unique-labels]\nlabels = ["su"]\n'


@pytest.mark.parametrize("decoder", ["branch-and-bound", "incremental-ilp"])
def test_constraints_are_kept(decoder: str) -> None:
    names, words = ("su", "obj"), Words.of("abcd", "NVNN")

    def keeps(heads: list[int], labels: list[str]) -> bool:
        return oracle.unique_labels(words, heads, labels, {"su"})

    for seed in range(20):
        rng = np.random.default_rng(seed)
        arc, labels = rng.normal(size=(5, 5)), rng.normal([2.0, 0.0], size=(5, 5, 2))
        exact = decoder == "branch-and-bound"
        made = treebound.problem(arc, labels=labels, space="non-projective")
        both = (arc[:, :, None] + labels)[made.head, made.mod]
        labelled = best_labels(made, both, 1 if exact else 2, names)
        value, _ = oracle.best(labelled, keeps)
        how = {"constraints": constraints.parse(UNIQUE), "label_names": names, "words": words, "decoder": decoder}
        parse = treebound.decode(arc, labels=labels, space="non-projective", **how)
        assert parse.value == pytest.approx(value)
        assert keeps(parse.heads.tolist(), ["", *(names[i] for i in parse.labels[1:])])
    with pytest.raises(UnsupportedError, match="no margins and k best"):
        treebound.decode(arc, labels=labels, k_best=2, **how | {"decoder": "incremental-ilp"})
    with pytest.raises(InputError, match="words is 4 words; give"):
        treebound.decode(arc[:4, :4], labels=labels[:4, :4], **how)


def test_importing_treebound_imports_nothing_heavy() -> None:
    code = "import sys, treebound; dir(treebound); print(*{'numpy', 'numba', 'scipy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert set(treebound.__all__) <= set(dir(treebound))
    with pytest.raises(AttributeError, match="no attribute 'encode'"):
        treebound.encode  # noqa: B018


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_scores_of_parts_may_have_any_numeric_dtype(dtype: type) -> None:
    rng = np.random.default_rng(5)
    arc = rng.integers(-9, 9, (4, 4)).astype(dtype)
    tensor = np.triu(rng.integers(-9, 9, (4, 4, 4)), 1).astype(dtype)
    tensor[0] = 0
    some = tensor[1, 2, 3:4]
    for parts in (
        {"siblings": tensor},
        {"grandparents": tensor},
        {"adjacent_siblings": tensor},
        {"siblings": ([[1, 2, 3]], some)},
        {"grandparents": ([[1, 2, 3]], some)},
        {"parts": {"valency": ([[1, 2]], some)}},
        {"parts": {"sibling": ([[[1, 2], [1, 3]]], some)}},
    ):
        made = treebound.problem(arc, **parts)
        parse = treebound.decode(arc, **parts)
        assert parse.value == best(made)[0]
        assert treebound.check(made, parse) == []
