"""Test bounds of product factors and of counts.

No tree exceeds its bound, bounds are tight at the best shares, and the search with these bounds finds the best tree of
every enumerated problem.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from oracles.trees import trees
from strategies import KINDS, draw, random_problem

from treebound.checker.certificates import check_parse
from treebound.core.problem import PartTable, Problem
from treebound.decoders.exact.branch_and_bound import decoder as module
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, MAX_EDGES, BranchAndBound, _state
from treebound.decoders.exact.branch_and_bound.lower_bound import MOST, climb
from treebound.decoders.exact.branch_and_bound.published import search_published
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.kernels.bounded import (
    Counts,
    apply_shares,
    fold_pairs,
    fold_products,
    majorants,
    make_pairs,
    make_products,
    move_products,
    set_pair,
    visit_products,
)
from treebound.kernels.chart.hypergraph import NEG

OPTIONS: dict[str, list] = {
    "order": ["depth-first", "best-first", "level"],
    "scheme": ["polyak", "momentum", "averaged", "block-coordinate"],
    "branching": ["slack", "max-marginal"],
    "start": ["tree", "pi"],
    "eliminate": [True, False],
}


def random_products(rng: np.random.Generator, arcs: int, size: int) -> np.ndarray:
    """Return int32[size, 5]: random sets of one to five arcs, padded with -1."""
    out = np.full((size, 5), -1, np.int32)
    for row in out:
        k = min(arcs, int(rng.integers(1, 6)))
        row[:k] = np.sort(rng.choice(arcs, k, replace=False))
    return out


def scored_problem(rng: np.random.Generator, space: str, max_n: int) -> Problem:
    """Return a problem with arc scores, random product factors and random scores of the number of modifiers."""
    while True:
        problem = random_problem(rng, (), max_n=max_n, space=space, feasible=True)
        if problem.n > 1:
            break
    integer, kind = problem.unit > 0, str(rng.choice(KINDS))
    parts = {}
    if rng.random() < 0.8:
        arcs = random_products(rng, problem.arcs, int(rng.integers(1, 30)))
        parts["pattern"] = PartTable("pattern", arcs, draw(rng, len(arcs), kind, integer))
    if rng.random() < 0.6:
        degree = np.bincount(problem.head, minlength=problem.n + 1)
        rows = [(h, c) for h in range(1, problem.n + 1) for c in range(min(int(degree[h]), 7) + 1)]
        parts["valency"] = PartTable("valency", np.array(rows, np.int32), draw(rng, len(rows), kind, integer))
    return Problem(problem.n, problem.head, problem.mod, problem.arc, parts, problem.single_root, problem.unit)


def every_tree(problem: Problem, space: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (arcs, scores) of the trees of candidate arcs: bool[T, A + 1] with column A True, and float64[T]."""
    heads = trees(problem.n, space, problem.single_root)
    on = np.zeros((len(heads), problem.arcs + 1), bool)
    on[:, -1] = True
    for a, (h, m) in enumerate(zip(problem.head, problem.mod, strict=True)):
        on[:, a] = heads[:, m] == h
    on = on[on[:, :-1].sum(axis=1) == problem.n]
    score = on[:, :-1] @ problem.arc
    if "pattern" in problem.parts:
        table = problem.parts["pattern"]
        for arcs, phi in zip(table.arcs, table.score, strict=True):
            score += phi * on[:, arcs].all(axis=1)
    if "valency" in problem.parts:
        table = problem.parts["valency"]
        for h in range(1, problem.n + 1):
            f = table.score[table.arcs[:, 0] == h]
            number = on[:, :-1][:, problem.head == h].sum(axis=1)
            score += f[np.minimum(number, len(f) - 1)]
    return on, score


@cache
def decoder(space: str, options: tuple) -> BranchAndBound:
    return BranchAndBound(space=space, root_steps=4, node_steps=2, **dict(options))  # type: ignore[arg-type]


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("option", [(k, v) for k, values in OPTIONS.items() for v in values], ids=str)
def test_search_finds_the_best_of_all_trees(space, option):
    rng = np.random.default_rng(7)
    nodes = 0
    for i in range(150):
        problem = scored_problem(rng, space, 6 if space == "projective" else 5)
        _, score = every_tree(problem, space)
        parse = decoder(space, (option,)).decode(problem)
        # real scores of very different sizes: the status `gap` reports the rounding error of float64
        inexact = parse.status == "gap" and not problem.unit and parse.gap <= 1e-12 * problem.total
        assert parse.status == "optimal" or inexact, i
        assert parse.value == pytest.approx(score.max(), rel=1e-9, abs=0 if problem.unit else 1e-9), i
        nodes += parse.work["nodes"] > 1
    assert nodes > 5  # the cases are hard enough to branch


