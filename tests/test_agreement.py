"""Bounds of tree and head stars together, against all trees: none is above its bound, whatever the multipliers are."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem
from treebound.kernels.head_stars.agreement import (
    disagreements,
    even_parents,
    hand_over,
    have_stars,
    move_multipliers,
    score_stars,
    solve_dirty,
    star_state,
)

from treebound.decoders.door import arc_index, canonical
from treebound.decoders.exact.branch_and_bound.decoder import (
    AUTOMATON_FAMILIES,
    BACKBONES,
    MAX_EDGES,
    STAR_FAMILIES,
    _handover,
    _state,
    counts_of,
)
from treebound.decoders.exact.branch_and_bound.state import find_certain
from treebound.kernels.arcs.parts import index_parts
from treebound.kernels.bounded import (
    apply_shares,
    fold_pairs,
    fold_products,
    move_products,
    set_pair,
    visit_products,
)


class Search:
    """What a search holds when stars come in: shares and slopes are at random, factors of certain arcs are folded."""

    def __init__(self, rng: np.random.Generator, space: str, families: list[str]):
        problem = random_problem(rng, families, min_n=2, max_n=5, space=space, feasible=True)
        self.problem = problem = canonical(problem, space).problem
        self.index = index = arc_index(problem)
        self.parts = index_parts(index, problem.single_root, space == "projective")
        n, A = problem.n, problem.arcs
        arcs = {f: t.arcs for f, t in problem.parts.items()}
        given = {f: t.score.copy() for f, t in problem.parts.items()}
        automata = (*AUTOMATON_FAMILIES, "grandchild") if given.keys() & set(AUTOMATON_FAMILIES) else ()
        # a backbone with arcs alone: whatever is left is bounded
        backbone = BACKBONES["eisner" if space == "projective" else "arborescence"]
        theta = np.append(problem.arc, 0.0)
        stated = _state(backbone, index, self.parts, theta, arcs, given, automata, MAX_EDGES, problem.unit)
        assert stated is not None
        _, self.theta, pairs, products, left = stated
        self.handover = _handover(index, arcs, left, automata, len(pairs.phi))
        # folding works in place
        self.all_pairs, self.all_products = (type(x)(*(a.copy() for a in x)) for x in (pairs, products))
        self.counts = counts_of(n, arcs, left)
        self.weight = self.theta.copy()
        self.offset = apply_shares(pairs, products, self.weight)
        for i, phi in enumerate(np.abs(pairs.phi)):
            share = rng.random() * phi
            self.offset += set_pair(pairs, i, np.floor(share) if problem.unit else share, self.weight)
        if len(products.phi):
            z, on = (rng.random(len(theta)) < 0.5).astype(np.int8), np.empty(len(products.phi), np.int32)
            visit_products(products, z, on)
            self.offset += move_products(products, z, on, 50.0, problem.unit, self.weight)
        self.slope = np.zeros(n + 1 if len(self.counts.first) else 0)
        for h in range(1, len(self.slope)):
            self.slope[h] = rng.integers(-50, 50)
            self.weight[index.start[h] : index.start[h + 1]] += self.slope[h]
        self.alive, self.certain = np.ones(len(theta), bool), np.zeros(len(theta), bool)
        find_certain(index, self.alive, self.certain)
        none = np.zeros(0)
        self.pairs, more = fold_pairs(pairs, self.alive, self.certain, self.theta, self.weight, none)
        self.offset += more
        self.products, more = fold_products(products, self.alive, self.certain, self.theta, self.weight, none)
        self.offset += more
        self.u, self.w, self.star = np.zeros(A), np.zeros(A), star_state(index, self.handover)
        self.tables = self.handover.first

    def hand_over(self) -> None:
        self.tables = self.handover.later
        self.pairs, self.products, constant = hand_over(
            self.index, self.counts, self.handover, self.all_pairs, self.all_products, self.pairs, self.products,
            self.slope, self.alive, self.certain, self.theta, self.weight, self.u, self.w,
        )  # fmt: skip
        self.offset += constant
        self.star.dirty[:] = True

    def solve(self) -> None:
        assert solve_dirty(
            self.index, self.parts, self.tables, self.alive, self.u, self.w, self.problem.unit, self.star
        )

    def score(self, z: np.ndarray) -> float:
        """Score of a tree: the part of the arcs, and what the stars score."""
        chosen = np.flatnonzero(z).astype(np.int32)
        of_stars = score_stars(self.index, self.parts, self.tables, z, chosen, len(chosen), self.star)
        return z @ self.theta + of_stars

    def bound(self, z: np.ndarray) -> np.ndarray:
        """Of trees int8[T, A + 1]."""
        return z @ self.weight + self.offset + self.star.value.sum()


def every_tree(problem) -> tuple[np.ndarray, np.ndarray]:
    """(int8[T, A + 1] arcs of every tree, column A is 0; float64[T] scores) of the trees of candidate arcs."""
    heads = trees(problem.n, problem.canonical, problem.single_root)
    z = np.zeros((len(heads), problem.arcs + 1), np.int8)
    z[:, :-1] = heads[:, problem.mod] == problem.head
    there = z.sum(axis=1) == problem.n
    return z[there], scores(problem, problem.canonical)[there]


def subset(*families: str) -> st.SearchStrategy[list[str]]:
    return st.sets(st.sampled_from(families), min_size=1).map(sorted)


def check_bounds(search: Search, rng: np.random.Generator, steps: int, exact: bool) -> int:
    """Move multipliers at random trees; how often tree and stars agreed.

    exact  everything but arcs is scored by stars: what they score with the arcs is the score of the tree
    """
    z, score = every_tree(search.problem)
    near = 0.0 if search.problem.unit else 1e-9 * max(1.0, float(np.abs(score).max()), search.problem.total)
    agreed = 0
    for step in range(steps):
        search.solve()
        bound = search.bound(z)
        assert (bound >= score - near).all()
        if step % 3 == 2:  # the multipliers of arcs into a head that cost nothing
            search.star.dirty[:] = rng.random(search.problem.n + 1) < 0.7
            before = search.star.value.sum() + search.offset + (z @ search.weight).max()
            even_parents(search.index, search.alive, search.w, search.weight, search.star)
            assert (search.bound(z) >= score - near).all()
            assert search.bound(z).max() <= before + near
            search.star.dirty[:] = True
            continue
        one = int(rng.integers(len(z))) if step % 2 else int(bound.argmax())
        found = search.score(z[one])
        if exact:
            assert found == pytest.approx(score[one], abs=near, rel=0)
            if disagreements(search.index, z[one], search.alive, search.star) == 0:
                agreed += 1
                assert bound[one] == pytest.approx(score[one], abs=near, rel=0)
        search.star.dirty[:] = False
        alpha = float(rng.integers(1, 100)) if search.problem.unit else 100 * rng.random()
        move_multipliers(search.index, z[one], search.alive, alpha, search.u, search.w, search.weight, search.star)
    return agreed


@given(
    subset(*STAR_FAMILIES), st.integers(0, 2**32 - 1), st.sampled_from(["projective", "non-projective"])
)  # fmt: skip
@settings(max_examples=100, deadline=None, derandomize=True)
def test_what_is_handed_over_to_stars_is_bounded_by_them(families, seed, space):
    rng = np.random.default_rng(seed)
    search = Search(rng, space, families)
    search.hand_over()
    assert len(search.pairs.phi) == len(search.products.phi) == 0, "all of it is of one head"
    check_bounds(search, rng, 12, exact=True)


@given(subset(*AUTOMATON_FAMILIES, *STAR_FAMILIES), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_automata_from_the_beginning_and_the_rest_handed_over(families, seed):
    """Over crossing trees: first the automata beside shares, then everything of one head."""
    rng = np.random.default_rng(seed)
    search = Search(rng, "non-projective", families)
    if have_stars(search.tables) and not len(search.slope):
        check_bounds(search, rng, 6, exact=len(search.pairs.phi) == len(search.products.phi) == 0)
    search.hand_over()
    check_bounds(search, rng, 12, exact=True)


def test_handing_over_loosens_no_bound():
    """A star is at most the sum of the bounds of its parts, so the bound of no tree grows."""
    rng = np.random.default_rng(8)
    for i in range(60):
        families = [f for f in STAR_FAMILIES if f != "valency" and rng.random() < 0.6]
        search = Search(rng, ("projective", "non-projective")[i % 2], families)
        z, _ = every_tree(search.problem)
        before = z @ search.weight + search.offset
        search.hand_over()
        search.solve()
        near = 0.0 if search.problem.unit else 1e-9 * max(1.0, search.problem.total)
        assert (search.bound(z) <= before + near).all()


def test_tree_and_stars_come_to_agree():
    rng = np.random.default_rng(9)
    agreed = 0
    for _ in range(60):
        search = Search(rng, "non-projective", ["adjacent-sibling", "sibling"])
        search.hand_over()
        agreed += check_bounds(search, rng, 30, exact=True) > 0
    assert agreed > 5
