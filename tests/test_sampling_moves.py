"""Moves of samplers: they update the score correctly, stay in the space of trees, and reach every tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import FAMILIES, build_problem, random_problem, tries

from treebound.checker.scoring import tree_score
from treebound.core.problem import Problem
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.buffers import Buffers, buffers_of
from treebound.decoders.approximate.sampling.chains import FOLLOWED, MANY, PLAIN, climb, gibbs, walk
from treebound.decoders.approximate.sampling.decoder import shares
from treebound.decoders.approximate.sampling.forest import lay
from treebound.decoders.approximate.sampling.moves import ascend_pair, ascend_rotated, ascend_to_root, rotate
from treebound.decoders.approximate.sampling.starts import Starts, draw, starts_of
from treebound.decoders.base import without_infinities
from treebound.decoders.canonical import canonical
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph

SPACES = ("projective", "non-projective")


class MoveState(NamedTuple):
    """The state that moves need: problem, buffers with the current tree, hypergraph, starts and random generator."""

    problem: Problem
    buffers: Buffers
    graph: Hypergraph
    starts: Starts
    rng: np.ndarray

    def heads(self) -> np.ndarray:
        ints = self.buffers.ints
        arcs = ints[ints[at.ARC_INTO] + 1 : ints[at.ARC_INTO] + self.problem.n + 1]
        return heads_of(index_of(self.problem).arcs, arcs)


def state_of(original: Problem, space: str, scale: float = 1.0, seed: int = 1) -> MoveState:
    """Return the buffers of a problem that hold a randomly drawn tree."""
    problem = without_infinities(canonical(original, space).problem)[0]
    log = np.where(problem.arc > NEG_TEST, np.maximum(problem.arc, NEG / 2) * scale, NEG)
    drawn = starts_of(index_of(problem).arcs, log, problem.single_root, space == "projective")
    assert drawn is not None
    graph, starts = drawn
    rng = np.array([seed], np.uint64)
    buffers = buffers_of(problem, shares(log, problem))
    draw(graph, starts, rng)
    lay(*buffers, starts.into)
    return MoveState(problem, buffers, graph, starts, rng)


def is_allowed_tree(heads: np.ndarray, problem: Problem, space: str) -> bool:
    """Return whether the tree belongs to the space and has no forbidden arc."""
    every = trees(problem.n, space, problem.single_root)
    arcs = set(zip(problem.head[problem.arc > NEG_TEST], problem.mod[problem.arc > NEG_TEST], strict=True))
    return bool((every == heads).all(axis=1).any()) and all((heads[m], m) in arcs for m in range(1, len(heads)))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("families", [*((f,) for f in FAMILIES), FAMILIES], ids=lambda f: "+".join(f)[:20])
@tries(120, 250)
def test_updated_scores_equal_the_score_of_the_tree(families, single_root, space, tries):
    rng = np.random.default_rng(3)
    moved = dict.fromkeys(("gibbs", "walk", "rotate", "pair", "climb", "root", "above"), 0)
    for n in (1, 4, 6, 15):
        m = state_of(build_problem(n, rng, families, kind="mixed", single_root=single_root, space=space), space)
        ints, reals = m.buffers
        value = lay(ints, reals, m.starts.into)
        for step in range(min(tries, 60) if n < 7 else tries):
            kind = str(rng.choice(list(moved)))
            word = int(rng.integers(1, n + 1))
            if kind == "gibbs":
                gain = gibbs(ints, reals, 1000.0, m.rng)
            elif kind == "walk":
                gain = walk(ints, reals, 3, 1e5, m.rng)[0] if space == "non-projective" else 0.0
            elif kind == "rotate":
                gain = rotate(ints, reals, word)[0]
            elif kind == "above":
                gain = ascend_rotated(ints, reals, word)
            elif kind == "pair":
                gain = ascend_pair(ints, reals, word)
            elif kind == "root":
                gain = ascend_to_root(ints, reals, word) if single_root and space == "non-projective" else 0.0
            else:
                gain = climb(ints, reals, ints[at.SCORED] + 40, PLAIN, FOLLOWED) if step % 5 == 0 else 0.0
            moved[kind] += gain != 0.0
            value += gain
            if n > 6 and step % 4 != 3:
                # errors of a move remain in the sum, so the slow score from scratch is only compared at the end
                continue
            heads = m.heads()
            assert value == tree_score(m.problem, heads)
            assert n > 6 or is_allowed_tree(heads, m.problem, space)
        assert value == lay(ints, reals, rng.permutation(ints[ints[at.ARC_INTO] + 1 : ints[at.ARC_INTO] + n + 1]))
    assert moved["gibbs"] >= 3
    assert moved["rotate"] >= 2
    assert space == "projective" or moved["walk"] >= 1


@pytest.mark.parametrize("space", SPACES)
def test_a_climb_ends_where_no_other_head_and_no_place_of_a_head_is_better(space):
    rng = np.random.default_rng(11)
    for _ in range(60):
        single_root = bool(rng.random() < 0.5)
        m = state_of(random_problem(rng, FAMILIES, max_n=5, space=space, single_root=single_root, feasible=True), space)
        climb(*m.buffers, MANY, PLAIN, FOLLOWED)
        every, score = trees(m.problem.n, space, single_root), scores(m.problem, space)
        heads = m.heads()
        value = score[(every == heads).all(axis=1)][0]
        changed = every != heads
        beside = changed.sum(axis=1) == 1
        for word in range(1, m.problem.n + 1):
            h = heads[word]
            if h:
                beside |= (changed.sum(axis=1) == 2) & (every[:, word] == heads[h]) & (every[:, h] == word)
        assert score[beside].max(initial=-np.inf) <= value + 1e-6


@pytest.mark.parametrize("space", SPACES)
def test_forbidden_arcs_are_never_taken(space):
    rng = np.random.default_rng(4)
    tried = 0
    while tried < 25:
        original = random_problem(rng, ("sibling",), min_n=3, max_n=5, space=space, forbidden=0.3)
        problem = canonical(original, space).problem
        log = np.where(np.isneginf(problem.arc), NEG, problem.arc)
        if starts_of(index_of(problem).arcs, log, problem.single_root, space == "projective") is None:
            assert scores(original, space).max() == -np.inf
            continue
        tried += 1
        m = state_of(original, space)
        for _ in range(30):
            gibbs(*m.buffers, 1e6, m.rng)
            if space == "non-projective":
                walk(*m.buffers, 2, 1e6, m.rng)
            assert is_allowed_tree(m.heads(), m.problem, space)


def test_attaching_in_any_order_gives_one_score():
    rng = np.random.default_rng(8)
    m = state_of(build_problem(9, rng, FAMILIES), "projective")
    ints, reals = m.buffers
    value = lay(ints, reals, m.starts.into)
    for _ in range(20):
        assert lay(ints, reals, rng.permutation(m.starts.into)) == value
