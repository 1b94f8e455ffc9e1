"""Test the joint training of supertagger and parser: the gradient against enumeration, and interrupted runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ccg_corpus import derivations
from test_ccg_system import call

from treebound.systems.ccg import joint_training
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.joint import Transitions
from treebound.systems.ccg.joint_training import Example, JointTraining
from treebound.systems.ccg.kbest import KBest
from treebound.systems.ccg.settings import Settings
from treebound.systems.ccg.supertagger import train_supertagger
from treebound.systems.ccg.training import Task
from treebound.systems.ccg.words import words_of_strings
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import Derivation, Entry, to_text, write

ALL = 3_000
SIZES = {"chart_bits": 12, "tag_bits": 12, "tag_iterations": 5, "iterations": 5}


def synthetic_derivations(seed: int, count: int) -> list[Derivation]:
    """Return synthetic derivations, and derivations of one word with two possible categories.

    Messages are exact for a single word.
    """
    single_words = [Derivation(parse(f"S[{kind}]"), word="go", tag="VB") for kind in ("dcl", "dcl", "q", "q", "q")]
    return [*derivations(seed, count), *single_words]


@pytest.fixture(scope="module")
def training() -> JointTraining:
    """Return a joint training that starts from short separate training runs, with charts of all categories of a tag."""
    every = [d for d in synthetic_derivations(1, 120) if len(d.leaves()) < 12]
    words = words_of_strings([[(leaf.word, leaf.tag) for leaf in d.leaves()] for d in every])
    gold = [str(leaf.category) for d in every for leaf in d.leaves()]
    tagger, _ = train_supertagger(words, gold, bits=10, cutoff=1000, l2=0.5, iterations=3)
    settings = Settings(**SIZES, training_beams=("0:1000",))
    grammar = Grammar.read_off(every, tagger.categories, False)
    task = Task.prepare(settings, grammar, tagger, words, every, None)
    weights, _ = task.fit(settings, None, None)
    assert len(task.examples()) > 15
    return JointTraining(task.charts, tagger, words, weights, task.examples())


def likelihood(training: JointTraining, example: Example) -> float | None:
    """Return the log-probability of the gold derivation among all derivations of the chart.

    The result is None if the chart has only one derivation or too many.
    """
    joint, _ = training._beliefs(example, Transitions.of(training.tagger.weights.transition), 1)
    graph, none = joint.packed.chart.graph, len(joint.emission)
    ranking = KBest(graph, np.zeros(none + 1))
    ranked = ranking.best(ALL)
    if not 1 < len(ranked) < ALL:
        return None
    strings = [(leaf.word, leaf.tag) for leaf in example.derivation.leaves()]
    scores, right = [], []
    for derivation in ranked:
        edges = ranking.edges(derivation)
        tags = np.array(sorted(int(graph.var[e]) for e in edges if graph.var[e] < none), np.int32)
        best = np.zeros(len(graph.first) - 1, np.int32)
        best[np.searchsorted(graph.first, edges, side="right") - 1] = edges
        scores.append(derivation[0] + joint.chain_score(tags))
        right.append(to_text(joint.packed.derivation(best, strings)) == to_text(example.derivation))
    every = np.array(scores)
    top = every.max()
    assert sum(right) == 1
    return float(every[np.array(right)][0] - top - np.log(np.exp(every - top).sum()))


@pytest.mark.parametrize("transitions", [False, True], ids=["without transitions", "of one word"])
def test_the_gradient_agrees_with_the_likelihood_if_messages_are_exact(
    training: JointTraining, transitions: bool
) -> None:
    rng, chain = np.random.default_rng(3), training.tagger.weights
    transition, before = chain.transition.copy(), training.weights()
    checked = 0
    try:
        if not transitions:
            chain.transition[:] = 0.0
        w, moving = 0.2 * training.weights(), len(training.used) + len(training.of_table)
        training.set(w)  # small weights: no derivation is nearly certain
        for example in training.examples:
            if (len(example.sentence.form) == 1) != transitions or checked > 8:
                continue
            gradient, failed = training.gradient([example], 3)
            direction = rng.standard_normal(len(w))
            if not transitions:
                direction[moving:] = 0.0
            h, ends = 0.01, []
            for sign in (1, -1):
                training.set(w + sign * h * direction)
                ends.append(likelihood(training, example))
            training.set(w)
            if ends[0] is None or ends[1] is None:
                continue
            assert failed == 0
            assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=0.01, abs=2e-3)
            assert np.abs(gradient).sum() > 0.01
            checked += 1
    finally:
        chain.transition[:] = transition
        training.set(before)
    assert checked > 3


def test_training_raises_the_likelihood(training: JointTraining) -> None:
    """Check that joint training raises the likelihood of the gold derivations.

    The joint model initially counts the evidence of both models twice.
    """
    before = training.weights()
    initial = [
        log_likelihood for example in training.examples if (log_likelihood := likelihood(training, example)) is not None
    ]
    settings = Settings(**SIZES, joint_epochs=4, joint_rate=0.2, l2=0.0, tag_l2=0.0)
    weights, tagger, history = training.fit(settings, None, None)
    after = [
        log_likelihood for example in training.examples if (log_likelihood := likelihood(training, example)) is not None
    ]
    assert sum(after) > sum(initial) + 0.1
    assert history[-1]["gradient"] < history[0]["gradient"]
    assert weights.dtype == np.float32
    assert tagger.weights.table is training.tagger.weights.table
    training.set(before)


def test_an_interrupted_training_gives_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seed, count in (("train", 1, 30), ("dev", 2, 5)):
        write(
            tmp_path / f"{name}.auto", [Entry(str(i), d) for i, d in enumerate(synthetic_derivations(seed, count), 1)]
        )
    options = [part for name, n in (SIZES | {"joint_epochs": 3}).items() for part in (f"--{name.replace('_', '-')}", n)]

    def train(target: Path) -> None:
        files = tmp_path / "train.auto", tmp_path / "dev.auto", "-o", target
        call("train", *files, "--system", "ccg", *options)

    train(tmp_path / "whole.npz")
    original, epochs = JointTraining.gradient, [0]

    def stopped(self: JointTraining, *arguments: object) -> object:
        epochs[0] += 1
        if epochs[0] == 8:  # in the second epoch of four batches
            raise RuntimeError("killed")
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(joint_training.JointTraining, "gradient", stopped)
    with pytest.raises(RuntimeError, match="killed"):
        train(tmp_path / "resumed.npz")
    assert list(tmp_path.glob("*joint*"))
    train(tmp_path / "resumed.npz")
    assert (tmp_path / "resumed.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert not list(tmp_path.glob("*joint*"))
