"""Finite scores that stand for "forbidden" give the same answers as -inf, by enumeration of all trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from masked_scores import MASKS, SCORES, random_masked, with_masks
from oracles.trees import trees
from own_scores import winners
from strategies import tries

import treebound
from treebound.constraints import parse as parse_constraints
from treebound.constraints.rows import Words
from treebound.core.errors import InputError

SPACES = ("projective", "non-projective")
every_space = pytest.mark.parametrize("space", SPACES)
every_root = pytest.mark.parametrize("single_root", [True, False], ids=["one-root", "several"])

pytestmark = pytest.mark.filterwarnings("error")


ARGUMENTS = [(), ("labels",), ("siblings",), ("grandparents",), ("labels", "adjacent_siblings", "grandparents")]


@every_space
@every_root
@pytest.mark.parametrize("names", ARGUMENTS, ids="+".join)
@tries(12, 100)
def test_masks_are_as_if_they_were_infinite(names: tuple[str, ...], single_root: bool, space: str, tries: int) -> None:
    rng = np.random.default_rng(len(names) + 7 * single_root)
    how: dict[str, Any] = {"space": space, "single_root": single_root}
    more = {"k_best": 4, "margins": True, "marginals": True}
    feasible = 0
    for case in range(tries):
        scores, masked = random_masked(rng, names)
        mask = MASKS[case % len(MASKS)]
        infinite, finite = with_masks(scores, masked, -np.inf), with_masks(scores, masked, mask)
        finite["arc"][:, 0] = rng.choice([np.nan, np.inf, -1e308, 1e308])  # no arcs
        np.fill_diagonal(finite["arc"], rng.choice([np.nan, np.inf, -1e308, 1e308]))
        best_first = winners(infinite, space, single_root)
        if not best_first:
            continue
        feasible += 1
        parse = treebound.decode(**finite, **how)
        assert parse.status == "optimal", (case, mask)
        assert parse.value == pytest.approx(best_first[0][0], rel=1e-9, abs=1e-9)
        right = treebound.decode(**infinite, **how)
        assert parse.heads.tolist() == right.heads.tolist()
        assert (parse.labels is None) == ("labels" not in names)
        assert parse.labels is None or parse.labels.tolist() == right.labels.tolist()
        made = treebound.problem(**finite, **how)
        assert treebound.check(made, parse) == []
        sure, known = (treebound.decode(**x, **how, **more).confidence for x in (finite, infinite))
        assert [tree.heads.tolist() for tree in sure.trees] == [tree.heads.tolist() for tree in known.trees]
        assert sure.complete
        np.testing.assert_array_equal(sure.margins, known.margins)
        np.testing.assert_array_equal(sure.marginals, known.marginals)
        for m in range(1, len(parse.heads)):
            others = [value for value, heads in best_first if heads[m] != sure.trees[0].heads[m]]
            assert sure.margins[m] == pytest.approx(best_first[0][0] - max(others, default=-np.inf), abs=1e-9)
    assert feasible > tries / 4


@every_space
@every_root
@tries(10, 100)
def test_low_scores_within_reach_are_scores(single_root: bool, space: str, tries: int) -> None:
    """Low scores are decoded exactly: trees that need one are found, and margins and lists contain them."""
    rng = np.random.default_rng(3)
    how: dict[str, Any] = {"space": space, "single_root": single_root}
    for case in range(tries):
        scores, masked = random_masked(rng, ())
        finite = with_masks(scores, masked, SCORES[case % len(SCORES)])
        best_first = winners(finite, space, single_root)
        parse = treebound.decode(**finite, **how, k_best=3, margins=True)
        assert parse.status == "optimal"
        values = [tree.value for tree in parse.confidence.trees]
        assert values == pytest.approx([value for value, _ in best_first[:3]], rel=1e-9, abs=1e-9)
        for m in range(1, len(parse.heads)):
            others = [value for value, heads in best_first if heads[m] != parse.heads[m]]
            margin = parse.value - max(others, default=-np.inf)
            assert parse.confidence.margins[m] == pytest.approx(margin, rel=1e-9, abs=1e-9)
        assert treebound.check(treebound.problem(**finite, **how), parse) == []


def exact_score(heads: np.ndarray, arc: np.ndarray) -> Fraction:
    return sum((Fraction(float(arc[heads[m], m])) for m in range(1, len(heads))), Fraction(0))


@every_space
@tries(60, 2000)
def test_nothing_is_proved_that_is_wrong(space: str, tries: int) -> None:
    """A tree with status `optimal` is optimal to the documented precision, even if scores differ in size."""
    rng = np.random.default_rng(4)
    optimal = 0
    for _ in range(tries):
        n = int(rng.integers(1, 6))
        sizes = rng.choice([0.0, 1.0, 1e3, 1e6, 1e9, 1e12], size=(n + 1, n + 1))
        arc = rng.normal(size=(n + 1, n + 1)) * sizes
        arc[rng.random(arc.shape) < rng.choice([0.0, 0.3])] = float(rng.choice(MASKS))
        try:
            parse = treebound.decode(arc, space=space)
        except InputError as error:
            assert "every tree has such a score" in str(error)  # noqa: PT017
            continue
        value = max(exact_score(heads, arc) for heads in trees(n, space))
        allowance = max(Fraction(1), abs(value)) / 10**9
        assert parse.bound >= value - allowance
        if parse.status == "optimal":
            optimal += 1
            assert exact_score(parse.heads, arc) >= value - allowance
    assert optimal > tries / 2


@every_space
@pytest.mark.parametrize("mask", [*SCORES, -1e7, *MASKS])
@pytest.mark.parametrize("n", [8, 20])
def test_a_mask_costs_no_search(mask: float, space: str, n: int) -> None:
    rng = np.random.default_rng(2)
    arc = rng.normal(size=(n + 1, n + 1)).astype(np.float32).astype(float)
    masked = rng.random(arc.shape) < 0.5
    masked[0] = masked[np.arange(n), np.arange(1, n + 1)] = False  # a chain is a tree
    parse = treebound.decode(np.where(masked, mask, arc), space=space)
    right = treebound.decode(np.where(masked, -np.inf, arc), space=space)
    assert parse.heads.tolist() == right.heads.tolist()
    assert (parse.value, parse.status, parse.work["dp_calls"]) == (right.value, "optimal", 1)
    if mask >= -1e7 or n == 20:
        return
    siblings = np.triu(rng.normal(size=[n + 1] * 3), 1)
    siblings[0] = 0.0
    how = {"space": space, "siblings": siblings, "max_dp_calls": 5000}
    parse = treebound.decode(np.where(masked, mask, arc), **how)
    right = treebound.decode(np.where(masked, -np.inf, arc), **how)
    assert (parse.heads.tolist(), parse.status) == (right.heads.tolist(), "optimal")
    assert parse.work["dp_calls"] == right.work["dp_calls"]


def test_what_no_tree_does_without_is_counted_or_named() -> None:
    arc = np.ones((4, 4))
    arc[:, 2] = -1e8
    parse = treebound.decode(arc)
    assert parse.value == pytest.approx(2 - 1e8)
    assert treebound.check(treebound.problem(arc), parse) == []
    arc[:, 2] = -1e32
    with pytest.raises(InputError, match=r"arc\[0, 2\] is -1e\+32, and every tree has such a score; allow another"):
        treebound.decode(arc)
    with pytest.raises(InputError, match=r"sum to 1.2e\+31 in absolute values; scale them below 1e\+20"):
        treebound.decode(np.full((4, 4), 1e30) * np.eye(4)[[1, 2, 3, 0]] * 4)
    siblings = np.full((4, 4, 4), -1e32)
    siblings[0] = 0.0
    allowed = np.zeros((4, 4), bool)
    allowed[0, 1] = allowed[1, 2] = allowed[1, 3] = True
    message = r"admits? no tree without scores of -1e\+32 or less, which count as -inf; treebound.problem explains"
    with pytest.raises(InputError, match=message):
        treebound.decode(np.ones((4, 4)), siblings=siblings, allowed=allowed)


def test_integers_are_masked_only_where_they_are_too_large() -> None:
    arc = np.ones((4, 4), np.int64)
    arc[3, 1] = -(10**12)
    assert treebound.problem(arc).arcs == 9
    arc[3, 1] = np.iinfo(np.int64).min
    made = treebound.problem(arc)
    assert (made.arcs, made.unit) == (8, 1.0)
    parse = treebound.decode(arc, margins=True)
    assert (parse.value, parse.status) == (3.0, "optimal")
    assert treebound.check(made, parse) == []


def test_parts_of_every_kind_are_masked() -> None:
    """Masks also work in parts given by their arcs, in sparse tensors and in numbers of dependents."""
    arc, mask = np.zeros((4, 4)), -1e30
    arc[0, 1] = 5.0
    both = np.array([[[1, 2], [1, 3]]])
    for parts in (
        {"parts": {"sibling": (both, [mask])}},
        {"parts": {"pattern": (both, [mask])}},
        {"siblings": (np.array([[1, 2, 3]]), [mask])},
        {"parts": {"valency": (np.array([[1, 2]]), [mask])}},
    ):
        parse = treebound.decode(arc, **parts, k_best=50)
        listed = {tuple(tree.heads.tolist()) for tree in parse.confidence.trees}
        assert listed == {tuple(heads.tolist()) for heads in trees(3) if not (heads[2] == heads[3] == 1)}


@pytest.mark.parametrize("decoder", ["branch-and-bound", "incremental-ilp"])
@pytest.mark.parametrize("mask", [-1e9, -1e32, float(np.finfo(np.float64).min)])
def test_masked_labels_under_constraints(decoder: str, mask: float) -> None:
    names, words = ("su", "obj"), Words.of("abcd", "NVNN")
    constraints = parse_constraints('[unique-labels]\nlabels = ["su"]\n')
    for seed in range(6):
        rng = np.random.default_rng(seed)
        arc, labels = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 2))
        arcs, masked = rng.random((5, 5)) < 0.3, rng.random((5, 5, 2)) < 0.2
        arcs[0] = False
        masked[..., 1] &= ~masked[..., 0]
        how: dict[str, Any] = {"constraints": constraints, "label_names": names, "words": words, "decoder": decoder}
        how["space"] = "non-projective"
        masked_parse = treebound.decode(np.where(arcs, mask, arc), labels=np.where(masked, mask, labels), **how)
        infinite_parse = treebound.decode(np.where(arcs, -np.inf, arc), labels=np.where(masked, -np.inf, labels), **how)
        assert masked_parse.heads.tolist() == infinite_parse.heads.tolist()
        assert masked_parse.labels.tolist() == infinite_parse.labels.tolist()
        assert masked_parse.value == pytest.approx(infinite_parse.value)