@pytest.mark.parametrize("backbone", ["carreras", "grandparent-sibling"])
def test_other_backbones_bound_the_same_factors(backbone):
    rng = np.random.default_rng(11)
    for i in range(100):
        problem = scored_problem(rng, "projective", 6)
        assert BACKBONES[backbone].space == "projective"
        parse = BranchAndBound(backbone=backbone).decode(problem)
        assert parse.value == pytest.approx(every_tree(problem, "projective")[1].max()), i
        assert parse.certified


def without_counts(rng: np.random.Generator) -> Problem:
    """Return a problem of at most six words that the published search supports."""
    problem = scored_problem(rng, "projective", 6)
    problem.parts.pop("valency", None)
    return problem


@pytest.mark.parametrize("start", OPTIONS["start"])
def test_published_search_bounds_products(start):
    rng = np.random.default_rng(12)
    for i in range(100):
        problem = without_counts(rng)
        parse = BranchAndBound(config="published", start=start).decode(problem)
        assert parse.value == pytest.approx(every_tree(problem, "projective")[1].max()), i
        if not problem.unit:
            continue  # the status may be "gap" if scores are real numbers
        assert parse.status == "optimal", i
        assert check_parse(problem, parse) == [], i


def best_of_pi(problem: Problem, on: np.ndarray, tree: int) -> np.ndarray:
    """Return the rows of the trees z that maximise pi(p, z), where `ascend` chooses p for the tree of row `tree`.

    A pattern of r arcs with phi >= 0 adds phi * (number of its arcs in z - r + 1) if `tree` has all its arcs. A pattern
    with phi < 0 adds phi if z has the last of its arcs that `tree` lacks. If `tree` lacks none, its first arc decides
    (section 3.4).
    """
    value = on[:, :-1] @ problem.arc
    table = problem.parts["pattern"]
    for arcs, phi in zip(table.arcs, table.score, strict=True):
        factor = arcs[arcs >= 0]
        lacking = factor[~on[tree, factor]]
        if phi < 0:
            value += phi * on[:, lacking[-1] if len(lacking) else factor[0]]
        elif not len(lacking):
            value += phi * (on[:, factor].sum(axis=1) - len(factor) + 1)
    return np.flatnonzero(value >= value.max() - 1e-9 * max(1.0, abs(value.max())))


def test_the_first_lower_bound_agrees_with_alternation_by_enumeration():
    """Compare `climb` with alternation over enumerated trees: last score and number of trees must agree.

    Problems in which two trees maximise pi at some step are skipped, because either tree may be chosen.
    """
    rng = np.random.default_rng(21)
    compared = improved = 0
    for i in range(300):
        problem = without_counts(rng)
        on, score = every_tree(problem, "projective")
        finite = np.isfinite(score)
        on, score = on[finite], score[finite]
        if "pattern" not in problem.parts or not np.isfinite(problem.arc).all():
            continue
        arcs_alone = on[:, :-1] @ problem.arc
        best = np.flatnonzero(arcs_alone == arcs_alone.max())
        reached, steps = [], 0
        while len(best) == 1:
            steps += 1
            if reached and score[best[0]] <= reached[-1]:
                break
            reached.append(score[best[0]])
            best = best_of_pi(problem, on, best[0])
        else:
            continue
        stated = _state(problem, BACKBONES["eisner"], (), MAX_EDGES)
        assert stated is not None
        value, _, trees_computed = climb(stated.graph, stated.task, None, MOST)
        assert (value, trees_computed) == (pytest.approx(reached[-1]), steps), i
        compared += 1
        improved += len(reached) > 1
    assert compared > 50
    assert improved > 10


