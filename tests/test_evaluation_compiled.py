"""The checker's compiled arithmetic gives what its plain twin gives, number by number; what does not fit goes to it."""

import dataclasses
import math

import numpy as np
import pytest
from oracles.score import best
from steps import random_step
from strategies import FAMILIES, build_problem, random_problem, unchecked

from treebound.checker.certificates import (
    Certificate,
    CertNode,
    Step,
    _Numbers,
    certificate_faults,
    check_parse,
    decide,
)
from treebound.checker.chart import CHART_FAMILIES
from treebound.checker.compiled.proofs import WholeNumbers
from treebound.checker.compiled.tables import TooLarge
from treebound.checker.shapes import problem_faults
from treebound.core.parse import Parse
from treebound.core.problem import NONE

SPACES = ("projective", "non-projective")


def same_bounds(plain, compiled, left):
    """Are two bounds equal on the arcs that are left?"""
    if plain.constant == -math.inf or not compiled.some:
        return plain.constant == -math.inf and not compiled.some
    if plain.constant != compiled.constant:
        return False
    # an arc without a star: a huge fine in one, no tree at all in the other
    return all(plain.arc[a] < -(10**29) if compiled.dead[a] else plain.arc[a] == compiled.arc[a] for a in left)


def compare(rng, space):
    """A problem, whose regions are bounded and branched on by both; the number of bounds compared."""
    some = [f for f in FAMILIES if rng.random() < 0.45]
    problem = random_problem(rng, some, max_n=int(rng.choice([4, 7])), space=space, integer=True)
    assert problem_faults(problem) == []
    projective = space == "projective"
    exact = frozenset(f for f in sorted(CHART_FAMILIES) if projective and rng.random() < 0.6)  # some without parts
    bounded = {family: table for family, table in problem.parts.items() if family not in exact}
    plain, compiled = (kind(problem, bounded, exact, projective) for kind in (_Numbers, WholeNumbers))
    one, two = (x.start().above(None, -math.inf) for x in (plain, compiled))
    for compared in range(6):
        assert one.arcs == two.arcs
        assert not projective or len(one.chart.edges) == len(two.edges.arc)
        if one.empty:
            return compared
        if rng.random() < 0.3:
            arc, value = int(rng.integers(problem.arcs)), int(rng.integers(2))
            one, two = (decide(problem, region, arc, value).above(None, -math.inf) for region in (one, two))
            continue
        step = random_step(problem, exact, rng, space)
        upper, same = plain.bound(step, one), compiled.bound(step, two)
        assert same_bounds(upper, same, one.arcs)
        most = sum(
            max((upper.arc[a] for a in one.arcs if problem.mod[a] == m), default=0) for m in range(problem.n + 1)
        )
        if upper.constant == -math.inf or most < -(10**29):
            return compared
        threshold = int(most + upper.constant - rng.integers(0, 200))
        one, two = one.above(upper, threshold), two.above(same, threshold)
    return 6


@pytest.mark.parametrize("space", SPACES)
def test_both_remove_the_same(space):
    rng = np.random.default_rng(1)
    assert sum(compare(rng, space) for _ in range(150)) > 150


@pytest.mark.long
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("seed", range(2, 6))
def test_both_remove_the_same_for_long(space, seed):
    rng = np.random.default_rng(seed)
    assert sum(compare(rng, space) for _ in range(5000)) > 5000


def small():
    """A problem with a pair, its best score and tree, and a proof of it that is only a sum of what is positive."""
    problem = build_problem(3, np.random.default_rng(0), ("sibling",), kind="dense")
    table = problem.parts["sibling"]
    return problem, Certificate([CertNode(-1, -1, 0, [Step({"sibling": np.where(table.score > 0, table.score, 0.0)})])])


