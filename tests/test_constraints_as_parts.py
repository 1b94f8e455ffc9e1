"""Test branch and bound with the hard constraints that it supports, against enumeration and the integer program."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import constraints as oracle
from strategies import build_problem, draw

from treebound.constraints import parse
from treebound.constraints.as_parts import with_forbidden
from treebound.constraints.rows import Words
from treebound.core.errors import UnsupportedError
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.decoders import DECODERS
from treebound.decoders.exact.programs.incremental import IncrementalProgram

NAMES = ("cnj", "su", "det")
SETTINGS = """
[unique-labels]
labels = ["su"]
[coordination-commas]
forms = ["en"]
[argument-compatibility]
label = "cnj"
compatible = [["noun", "num"]]
[selective-projectivity]
labels = ["cnj", "det"]
exempt = { cnj = ["verb"] }
[argument-side]
left = ["det"]
"""
FORMS = ("en", ",", "Jan", "lopen", "vijf")
CLASSES = {"en": "vg", ",": "punct", "Jan": "noun", "lopen": "verb", "vijf": "num"}


def keeps(words: Words):
    def check(heads, labels) -> bool:
        on_left = all(heads[m] == 0 or m < heads[m] for m in range(1, len(heads)) if labels[m] == "det")
        return (
            on_left
            and oracle.unique_labels(words, heads, labels, ["su"])
            and oracle.coordination_commas(words, heads, labels, ["en"])
            and oracle.argument_compatibility(words, heads, labels, "cnj", [["noun", "num"]])
            and oracle.selective_projectivity(words, heads, labels, ["cnj", "det"], {"cnj": ["verb"]})
        )

    return check


def instance(seed: int, n: int) -> tuple[LabelledProblem, Words]:
    rng = np.random.default_rng(seed)
    problem = build_problem(n, rng, ())
    scores = draw(rng, problem.arcs * len(NAMES), "dense", True).reshape(-1, len(NAMES))
    scores[:, 0] += 50.0 * (seed % 2)  # many arcs with the label of conjuncts
    forms = rng.choice(FORMS, n)
    return best_labels(problem, scores, 1, NAMES), Words.of(forms, [CLASSES[f] for f in forms])


@pytest.mark.parametrize("space", ["non-projective", "projective"])
def test_branch_and_bound_respects_constraints_that_forbid_parts(space):
    search = DECODERS["branch-and-bound"](space=space)
    constraints = parse(SETTINGS)
    program = IncrementalProgram(constraints, space=space)
    binding = infeasible = 0
    for seed in range(60):
        problem, words = instance(seed, 2 + seed % 3)
        check = keeps(words)
        planar = (lambda h, names, c=check: c(h, names) and crossing_free(h)) if space == "projective" else check
        value, _ = oracle.best(problem, planar)
        stated = with_forbidden(problem, words, constraints)
        exact, solved = search.decode(stated), program.decode_labelled(problem, words)
        if value == -np.inf:
            infeasible += 1
            assert (exact.status, solved.status) == ("infeasible", "infeasible"), seed
            continue
        assert exact.status == solved.status == "optimal", seed
        assert exact.value == solved.value == pytest.approx(value), seed
        binding += search.decode(problem.problem).value > value
    assert binding > 5


def crossing_free(heads) -> bool:
    spans = [(min(h, m), max(h, m)) for m, h in enumerate(heads) if m]
    return not any(a < c < b < d for a, b in spans for c, d in spans)


def test_both_agree_on_longer_sentences_with_parts():
    """Check that branch and bound and the integer program agree, with scores of siblings and grandchildren."""
    constraints = parse(SETTINGS)
    search, program = DECODERS["branch-and-bound"](space="non-projective"), IncrementalProgram(constraints)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        inner = build_problem(6, rng, ("sibling", "grandchild"), space="non-projective")
        scores = draw(rng, inner.arcs * len(NAMES), "dense", True).reshape(-1, len(NAMES))
        forms = rng.choice(FORMS, 6)
        problem, words = best_labels(inner, scores, 1, NAMES), Words.of(forms, [CLASSES[f] for f in forms])
        exact = search.decode(with_forbidden(problem, words, constraints))
        solved = program.decode_labelled(problem, words)
        assert exact.status == solved.status, seed
        assert exact.value == pytest.approx(solved.value, rel=1e-9), seed


def test_unsupported_constraints_are_reported():
    problem, words = instance(0, 3)
    requiring = parse('[symmetric-coordination]\nforms = ["en"]')
    with pytest.raises(UnsupportedError, match="symmetric-coordination requires arcs"):
        with_forbidden(problem, words, requiring)
    several = best_labels(problem.problem, np.zeros((problem.problem.arcs, 3)), 2, NAMES)
    with pytest.raises(UnsupportedError, match="several labels"):
        with_forbidden(several, words, parse(SETTINGS))