def test_the_published_search_begins_with_the_first_lower_bound(monkeypatch):
    """Check that the published search starts from the score and tree that the alternation found.

    The dynamic programs of the alternation count towards the limit.
    """
    rng = np.random.default_rng(22)
    climbing, searches = [], []

    def noted_climb(*arguments):
        climbing.append(climb(*arguments))
        return climbing[-1]

    def noted_search(graph, task, factors, first, *limits):
        searches.append((first, search_published(graph, task, factors, first, *limits)))
        return searches[-1][1]

    monkeypatch.setattr(module, "climb", noted_climb)
    monkeypatch.setattr(module, "search_published", noted_search)
    for i in range(60):
        problem = without_counts(rng)
        for limit in (0, 1, 2, 3, 5):
            climbing.clear()
            parse = BranchAndBound("published", max_dp_calls=limit).decode(problem)
            first, result = searches[-1]
            assert len(climbing) == (limit != 1)
            climbing_calls = climbing[0][2] if climbing else 0
            if climbing:
                assert first[0] == climbing[0][0]
                assert np.array_equal(first[1], climbing[0][1])
            assert parse.work["dp_calls"] == result.dp_calls + climbing_calls, i
            assert not limit or parse.work["dp_calls"] <= limit, i
            assert result.value >= first[0]
            climbing.clear()
            BranchAndBound("published", start="tree", max_dp_calls=limit).decode(problem)
            assert not climbing
            assert searches[-1][0][0] == NEG


def test_proofs_of_a_search_from_the_first_lower_bound_are_accepted():
    rng = np.random.default_rng(23)
    for i in range(60):
        problem = without_counts(rng)
        parse = BranchAndBound(start="pi", record=True).decode(problem)
        assert check_parse(problem, parse, certificate(parse.record)) == [], i


def bound_of(on: np.ndarray, theta: np.ndarray, weight: np.ndarray, constant: float) -> np.ndarray:
    """Return, for each row of arcs in `on`, the linear bound minus the arc scores `theta`."""
    return on @ (weight - theta) + constant


@pytest.mark.parametrize("integer", [True, False])
def test_any_shares_bound_every_choice_of_arcs_and_the_best_shares_are_tight(integer):
    """Check all 0/1 choices of arcs, including those that are no trees.

    After random steps the bound is never below the score. For a pair, some share reaches the score.
    """
    rng = np.random.default_rng(3)
    A = 5
    on = np.array(list(itertools.product((0, 1), repeat=A)), np.int8)
    on = np.hstack([on, np.zeros((len(on), 1), np.int8)])
    for _ in range(300):
        size = int(rng.integers(2, 6))
        arcs = np.full((1, 5), -1, np.int32)
        arcs[0, :size] = rng.choice(A, size, replace=False)
        phi = draw(rng, 1, str(rng.choice(KINDS)), integer)
        unit = 1.0 if integer else 0.0
        pairs = make_pairs(arcs[:, :2] if size == 2 else arcs[:0, :2], phi if size == 2 else phi[:0], unit)
        products = make_products(arcs if size > 2 else arcs[:0], phi if size > 2 else phi[:0], unit, len(pairs.phi))
        score = phi[0] * on[:, arcs[0, :size]].all(axis=1)
        theta = np.zeros(A + 1)
        tightest = np.full(len(on), np.inf)
        for _ in range(60):
            weight = theta.copy()
            constant = apply_shares(pairs, products, weight)
            bound = bound_of(on, theta, weight, constant)
            assert (bound >= score - 1e-9 * max(1.0, abs(phi[0]))).all()
            if integer:
                assert np.array_equal(bound, np.rint(bound))
            tightest = np.minimum(tightest, bound)
            z = on[rng.integers(len(on))]
            if len(pairs.phi):
                set_pair(pairs, 0, rng.choice([0.0, abs(phi[0]), np.floor(rng.random() * abs(phi[0]))]), weight)
            elif len(products.phi):
                count = np.empty(1, np.int32)
                visit_products(products, z, count)
                constant += move_products(products, z, count, max(1.0, np.floor(abs(phi[0]))), unit, weight)
                recomputed = theta.copy()
                assert constant == pytest.approx(apply_shares(products=products, pairs=pairs, weight=recomputed))
                assert weight == pytest.approx(recomputed)
        if size == 2 and phi[0] != 0.0:
            assert tightest == pytest.approx(score)


def test_products_are_tight_at_the_arcs_that_are_off():
    """Check that the bound of a product equals its score at z after the shares were moved at z.

    For phi >= 0 the whole share is then on an arc that z lacks. For phi < 0 the share is 0, or -phi if z has all arcs.
    """
    rng = np.random.default_rng(4)
    A = 4
    arcs = np.arange(4, dtype=np.int32)[None]
    for z in itertools.product((0, 1), repeat=A):
        row = np.array([*z, 0], np.int8)
        for phi in (7.0, -7.0):
            products = make_products(arcs, np.array([phi]), 1.0, 0)
            pairs = make_pairs(arcs[:0, :2], np.zeros(0), 1.0)
            count = np.empty(1, np.int32)
            for _ in range(3):
                visit_products(products, row, count)
                move_products(products, row, count, 100.0, 1.0, np.zeros(A + 1))
            weight = np.zeros(A + 1)
            constant = apply_shares(pairs, products, weight)
            assert row @ weight + constant == phi * all(z), (z, phi, rng)


