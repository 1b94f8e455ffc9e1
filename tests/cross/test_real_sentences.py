"""Decoders against each other on sentences scored by a trained model, where nothing can be enumerated.

The corpus is a converted one if there is any, else one from the mirror, else a made-up language.
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
    """(train, test)."""
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
    """A parser with all families, trained on a few hundred sentences, and sentences that it has not seen."""
    learn, test = treebanks(tmp_path_factory.mktemp("corpus"))
    learn = learn.select(np.arange(min(300, len(learn))))
    pruner = train_pruner(learn, epochs=1, bits=18)
    spec = Settings(FAMILIES, labels="none", epochs=2, bits=18, max_dp_calls=60)
    return Parser(train(spec, learn, learn.select(np.arange(20)), pruner)), test


@pytest.fixture(scope="module")
def real_problems(parsed) -> list[Problem]:
    """The first 400 sentences of 2 to 40 words."""
    parser, test = parsed
    chosen = np.flatnonzero((test.lengths >= 2) & (test.lengths <= 40))[:400]
    return [parser.problem(test, int(i)) for i in chosen]


def only(problem: Problem, families: tuple[str, ...]) -> Problem:
    return dataclasses.replace(problem, parts={f: problem.parts[f] for f in families})


@pytest.mark.parametrize("sentences", [20, pytest.param(200, marks=pytest.mark.long)])
def test_sentences_against_the_integer_program(real_problems, sentences):
    """Short ones: the solver takes its time. It works in floating point and may stop 1e-8 short of the best score."""
    search, program = DECODERS["branch-and-bound"](), DECODERS["ilp"](time_limit=120)
    short = [p for p in real_problems if p.n <= 16][:sentences]
    assert len(short) == sentences
    different = 0
    for i, problem in enumerate(short):
        ours, theirs = search.decode(problem), program.decode(problem)
        assert check_parse(problem, ours) == check_parse(problem, theirs) == [], f"sentence {i}"
        assert (ours.status, theirs.status) == ("optimal", "optimal"), f"sentence {i}"
        assert 0 <= ours.value - theirs.value <= 1e-8 * max(1.0, abs(ours.value)), f"sentence {i}"
        different += ours.heads.tolist() != theirs.heads.tolist()
    assert different < max(2, sentences / 40)  # equal scores are rare among real ones


@pytest.mark.parametrize(("k", "words", "sentences"), [(2, 12, 5), (10, 7, 3), (50, 5, 1)])
def test_k_best_against_repeated_exclusion_in_the_integer_program(real_problems, k, words, sentences):
    """Every tree that was found is forbidden in turn; the solver works in floating point."""
    search, program = DECODERS["branch-and-bound"](), DECODERS["ilp"](time_limit=120)
    chosen = [p for p in real_problems if words - 3 <= p.n <= words][:sentences]
    assert len(chosen) == sentences
    for i, problem in enumerate(chosen):
        result = kbest(search, problem, k)
        assert result.complete, f"sentence {i}"
        trees: list[np.ndarray] = []
        for parse in result.parses:
            assert check_parse(problem, parse) == [], f"sentence {i}"
            other = program.decode(problem, trees)
            assert other.status == "optimal", f"sentence {i}"
            assert abs(parse.value - other.value) <= 1e-8 * max(1.0, abs(parse.value)), f"sentence {i}"
            trees.append(other.heads)
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
    """The prover finds a certificate of its own for every claimed optimum, and the checker accepts it."""
    search = DECODERS["branch-and-bound"]()
    for i, problem in enumerate(p for p in real_problems[:sentences] if p.n <= 25):
        parse = search.decode(problem)
        certificate = prove(problem, parse.bound)
        assert isinstance(certificate, Certificate), f"sentence {i}"
        assert check_parse(problem, parse, certificate) == [], f"sentence {i}"
        assert isinstance(prove(problem, parse.value - 1), Refutation), f"sentence {i}"
