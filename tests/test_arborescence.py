"""Chu-Liu-Edmonds beyond the sizes of the contract tests: nested contractions against the enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import best
from strategies import build_problem

from treebound.decoders.chu_liu_edmonds import ChuLiuEdmonds
from treebound.evaluation.certificates import check_parse


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["dense", "tied", "sparse"])
def test_seven_words(single_root, kind):
    rng = np.random.default_rng(7)
    for _ in range(25):
        problem = build_problem(7, rng, (), kind=kind, single_root=single_root)
        parse = ChuLiuEdmonds().decode(problem)
        assert parse.value == best(problem, "non-projective")[0]
        assert check_parse(problem, parse, space="non-projective") == []


def test_cycles_within_cycles():
    """Pairs of words that prefer each other, and pairs of pairs that do: contraction upon contraction."""
    n = 64
    rng = np.random.default_rng(1)
    allowed = ~np.eye(n + 1, dtype=bool)
    allowed[:, 0] = False
    problem = build_problem(n, rng, (), allowed=allowed, kind="tied", single_root=False)
    words = np.arange(n)
    same = (problem.head > 0).astype(int)
    for block in (2, 4, 8, 16, 32):
        same += 2 * ((words[problem.head - 1] // block == words[problem.mod - 1] // block) & (problem.head > 0))
    problem.arc[:] = problem.arc + 1000 * same
    parse = ChuLiuEdmonds().decode(problem)
    assert check_parse(problem, parse, space="non-projective") == []
    # no exchange of one head improves it, and it uses as many tight arcs as a spanning tree of the blocks can
    table = np.full((n + 1, n + 1), -np.inf)
    table[problem.head, problem.mod] = problem.arc
    for m in range(1, n + 1):
        for h in range(n + 1):
            at, above = h, set()
            while at > 0:
                above.add(at)
                at = parse.heads[at]
            if m not in above:
                assert table[h, m] <= table[parse.heads[m], m]
