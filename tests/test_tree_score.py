"""Scores of single trees against the sum of all parts, along random sequences of moves and between two trees."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import FAMILIES, build_problem, random_tree, rescored

from treebound.checker.scoring import tree_score
from treebound.core.errors import InputError
from treebound.core.problem import Problem
from treebound.core.protocols import TreeScore
from treebound.decoders.canonical import canonical
from treebound.features.tree_score import PartScore
from treebound.treebanks.projectivise import is_projective

SPACES = ("projective", "non-projective")


def is_tree(heads: np.ndarray, problem: Problem, space: str) -> bool:
    for m in range(1, len(heads)):
        seen, h = 0, m
        while h != 0 and seen <= len(heads):
            h, seen = int(heads[h]), seen + 1
        if h != 0:
            return False
    roots = np.count_nonzero(heads[1:] == 0)
    return (roots == 1 or not problem.single_root) and (space == "non-projective" or is_projective(heads))


def start(problem: Problem, rng: np.random.Generator, space: str) -> np.ndarray:
    while True:
        heads = random_tree(problem.n, rng, space, problem.single_root)
        if is_tree(heads, problem, space):
            return heads


def other_heads(problem: Problem, heads: np.ndarray, m: int, space: str) -> list[int]:
    """Return the other heads that m may have in a tree."""
    out = []
    for h in set(range(problem.n + 1)) - {m, int(heads[m])}:
        moved = heads.copy()
        moved[m] = h
        if is_tree(moved, problem, space):
            out.append(h)
    return sorted(out)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(
    "families", [*((f,) for f in FAMILIES), FAMILIES, ()], ids=lambda f: f[0] if len(f) == 1 else len(f)
)
def test_changes_along_moves_add_up(families, single_root, space):
    rng = np.random.default_rng(7)
    moves = 0
    for n in (2, 6, 9):
        original = build_problem(n, rng, families, kind="mixed", single_root=single_root, space=space)
        problem = canonical(original, space).problem
        of_trees = PartScore(problem)
        assert isinstance(of_trees, TreeScore)
        heads = start(problem, rng, space)
        value = of_trees.score(heads)
        for step in range(80):
            m = int(rng.integers(1, n + 1))
            choices = other_heads(problem, heads, m, space)
            if not choices:
                continue
            if step % 20 == 19:  # jump to another tree without a move
                heads = start(problem, rng, space)
                value = tree_score(problem, heads)
                continue
            h = int(rng.choice(choices))
            change = of_trees.change(heads, m, h)
            assert of_trees.change(heads, m, h) == change  # computing a change does not apply it
            if step % 3:
                heads = heads.copy()
                heads[m] = h
                value += change
                moves += 1
            assert of_trees.score(heads) == value == tree_score(problem, heads)
    assert moves > (20 if single_root and space == "projective" else 40)


def test_different_parts_of_two_trees_give_the_score_difference():
    rng = np.random.default_rng(3)
    for space in SPACES:
        problem = canonical(build_problem(7, rng, FAMILIES, space=space), space).problem
        scored = PartScore(problem)
        tables = {"arc": problem.arc} | {f: t.score for f, t in problem.parts.items()}
        for _ in range(20):
            a, b = start(problem, rng, space), start(problem, rng, space)
            ours, theirs = scored.difference(a, b)
            gap = sum(tables[f][ours[f]].sum() - tables[f][theirs[f]].sum() for f in tables)
            assert gap == scored.score(a) - scored.score(b)
            assert not any(np.intersect1d(ours[f], theirs[f]).size for f in tables)
            assert all(not parts.size for side in scored.difference(a, a) for parts in side.values())


def test_trees_without_a_score_are_reported():
    rng = np.random.default_rng(5)
    allowed = np.ones((4, 4), bool)
    allowed[2, 1] = False
    restricted = build_problem(3, rng, ("grandchild",), allowed=allowed)
    problem = canonical(restricted, "projective").problem
    chain, absent = np.array([-1, 0, 1, 2], np.int32), np.array([-1, 2, 0, 2], np.int32)
    scored = PartScore(problem)
    assert scored.score(absent) == -np.inf
    assert scored.change(chain, 3, 1) == tree_score(problem, np.array([-1, 0, 1, 1])) - tree_score(problem, chain)
    assert scored.change(np.array([-1, 3, 0, 2], np.int32), 1, 2) == -np.inf
    assert np.isnan(scored.change(np.array([-1, 2, 0, 1], np.int32), 3, 2))
    with pytest.raises(InputError, match="not a candidate"):
        scored.difference(chain, absent)
    with pytest.raises(InputError, match="canonical"):
        PartScore(restricted)
    forbidden = canonical(rescored(restricted, -np.inf), "projective").problem
    assert PartScore(forbidden).score(chain) == -np.inf
    with pytest.raises(InputError, match="forbids"):
        PartScore(forbidden).change(chain, 3, 1)
