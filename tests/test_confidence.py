"""Margins, marginals and k-best lists of parses, in the model's units, against enumeration."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from strategies import random_problem
from synthetic import synthetic_treebank

from treebound.decoders import DECODERS
from treebound.decoders.confidence import Assess, arc_marginals
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, BranchAndBound, smallest_backbone
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")


def of_words(problem, marginal, heads):
    chosen = heads[problem.mod] == problem.head
    return marginal[chosen][np.argsort(problem.mod[chosen])]


@pytest.mark.parametrize("unit", [1.0, 50.0])
def test_everything_at_once(unit):
    rng = np.random.default_rng(1)
    decoder = BranchAndBound(record=True)
    assess = Assess(margins=True, marginals=True, k=3, scale=0.02)
    for _ in range(30):
        problem = random_problem(rng, FAMILIES, max_n=5, feasible=True, integer=True, kind="dense")
        problem = dataclasses.replace(problem, unit=unit)
        parse = assess(decoder, problem, decoder.decode(problem))
        assert parse.certified
        found, score = parse.confidence, scores(problem)
        every = trees(problem.n, single_root=problem.single_root)
        assert [t.value for t in found.trees] == np.sort(score[score > -np.inf])[::-1][:3].tolist()
        assert found.trees[0].value == parse.value
        assert found.complete
        for m in range(1, problem.n + 1):
            without = score[every[:, m] != parse.heads[m]].max(initial=-np.inf)
            assert found.margins[m] == parse.value - without
        assert np.isnan(found.margins[0])
        assert np.isnan(found.marginals[0])
        expected = of_words(problem, arc_marginals(problem, scale=0.02), parse.heads)
        assert found.marginals[1:].tolist() == expected.tolist()


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_marginals_of_what_the_backbone_scores(space):
    """Pairs of siblings count nothing; among non-projective trees nothing but arcs counts."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        some = [f for f in FAMILIES if rng.random() < 0.5]
        problem = random_problem(rng, some, max_n=5, space=space, feasible=True, integer=True, kind="dense")
        problem = dataclasses.replace(problem, unit=10.0)
        marginal = arc_marginals(problem, space, scale=0.1)
        counted = BACKBONES[smallest_backbone(problem.families)].families if space == "projective" else ()
        parts = {f: t for f, t in problem.parts.items() if f in counted}
        every = trees(problem.n, space, problem.single_root)
        log = scores(dataclasses.replace(problem, parts=parts), space) / 100
        p = np.exp(log - np.logaddexp.reduce(log))
        expected = [p[every[:, m] == h].sum() for h, m in zip(problem.head, problem.mod, strict=True)]
        assert marginal == pytest.approx(expected, abs=1e-8)


def test_no_tree_has_no_marginals():
    problem = random_problem(np.random.default_rng(3), ("grandchild",), feasible=True)
    problem = problem.with_arc(np.full(problem.arcs, -np.inf))
    assert np.isnan(arc_marginals(problem)).all()


def test_what_is_not_proved_has_no_margins_and_no_list():
    rng = np.random.default_rng(4)
    decoder = BranchAndBound(backbone="carreras", max_dp_calls=1)
    problems = (random_problem(rng, FAMILIES, feasible=True, kind="mixed") for _ in range(200))
    problem = next(p for p in problems if not decoder.decode(p).certified)
    found = Assess(margins=True, k=5)(decoder, problem, decoder.decode(problem)).confidence
    assert np.isnan(found.margins).all()
    assert len(found.trees) == 1
    assert not found.complete


def test_a_parser_says_how_sure_it_is_with_any_number_of_workers():
    learn = synthetic_treebank(150, 1)
    pruner = train_pruner(learn, epochs=1, bits=14)
    model = train(
        Settings(FAMILIES, "mira", 1, k=4, bits=14, labels="none", max_dp_calls=0),
        learn,
        learn.select(np.arange(10)),
        pruner,
    )
    parser, test = Parser(model), synthetic_treebank(50, 2)
    assess = Assess(margins=True, marginals=True, k=2)
    one, two = parser.parse(test, confidence=assess), parser.parse(test, workers=2, confidence=assess)
    plain = parser.parse(test)
    for i, (a, b, c) in enumerate(zip(one, two, plain, strict=True)):
        assert c.confidence is None
        assert a.heads.tolist() == b.heads.tolist() == c.heads.tolist()
        assert np.array_equal(a.confidence.margins, b.confidence.margins, equal_nan=True)
        assert np.array_equal(a.confidence.marginals, b.confidence.marginals, equal_nan=True)
        # the second best tree is that of the smallest margin
        if len(a.confidence.trees) == 2:
            first, second = (t.value for t in a.confidence.trees)
            assert np.nanmin(a.confidence.margins) == first - second, i
    assert DECODERS["branch-and-bound"]().decode(parser.problem(test, 0)).value == one[0].value