@pytest.mark.parametrize("recorded", [True, False])
def test_folding_keeps_the_bound_of_every_remaining_choice(recorded):
    """Check that folding decided arcs neither loosens the bound nor changes a score."""
    rng = np.random.default_rng(5)
    A = 6
    every = np.array(list(itertools.product((0, 1), repeat=A)), np.int8)
    every = np.hstack([every, np.zeros((len(every), 1), np.int8)])
    for _ in range(300):
        small = np.sort(np.stack([rng.choice(A, 2, replace=False) for _ in range(6)]).astype(np.int32), axis=1)
        large = random_products(rng, A, 6)
        phi2, phi5 = draw(rng, 6, "dense", True), draw(rng, 6, "mixed", True)
        pairs = make_pairs(small, phi2, 1.0)
        products = make_products(large, phi5, 1.0, len(pairs.phi))
        theta, weight = np.zeros(A + 1), np.zeros(A + 1)
        constant = apply_shares(pairs, products, weight)
        alive, certain = rng.random(A + 1) < 0.8, rng.random(A + 1) < 0.2
        alive[A], certain[A] = True, False
        certain &= alive
        remaining = every[(every[:, ~alive] == 0).all(axis=1) & (every[:, certain] == 1).all(axis=1)]
        before = remaining @ weight + constant
        settled = np.zeros(len(pairs.phi) + len(products.share) if recorded else 0)
        pairs, change = fold_pairs(pairs, alive, certain, theta, weight, settled)
        constant += change
        products, change = fold_products(products, alive, certain, theta, weight, settled)
        constant += change
        after = remaining @ weight + constant
        score = sum(p * remaining[:, a].all(axis=1) for a, p in zip(small, phi2, strict=True))
        score = score + sum(p * remaining[:, a[a >= 0]].all(axis=1) for a, p in zip(large, phi5, strict=True))
        assert (after <= before).all()
        assert (after >= score).all()
        exact = remaining @ theta
        for e, f, phi in zip(pairs.e, pairs.f, pairs.phi, strict=True):
            exact = exact + phi * (remaining[:, e] & remaining[:, f])
        for i, phi in enumerate(products.phi):
            exact = exact + phi * remaining[:, products.var[products.first[i] : products.first[i + 1]]].all(axis=1)
        assert np.array_equal(exact, score)


def test_majorants_are_above_every_count_and_meet_the_concave_envelope():
    rng = np.random.default_rng(6)
    for _ in range(300):
        size, high = int(rng.integers(1, 6)), int(rng.integers(0, 9))
        low = int(rng.integers(0, high + 1))
        f = draw(rng, size, "dense", True)
        counts = Counts(np.array([0, size], np.int32), f)
        best = np.zeros(1, np.int32)
        number = np.arange(low, high + 1)
        score = f[np.minimum(number, size - 1)]
        envelope = np.full(len(number), np.inf)
        for slope in {*np.diff(f), 0.0, *rng.integers(-300, 300, 5).astype(float)}:
            top = majorants(counts, np.array([slope]), np.array([low], np.int32), np.array([high], np.int32), best)
            bound = top + slope * number
            assert (bound >= score).all()
            assert bound[best[0] - low] == score[best[0] - low]
            envelope = np.minimum(envelope, bound)
        assert envelope.max() >= score.max()
        # the slope 0 meets the largest score
        assert envelope[score.argmax()] == score.max()


@pytest.mark.parametrize("score", [5e-324, 1.5e-323, 3.5e-323, 1e-300, 1.0, 1e20])
def test_first_shares_of_a_product_are_not_negative(score: float) -> None:
    """A fifth of three times the smallest number is rounded to the smallest number, so that four fifths exceed it."""
    for size in range(2, 7):
        made = make_products(np.arange(size, dtype=np.int32)[None], np.array([score]), 0.0, 0)
        assert (made.share >= 0.0).all()
        assert made.share.sum() == pytest.approx(score, rel=1e-12, abs=0.0)
