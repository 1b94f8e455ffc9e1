"""Test the joint bounds of tree and head stars against all trees: no score exceeds its bound, for any multipliers."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis.strategies as st
import numpy as np
import pytest
import references  # noqa: F401 - lets kernels return their working memory
from hypothesis import given, settings
from interpreting import interpreted
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem

from treebound.decoders.canonical import canonical
from treebound.decoders.exact.branch_and_bound import agreement, state
from treebound.decoders.exact.branch_and_bound.agreement import (
    _even_parents,
    add_star_slack,
    mark_stars_dirty,
    mode_of,
    move_multipliers,
    shares_to_multipliers,
    solve_dirty_stars,
    star_state,
    total_of_stars,
    visit_stars,
)
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, MAX_EDGES, _handover, _state
from treebound.decoders.exact.branch_and_bound.state import TUNED, State, find_certain, search_scratch
from treebound.decoders.exact.branch_and_bound.trace import NO_STARS
from treebound.kernels.bounded import (
    apply_shares,
    fold_pairs,
    fold_products,
    move_products,
    set_pair,
    visit_products,
)
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.head_stars.tables import Multipliers
from treebound.kernels.tree_moves import AUTOMATON_FAMILIES, STAR_FAMILIES


@pytest.fixture(autouse=True, scope="module")
def run_uncompiled() -> Iterator[None]:
    with interpreted(__name__, agreement.__name__, state.__name__):
        yield


class Search:
    """The state of a search at the moment when head stars are added.

    Shares and slopes are random. Factors whose arcs are certain have been folded.
    """

    def __init__(self, rng: np.random.Generator, space: str, families: list[str]):
        problem = random_problem(rng, families, min_n=2, max_n=5, space=space, feasible=True)
        self.problem = problem = canonical(problem, space).problem
        automata = (*AUTOMATON_FAMILIES, "grandchild") if problem.families & set(AUTOMATON_FAMILIES) else ()
        # the backbone scores arcs only: all other parts are bounded
        backbone = BACKBONES["eisner" if space == "projective" else "arborescence"]
        stated = _state(problem, backbone, automata, MAX_EDGES)
        assert stated is not None
        graph, self.task, remaining = stated
        self.index, task, A = self.task.arcs, self.task, problem.arcs
        # folding works in place
        pairs, products = (type(x)(*(a.copy() for a in x)) for x in (task.pairs, task.products))
        weight, self.scratch = task.theta.copy(), search_scratch(True, graph, task, TUNED)
        offset = apply_shares(pairs, products, weight)
        for i, phi in enumerate(np.abs(pairs.phi)):
            share = rng.random() * phi
            offset += set_pair(pairs, i, np.floor(share) if problem.unit else share, weight)
        if len(products.phi):
            z, active = (rng.random(len(weight)) < 0.5).astype(np.int8), np.empty(len(products.phi), np.int32)
            visit_products(products, z, active)
            offset += move_products(products, z, active, 50.0, problem.unit, weight)
        slope = np.zeros(problem.n + 1 if len(task.counts.first) else 0)
        for h in range(1, len(slope)):
            slope[h] = rng.integers(-50, 50)
            weight[self.index.start[h] : self.index.start[h + 1]] += slope[h]
        alive, certain, none = self.scratch.alive, self.scratch.certain, np.zeros(0)
        find_certain(self.index, alive, certain)
        theta = task.theta.copy()
        pairs, pair_offset = fold_pairs(pairs, alive, certain, theta, weight, none)
        products, product_offset = fold_products(products, alive, certain, theta, weight, none)
        multipliers = Multipliers(np.zeros(A), np.zeros(A))
        offset = np.array([offset + pair_offset + product_offset])
        self.state = State(graph, pairs, products, task.spans, theta, weight, slope, multipliers, none, offset)
        self.star = star_state(_handover(task, remaining, automata), self.index)

    def shares_to_multipliers(self) -> None:
        self.state = shares_to_multipliers(self.star, self.task, self.state, self.scratch)

    def solve(self) -> None:
        """Solve the stars repeatedly, each time without the arcs that have no star; forbidden arcs may empty a star."""
        alive = self.scratch.alive
        while True:
            solved, removed = solve_dirty_stars(self.star, self.task, self.state.multipliers, self.state.weight, alive)
            assert solved
            if not removed:
                return
            alive[self.state.weight <= NEG_TEST] = False

    def visit(self, z: np.ndarray) -> tuple[float, int]:
        """Return (score, count): the score of the tree z with stars, and the number of arcs on which both disagree."""
        chosen = np.flatnonzero(z)
        self.scratch.z[:] = z
        star_score, count = visit_stars(
            self.star, self.task, self.state.multipliers, self.scratch.alive, self.scratch.z, chosen.astype(np.int32)
        )
        return z @ self.state.theta + star_score, count

    def bound(self, z: np.ndarray) -> np.ndarray:
        """Return the bound of each of the trees z, int8[T, A + 1]."""
        return z @ self.state.weight + self.state.offset[0] + total_of_stars(self.star)


def every_tree(problem) -> tuple[np.ndarray, np.ndarray]:
    """Return (z, scores) of the trees of candidate arcs: z int8[T, A + 1] with column A = 0, scores float64[T]."""
    heads = trees(problem.n, problem.canonical, problem.single_root)
    z = np.zeros((len(heads), problem.arcs + 1), np.int8)
    z[:, :-1] = heads[:, problem.mod] == problem.head
    covered = z.sum(axis=1) == problem.n
    return z[covered], scores(problem, problem.canonical)[covered]


def subset(*families: str) -> st.SearchStrategy[list[str]]:
    return st.sets(st.sampled_from(families), min_size=1).map(sorted)


def check_bounds(search: Search, rng: np.random.Generator, steps: int, exact: bool) -> int:
    """Move multipliers `steps` times and check that no tree scores more than its bound.

    Returns how often tree and stars agreed. With `exact`, stars score everything but arcs, so arcs and stars add up to
    the score of the tree.
    """
    z, score = every_tree(search.problem)
    tolerance = (
        0.0
        if search.problem.unit
        else 1e-9 * max(1.0, float(np.abs(score[np.isfinite(score)]).max()), search.problem.total)
    )
    agreed = 0
    for step in range(steps):
        search.solve()
        bound = search.bound(z)
        assert (bound >= score - tolerance).all()
        if step % 3 == 2:  # move the multipliers of arcs into a head that change no bound
            search.star.stars.dirty[:] = rng.random(search.problem.n + 1) < 0.7
            before = bound.max()
            state = search.state
            _even_parents(search.star.stars, search.index, state.multipliers.parent, state.weight, search.scratch.alive)
            assert (search.bound(z) >= score - tolerance).all()
            assert search.bound(z).max() <= before + tolerance
            mark_stars_dirty(search.star)
            continue
        row = int(rng.integers(len(z))) if step % 2 else int(bound.argmax())
        value, disagreements = search.visit(z[row])
        if exact:
            assert value == pytest.approx(score[row], abs=tolerance, rel=0)
            if disagreements == 0:
                agreed += 1
                assert bound[row] == pytest.approx(score[row], abs=tolerance, rel=0)
        alpha = float(rng.integers(1, 100)) if search.problem.unit else 100 * rng.random()
        state, scratch = search.state, search.scratch
        move_multipliers(search.star, search.index, state.multipliers, state.weight, scratch.alive, scratch.z, alpha)
    return agreed


@given(
    subset(*STAR_FAMILIES), st.integers(0, 2**32 - 1), st.sampled_from(["projective", "non-projective"])
)  # fmt: skip
@settings(max_examples=100, deadline=None, derandomize=True)
def test_stars_bound_the_parts_that_are_handed_over(families, seed, space):
    rng = np.random.default_rng(seed)
    search = Search(rng, space, families)
    search.shares_to_multipliers()
    assert len(search.state.pairs.phi) == len(search.state.products.phi) == 0, (
        "all parts have one head and must be handed over"
    )
    check_bounds(search, rng, 12, exact=True)


@given(subset(*AUTOMATON_FAMILIES, *STAR_FAMILIES), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_automata_from_the_start_and_other_parts_handed_over_later(families, seed):
    """Check bounds of non-projective trees before and after stars take over all parts.

    At first, stars score only the families of automata, and shares bound the other parts.
    """
    rng = np.random.default_rng(seed)
    search = Search(rng, "non-projective", families)
    if mode_of(search.star) != NO_STARS and not len(search.state.slope):
        check_bounds(search, rng, 6, exact=len(search.state.pairs.phi) == len(search.state.products.phi) == 0)
    search.shares_to_multipliers()
    check_bounds(search, rng, 12, exact=True)


def test_handing_over_loosens_no_bound():
    """Check that no bound of a tree grows when stars take over parts from shares."""
    rng = np.random.default_rng(8)
    for i in range(60):
        families = [f for f in STAR_FAMILIES if f != "valency" and rng.random() < 0.6]
        search = Search(rng, ("projective", "non-projective")[i % 2], families)
        z, _ = every_tree(search.problem)
        before = z @ search.state.weight + search.state.offset[0]
        search.shares_to_multipliers()
        search.solve()
        tolerance = 0.0 if search.problem.unit else 1e-9 * max(1.0, search.problem.total)
        assert (search.bound(z) <= before + tolerance).all()


def test_tree_and_stars_come_to_agree():
    rng = np.random.default_rng(9)
    agreed = 0
    for _ in range(60):
        search = Search(rng, "non-projective", ["adjacent-sibling", "sibling"])
        search.shares_to_multipliers()
        agreed += check_bounds(search, rng, 30, exact=True) > 0
    assert agreed > 5


def test_an_arc_on_which_tree_and_star_disagree_gets_the_slack_of_the_star() -> None:
    """Check the slack of every star: its value minus its score at the tree, after the multipliers of the tree's arcs.

    The star of a head disagrees on the arcs to its dependents, and on the arc into the head.
    """
    rng = np.random.default_rng(10)
    more = fewer = 0
    for _ in range(20):
        search = Search(rng, "non-projective", ["adjacent-sibling", "sibling"])
        search.shares_to_multipliers()
        search.solve()
        z, score = every_tree(search.problem)
        row = int(rng.integers(len(z)))
        search.visit(z[row])
        child, parent = search.state.multipliers
        stars, head, mod = search.star.stars, search.index.head, search.index.mod
        slack, expected = np.zeros(search.problem.n + 1), np.zeros(search.problem.arcs)
        chosen = np.flatnonzero(z[row])
        for h in range(search.problem.n + 1):
            cost = child[chosen[head[chosen] == h]].sum() + parent[chosen[mod[chosen] == h]].sum()
            slack[h] = stars.value[h] - (search.star.score[h] - cost)
        for a in np.flatnonzero(search.scratch.alive[: search.problem.arcs]):
            expected[a] += slack[head[a]] * (z[row, a] != stars.y[a])
            expected[a] += slack[mod[a]] * (z[row, a] != (stars.x[mod[a]] == a))
        tolerance = 1e-9 * max(1.0, search.problem.total)
        assert slack.min() >= -tolerance
        assert slack.sum() == pytest.approx(search.bound(z[row]) - score[row], abs=tolerance)
        gap = np.zeros(search.problem.arcs)
        add_star_slack(search.star, search.index, search.state.multipliers, search.scratch.alive, z[row], gap)
        assert gap == pytest.approx(expected, abs=tolerance)
        more += (z[row, :-1] < stars.y).any()
        fewer += (z[row, :-1] > stars.y).any()
    assert min(more, fewer) > 5
