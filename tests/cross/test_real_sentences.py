"""Compare decoders with each other on sentences scored by a trained model, whose trees cannot be enumerated.

The corpus is a converted treebank if one exists, else one from the mirror, else a synthetic treebank.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic_treebank

from treebound.checker.certificates import Certificate, check_parse
from treebound.checker.prover import Refutation, prove
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.decoders.kbest import kbest
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks import storage
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert import convert
from treebound.treebanks.fetch import fetch

CONVERTED = Path(__file__).parents[2] / "data" / "converted"
FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
BOUNDED = ("grandchild", "sibling")


def treebanks(folder: Path) -> tuple[Treebank, Treebank]:
    """Return the training and the test treebank."""
    for name in ("tr_twt", "en_ewt", "pt_petrogold"):
        if (CONVERTED / name / "conversion.json").exists():
            return storage.load(CONVERTED / name / "train.npz"), storage.load(CONVERTED / name / "test.npz")
    mirror = os.environ.get("TREEBANK_MIRROR")
    if mirror and Path(mirror).is_dir():
        corpus = CORPORA["tr_imst"]
        convert(corpus, fetch(corpus, folder, mirror), folder)
        return storage.load(folder / corpus.name / "train.npz"), storage.load(folder / corpus.name / "test.npz")
    return synthetic_treebank(600, 1), synthetic_treebank(900, 2)


@pytest.fixture(scope="module")
def parsed(tmp_path_factory) -> tuple[Parser, Treebank]:
    """Return a parser with all families, trained on a few hundred sentences, and sentences it was not trained on."""
    train_sentences, test = treebanks(tmp_path_factory.mktemp("corpus"))
    train_sentences = train_sentences.select(np.arange(min(300, len(train_sentences))))
    pruner = train_pruner(train_sentences, epochs=1, bits=18)
    spec = Settings(FAMILIES, labels="none", epochs=2, bits=18, max_dp_calls=60)
    return Parser(train(spec, train_sentences, train_sentences.select(np.arange(20)), pruner)), test


@pytest.fixture(scope="module")
def real_problems(parsed) -> list[Problem]:
    """Return the problems of the first 400 sentences of 2 to 40 words."""
    parser, test = parsed
    chosen = np.flatnonzero((test.lengths >= 2) & (test.lengths <= 40))[:400]
    return [parser.problem(test, int(i)) for i in chosen]


def only(problem: Problem, families: tuple[str, ...]) -> Problem:
    return dataclasses.replace(problem, parts={f: problem.parts[f] for f in families})


@pytest.mark.parametrize("sentences", [20, pytest.param(200, marks=pytest.mark.long)])
def test_sentences_against_the_integer_program(real_problems, sentences):
    """Compare branch-and-bound with the integer program on short sentences.

    The solver is slow, works in floating point and may stop 1e-8 short of the best score.
    """
    search, program = DECODERS["branch-and-bound"](), DECODERS["ilp"](time_limit=120)
    short = [p for p in real_problems if p.n <= 16][:sentences]
    assert len(short) == sentences
    different = 0
    for i, problem in enumerate(short):
        exact, solved = search.decode(problem), program.decode(problem)
        assert check_parse(problem, exact) == check_parse(problem, solved) == [], f"sentence {i}"
        assert (exact.status, solved.status) == ("optimal", "optimal"), f"sentence {i}"
        assert 0 <= exact.value - solved.value <= 1e-8 * max(1.0, abs(exact.value)), f"sentence {i}"
        different += exact.heads.tolist() != solved.heads.tolist()
    assert different < max(2, sentences / 40)  # equal scores are rare among real ones


@pytest.mark.parametrize(("k", "words", "sentences"), [(2, 12, 5), (10, 7, 3), (50, 5, 1)])
def test_k_best_against_repeated_exclusion_in_the_integer_program(real_problems, k, words, sentences):
    """Compare the k-best list with an integer program that is solved k times, each time without the trees found so far.

    The solver works in floating point.
    """
    search, program = DECODERS["branch-and-bound"](), DECODERS["ilp"](time_limit=120)
    chosen = [p for p in real_problems if words - 3 <= p.n <= words][:sentences]
    assert len(chosen) == sentences
    for i, problem in enumerate(chosen):
        result = kbest(search, problem, k)
        assert result.complete, f"sentence {i}"
        trees: list[np.ndarray] = []
        for parse in result.parses:
            assert check_parse(problem, parse) == [], f"sentence {i}"
            solved = program.decode(problem, trees)
            assert solved.status == "optimal", f"sentence {i}"
            assert abs(parse.value - solved.value) <= 1e-8 * max(1.0, abs(parse.value)), f"sentence {i}"
            trees.append(solved.heads)
        if len(result.parses) < k:
            assert program.decode(problem, trees).status == "infeasible", f"sentence {i}"


@pytest.mark.parametrize("families", [FAMILIES, BOUNDED], ids="+".join)
@pytest.mark.parametrize("sentences", [50, pytest.param(150, marks=pytest.mark.long)])
def test_backbones_and_configurations_agree(real_problems, families, sentences):
    backbones = (
        ("eisner", "carreras", "grandparent-sibling")
        if families == BOUNDED
        else (
            "carreras",
            "grandparent-sibling",
        )
    )
    decoders = [
        DECODERS["branch-and-bound"](config=config, backbone=backbone)
        for config in ("tuned", "published")
        for backbone in backbones
    ]
    for i, problem in enumerate(real_problems[:sentences]):
        problem = only(problem, families)
        if problem.n > 20:
            continue
        parses = [decoder.decode(problem) for decoder in decoders]
        assert {p.status for p in parses} == {"optimal"}, f"sentence {i}"
        assert len({p.value for p in parses}) == 1, f"sentence {i}: {[p.value for p in parses]}"
        assert all(check_parse(problem, p) == [] for p in parses), f"sentence {i}"


@pytest.mark.parametrize("sentences", [30, pytest.param(80, marks=pytest.mark.long)])
def test_claims_of_branch_and_bound_can_be_proved_without_it(real_problems, sentences):
    """Check that the prover finds its own certificate for every claimed optimum and that the checker accepts it."""
    search = DECODERS["branch-and-bound"]()
    for i, problem in enumerate(p for p in real_problems[:sentences] if p.n <= 25):
        parse = search.decode(problem)
        certificate = prove(problem, parse.bound)
        assert isinstance(certificate, Certificate), f"sentence {i}"
        assert check_parse(problem, parse, certificate) == [], f"sentence {i}"
        assert isinstance(prove(problem, parse.value - 1), Refutation), f"sentence {i}"
