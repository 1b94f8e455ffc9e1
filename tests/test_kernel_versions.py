"""Test that numba compiles no new version of a kernel for another combination of factor families.

Numba compiles a version of a kernel for every combination of types.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from numba import typeof
from strategies import random_problem

from treebound.decoders.exact.branch_and_bound.decoder import NAMED, PAIR_FAMILIES, STARTS, BranchAndBound, counts_of
from treebound.decoders.exact.branch_and_bound.lower_bound import climb
from treebound.decoders.exact.branch_and_bound.published import search_published
from treebound.decoders.exact.branch_and_bound.search import search
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.tree_moves import AT_HEADS, joined, stars_of


def argument_types(problem, families):
    """Return the types of the arguments that the search receives for these families of a problem."""
    tables = {family: problem.parts[family] for family in families}
    stars = stars_of(index_of(problem).arcs, {f: t for f, t in tables.items() if f in AT_HEADS})
    scores = chart_scores({family: table.score for family, table in tables.items()})
    pairs = joined(tables, PAIR_FAMILIES)
    return tuple(map(typeof, (stars, scores, counts_of(problem.n, tables), *pairs)))


def outer(kernel):
    """Return the compiled versions of a kernel that were compiled for calls from Python."""
    return [version for version in kernel.overloads.values() if not version.library.inner]


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_one_type_for_all_combinations_of_families(space):
    rng = np.random.default_rng(3)
    families = ["adjacent-sibling", "grandchild", "sibling", "comb", "valency"]
    problem = random_problem(rng, families, min_n=4, max_n=5, space=space, feasible=True)
    writable = {f: replace(t, arcs=t.arcs.copy(), score=t.score.copy()) for f, t in problem.parts.items()}
    unchecked = type(problem).unchecked(
        problem.n, problem.head, problem.mod, problem.arc, writable, problem.single_root, problem.unit, space
    )
    assert not problem.parts["sibling"].score.flags.writeable
    assert unchecked.parts["sibling"].score.flags.writeable
    subsets = chain.from_iterable(combinations(problem.parts, size) for size in range(len(problem.parts) + 1))
    types = {argument_types(variant, subset) for subset in subsets for variant in (problem, unchecked)}
    assert len(types) == 1


def test_options_are_values_that_need_no_compilation():
    """Check that options of the search add no compiled versions.

    There are at most two versions for both spaces of trees: without and with head stars.
    """
    rng = np.random.default_rng(3)
    families = ["adjacent-sibling", "grandchild", "sibling", "comb"]
    problems = {
        space: random_problem(rng, families, min_n=4, max_n=5, space=space, feasible=True)
        for space in ("projective", "non-projective")
    }
    choices = {
        "order": NAMED["order"], "scheme": NAMED["scheme"], "branching": NAMED["branching"], "start": STARTS,
        "eliminate": (True, False), "stars": (0, 3), "record": (True, False), "root_steps": (1, 30), "rho": (0.5, 1.5),
    }  # fmt: skip
    for space, problem in problems.items():
        best = {BranchAndBound(space=space).decode(problem).value}
        best |= {
            BranchAndBound(space=space, **{name: value}).decode(problem).value
            for name, values in choices.items() for value in values
        }  # fmt: skip
        assert len({round(value, 6) for value in best}) == 1
        if space == "projective":
            plain = {**problem.parts}
            plain.pop("adjacent-sibling")
            for limits in ({}, {"max_dp_calls": 1}, {"max_dp_calls": 3}, {"max_nodes": 1}):
                for start in STARTS:
                    for parts in (problem.parts, plain):
                        BranchAndBound("published", start=start, **limits).decode(replace(problem, parts=parts))
    assert len(outer(search)) <= 2
    assert len(outer(climb)) <= 2
    assert len(outer(search_published)) <= 1
