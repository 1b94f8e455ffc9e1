"""Test that the checker's compiled and plain arithmetic agree on every number.

Numbers that are too large for the compiled code are checked by the plain code.
"""

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
from treebound.checker.compiled.bounds import add_rows
from treebound.checker.compiled.proofs import WholeNumbers
from treebound.checker.compiled.tables import TooLarge
from treebound.checker.shapes import problem_faults
from treebound.core.parse import Parse
from treebound.core.problem import NONE

SPACES = ("projective", "non-projective")


def same_bounds(plain, compiled, remaining):
    """Return whether a bound of the plain code equals a bound of the compiled code, for the remaining arcs."""
    if plain.constant == -math.inf or not compiled.some:
        return plain.constant == -math.inf and not compiled.some
    if plain.constant != compiled.constant:
        return False
    # an arc without a star has a huge penalty in the plain bound and is dead in the compiled one
    return all(plain.arc[a] < -(10**29) if compiled.dead[a] else plain.arc[a] == compiled.arc[a] for a in remaining)


def compare(rng, space):
    """Check that plain and compiled code compute equal regions and bounds; return the number of rounds."""
    families = [f for f in FAMILIES if rng.random() < 0.45]
    problem = random_problem(rng, families, max_n=int(rng.choice([4, 7])), space=space, integer=True)
    assert problem_faults(problem) == []
    projective = space == "projective"
    exact = frozenset(
        f for f in sorted(CHART_FAMILIES) if projective and rng.random() < 0.6
    )  # some families have no parts
    bounded = {family: table for family, table in problem.parts.items() if family not in exact}
    plain, compiled = (kind(problem, bounded, exact, projective) for kind in (_Numbers, WholeNumbers))
    plain_region, compiled_region = (x.start().above(None, -math.inf) for x in (plain, compiled))
    for compared in range(6):
        assert plain_region.arcs == compiled_region.arcs
        assert not projective or len(plain_region.chart.edges) == len(compiled_region.edges.arc)
        if plain_region.empty:
            return compared
        if rng.random() < 0.3:
            arc, value = int(rng.integers(problem.arcs)), int(rng.integers(2))
            plain_region, compiled_region = (
                decide(problem, region, arc, value).above(None, -math.inf) for region in (plain_region, compiled_region)
            )
            continue
        step = random_step(problem, exact, rng, space)
        plain_bound, compiled_bound = plain.bound(step, plain_region), compiled.bound(step, compiled_region)
        assert same_bounds(plain_bound, compiled_bound, plain_region.arcs)
        most = sum(
            max((plain_bound.arc[a] for a in plain_region.arcs if problem.mod[a] == m), default=0)
            for m in range(problem.n + 1)
        )
        if plain_bound.constant == -math.inf or most < -(10**29):
            return compared
        threshold = int(most + plain_bound.constant - rng.integers(0, 200))
        plain_region, compiled_region = (
            plain_region.above(plain_bound, threshold),
            compiled_region.above(compiled_bound, threshold),
        )
    return 6


@pytest.mark.parametrize("space", SPACES)
def test_both_remove_the_same_arcs(space):
    rng = np.random.default_rng(1)
    assert sum(compare(rng, space) for _ in range(150)) > 150


def test_the_best_stars_of_small_scores_are_the_same() -> None:
    """Check scores of -2 to 2 of all pairs of modifiers: a bound that is too low by 1 then misses the best star."""
    rng = np.random.default_rng(1)
    for i in range(24):
        families = ("sibling", "grandchild", "tri-sibling")[: 1 + i % 3]
        problem = build_problem(6, rng, families, kind="tied", space="non-projective")
        plain, compiled = (kind(problem, problem.parts, frozenset(), False) for kind in (_Numbers, WholeNumbers))
        plain_region, compiled_region = (x.start().above(None, -math.inf) for x in (plain, compiled))
        step = Step({}, child=rng.integers(-2, 3, problem.arcs), parent=rng.integers(-2, 3, problem.arcs))
        plain_bound, compiled_bound = plain.bound(step, plain_region), compiled.bound(step, compiled_region)
        assert plain_bound.constant > -math.inf
        assert same_bounds(plain_bound, compiled_bound, plain_region.arcs)


