"""Test margins, marginals and k-best lists of parses, in the model's units, against enumeration."""

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


def tree_marginals(problem, marginal, heads):
    chosen = heads[problem.mod] == problem.head
    return marginal[chosen][np.argsort(problem.mod[chosen])]


@pytest.mark.parametrize("unit", [1.0, 50.0])
def test_margins_marginals_and_k_best_together(unit):
    rng = np.random.default_rng(1)
    decoder = BranchAndBound(record=True)
    assess = Assess(margins=True, marginals=True, k=3, scale=0.02)
    for _ in range(30):
        problem = random_problem(rng, FAMILIES, max_n=5, feasible=True, integer=True, kind="dense")
        problem = dataclasses.replace(problem, unit=unit)
        parse = assess(decoder, problem, decoder.decode(problem))
        assert parse.certified
        confidence, score = parse.confidence, scores(problem)
        every = trees(problem.n, single_root=problem.single_root)
        assert [t.value for t in confidence.trees] == np.sort(score[score > -np.inf])[::-1][:3].tolist()
        assert confidence.trees[0].value == parse.value
        assert confidence.complete
        for m in range(1, problem.n + 1):
            without = score[every[:, m] != parse.heads[m]].max(initial=-np.inf)
            assert confidence.margins[m] == parse.value - without
        assert np.isnan(confidence.margins[0])
        assert np.isnan(confidence.marginals[0])
        expected = tree_marginals(problem, arc_marginals(problem, scale=0.02), parse.heads)
        assert confidence.marginals[1:].tolist() == expected.tolist()


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_marginals_count_the_families_of_the_backbone(space):
    """Check that marginals ignore pairs of siblings, and all families but arcs for non-projective trees."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        families = [f for f in FAMILIES if rng.random() < 0.5]
        problem = random_problem(rng, families, max_n=5, space=space, feasible=True, integer=True, kind="dense")
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


def test_unproved_parses_have_no_margins_and_no_complete_list():
    rng = np.random.default_rng(4)
    decoder = BranchAndBound(backbone="carreras", max_dp_calls=1)
    problems = (random_problem(rng, FAMILIES, feasible=True, kind="mixed") for _ in range(200))
    problem = next(p for p in problems if not decoder.decode(p).certified)
    confidence = Assess(margins=True, k=5)(decoder, problem, decoder.decode(problem)).confidence
    assert np.isnan(confidence.margins).all()
    assert len(confidence.trees) == 1
    assert not confidence.complete


def test_confidence_does_not_depend_on_the_number_of_workers():
    train_sentences = synthetic_treebank(150, 1)
    pruner = train_pruner(train_sentences, epochs=1, bits=14)
    model = train(
        Settings(FAMILIES, "mira", 1, k=4, bits=14, labels="none", max_dp_calls=0),
        train_sentences,
        train_sentences.select(np.arange(10)),
        pruner,
    )
    parser, test = Parser(model), synthetic_treebank(50, 2)
    assess = Assess(margins=True, marginals=True, k=2)
    serial, parallel = parser.parse(test, confidence=assess), parser.parse(test, workers=2, confidence=assess)
    plain = parser.parse(test)
    for i, (a, b, c) in enumerate(zip(serial, parallel, plain, strict=True)):
        assert c.confidence is None
        assert a.heads.tolist() == b.heads.tolist() == c.heads.tolist()
        assert np.array_equal(a.confidence.margins, b.confidence.margins, equal_nan=True)
        assert np.array_equal(a.confidence.marginals, b.confidence.marginals, equal_nan=True)
        # the second best tree defines the smallest margin
        if len(a.confidence.trees) == 2:
            first, second = (t.value for t in a.confidence.trees)
            assert np.nanmin(a.confidence.margins) == first - second, i
    assert DECODERS["branch-and-bound"]().decode(parser.problem(test, 0)).value == serial[0].value