def test_what_does_not_fit_is_checked_all_the_same():
    problem, certificate = small()
    high = float(np.abs(problem.arc).sum() + np.abs(problem.parts["sibling"].score).sum())
    assert certificate_faults(problem, high, certificate) == []
    scale = 2.0**45  # a power of two: floats stay exact
    table = problem.parts["sibling"]
    large = unchecked(
        problem,
        arc=problem.arc * scale,
        parts={"sibling": dataclasses.replace(table, score=table.score * scale)},
    )
    with pytest.raises(TooLarge):
        WholeNumbers(large, large.parts, frozenset(), True)
    node = certificate.nodes[0]
    scaled = Certificate(
        [dataclasses.replace(node, steps=[Step({"sibling": node.steps[0].shares["sibling"] * scale})])]
    )
    assert certificate_faults(large, high * scale, scaled) == []
    assert certificate_faults(large, best(large)[0] - scale, scaled) != []


@pytest.mark.parametrize(
    "share",
    [
        np.float64(math.nan),
        math.inf,
        -math.inf,
        0.5,
        -1,
        -(2**62),
        2**62,
        2**63 - 1,
        10**30,
        None,
        "1",
    ],
    ids=str,
)
def test_shares_that_are_none(share):
    problem, certificate = small()
    given = np.array(certificate.nodes[0].steps[0].shares["sibling"], object)
    given[0] = share
    for array in (given, given.reshape(-1, 1), given[:1], given.reshape(1, -1, 1), np.array(share, object)):
        step = Step({"sibling": array})
        assert certificate_faults(problem, 1e6, Certificate([CertNode(-1, -1, 0, [step])])) != []


def test_search_trees_that_are_none():
    problem, certificate = small()
    value, winners = best(problem)
    parse = Parse(winners[0], value, value, "optimal")
    root = certificate.nodes[0]
    leaves = [CertNode(0, 0, 0), CertNode(0, 0, 1)]
    for nodes in (
        [root, *leaves],  # open leaves
        [root, leaves[0], leaves[0]],
        [root, *leaves, leaves[0]],
        [root, CertNode(0, 0, 0), CertNode(0, 1, 1)],
        [root, CertNode(1, 0, 0), CertNode(1, 0, 1)],
        [dataclasses.replace(root, parent=0)],
        [root, dataclasses.replace(root)],
        [],
    ):
        assert check_parse(problem, parse, Certificate(nodes)) != []
    # children of a closed node do no harm, and no good
    high = 1e9
    assert certificate_faults(problem, high, Certificate([root, *leaves])) == []


def test_problems_that_are_none():
    """Bounds look parts up by their arcs: what they would not find, or find twice, must not be checked."""
    rng = np.random.default_rng(3)
    problem = build_problem(6, rng, FAMILIES)
    assert problem_faults(problem) == []
    value = 1e9
    root = Certificate([CertNode(-1, -1, 0)])
    odd = [unchecked(problem, head=problem.head[::-1].copy(), mod=problem.mod[::-1].copy())]
    odd += [unchecked(problem, arc=problem.arc + x) for x in (0.5, math.nan, math.inf)]
    odd.append(unchecked(problem, unit=math.nan))
    for family, table in problem.parts.items():
        twice = dataclasses.replace(
            table, arcs=np.concatenate([table.arcs, table.arcs[:1]]), score=np.append(table.score, 5.0)
        )
        backwards = dataclasses.replace(table, arcs=table.arcs[:, ::-1].copy())
        other = np.where(table.arcs == NONE, NONE, (table.arcs + 1) % problem.arcs).astype(np.int32)
        for changed in (twice, backwards, dataclasses.replace(table, arcs=other)):
            if family in ("head-bigram", "great-grandchild", "pattern"):  # products of whatever arcs
                continue
            if family == "grandchild" and changed is backwards:
                assert np.any(problem.mod[changed.arcs[:, 0]] != problem.head[changed.arcs[:, 1]])
            odd.append(unchecked(problem, parts={**problem.parts, family: changed}))
    for wrong in odd:
        assert problem_faults(wrong) != []
        assert certificate_faults(wrong, value, root) != []