@pytest.mark.long
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("seed", range(2, 6))
def test_both_remove_the_same_arcs_of_many_problems(space, seed):
    rng = np.random.default_rng(seed)
    assert sum(compare(rng, space) for _ in range(5000)) > 5000


@pytest.mark.parametrize("exact", [frozenset(), frozenset({"grandchild"})], ids=["arc", "grandchild"])
def test_a_forbidden_last_arc_leaves_the_other_trees(exact):
    problem = build_problem(4, np.random.default_rng(0), ("grandchild",))
    problem = dataclasses.replace(problem, arc=np.append(problem.arc[:-1], -np.inf))
    plain, compiled = (
        kind(problem, {}, exact, True).start().above(None, -math.inf) for kind in (_Numbers, WholeNumbers)
    )
    assert plain.arcs == compiled.arcs == set(range(problem.arcs - 1))
    assert len(plain.chart.edges) == len(compiled.edges.arc)


def small():
    """Return a problem with pairs and a certificate whose bound is the sum of the positive scores."""
    problem = build_problem(3, np.random.default_rng(0), ("sibling",), kind="dense")
    table = problem.parts["sibling"]
    return problem, Certificate([CertNode(-1, -1, 0, [Step({"sibling": np.where(table.score > 0, table.score, 0.0)})])])


def test_large_numbers_are_checked_without_compiled_code():
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
def test_invalid_shares(share):
    problem, certificate = small()
    shares = np.array(certificate.nodes[0].steps[0].shares["sibling"], object)
    shares[0] = share
    for array in (shares, shares.reshape(-1, 1), shares[:1], shares.reshape(1, -1, 1), np.array(share, object)):
        step = Step({"sibling": array})
        assert certificate_faults(problem, 1e6, Certificate([CertNode(-1, -1, 0, [step])])) != []


@pytest.mark.parametrize(
    ("score", "shares", "is_valid"),
    [
        (4, [3, 1, 0], True),
        (4, [3, 0, 1], False),  # the third slot has no arc
        (4, [2, 1, 0], False),  # the shares do not add up to the score
        (4, [5, -1, 0], False),
        (-4, [4, 0, 0], True),
        (-4, [0, 0, 0], True),
        (-4, [2, 1, 0], False),  # a negative score is bounded by one number
        (-4, [5, 0, 0], False),
    ],
)
def test_shares_of_parts_of_several_arcs(score, shares, is_valid):
    arc_score = np.zeros(2, np.int64)
    fault, constant = add_rows(np.array([[0, 1, NONE]]), np.array([score]), np.array([shares]), arc_score)
    assert fault == (-1 if is_valid else 0)
    if is_valid:
        assert arc_score.sum() + constant == (score if score > 0 else -shares[0])
        assert constant == (0 if score > 0 else shares[0])


def test_invalid_search_trees():
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
    # children of a closed node have no effect
    high = 1e9
    assert certificate_faults(problem, high, Certificate([root, *leaves])) == []


def test_invalid_problems():
    """Check that wrong or repeated parts are refused, because bounds look up parts by their arcs."""
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
        other_arcs = np.where(table.arcs == NONE, NONE, (table.arcs + 1) % problem.arcs).astype(np.int32)
        for changed in (twice, backwards, dataclasses.replace(table, arcs=other_arcs)):
            if family in ("head-bigram", "great-grandchild", "pattern"):  # products of any arcs
                continue
            if family == "grandchild" and changed is backwards:
                assert np.any(problem.mod[changed.arcs[:, 0]] != problem.head[changed.arcs[:, 1]])
            odd.append(unchecked(problem, parts={**problem.parts, family: changed}))
    for wrong in odd:
        assert problem_faults(wrong) != []
        assert certificate_faults(wrong, value, root) != []
