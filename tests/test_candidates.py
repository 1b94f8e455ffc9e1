"""Test the candidate arcs of training: which pruner prunes each sentence, and which arcs remain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interrupted import Stop, stop_in_second_epoch
from synthetic import synthetic_treebank

from treebound.core.errors import InputError
from treebound.features.tokens import TokenTable
from treebound.learning.folds import fold_of
from treebound.learning.pruner import Pruner
from treebound.support.settings import SettingError
from treebound.systems.graph.candidates import candidates, jackknifed, pruner_for
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.system import Graph

TRAIN, DEV = synthetic_treebank(120, seed=1), synthetic_treebank(40, seed=2)
TABLE, GOLD = TokenTable(TRAIN), [TRAIN.heads(i) for i in range(len(TRAIN))]
FOLDS, K = 3, 5


def spec(**changes) -> Settings:
    defaults = {"families": ("sibling",), "epochs": 2, "k": K, "bits": 16, "labels": "none", "pruner_bits": 14}
    return Settings(**defaults | {"pruner_epochs": 1, "pruner_folds": FOLDS, "threshold": 0.2} | changes)


@pytest.fixture(scope="module")
def pruner() -> Pruner:
    return pruner_for(spec(), TRAIN)


@pytest.fixture(scope="module")
def pruners() -> list[Pruner]:
    return jackknifed(spec(), TRAIN)


def test_each_pruner_is_trained_on_all_folds_but_its_own(pruners):
    member = fold_of(len(TRAIN), FOLDS)
    for fold, trained in enumerate(pruners):
        alone = pruner_for(spec(), TRAIN.select(np.flatnonzero(member != fold)))
        assert np.array_equal(trained.weights, alone.weights)
    assert not np.array_equal(pruners[0].weights, pruners[1].weights)


def test_each_sentence_keeps_the_arcs_of_its_fold_pruner_and_the_gold_arcs(pruner, pruners):
    member, words, narrow, rescued = fold_of(len(TRAIN), FOLDS), 0, 0, 0
    for i, allowed in enumerate(candidates(spec(), TRAIN, TABLE, GOLD, pruner)):
        rows, tag = TABLE.sentence(i)
        few, all_k = (pruners[member[i]].allowed(rows, tag, K, threshold) for threshold in (0.2, 0.0))
        for m in range(1, len(tag)):
            gold, words = GOLD[i][m], words + 1
            expected = few if few[gold, m] else all_k
            assert set(np.flatnonzero(allowed[:, m])) == {gold, *np.flatnonzero(expected[:, m])}
            narrow += allowed[:, m].sum() < all_k[:, m].sum()
            rescued += not few[gold, m]
    assert narrow > words / 4
    assert 0 < rescued < words / 4


def test_without_folds_the_threshold_does_not_affect_training(pruner):
    plain, thresholded = (candidates(spec(pruner_folds=0, threshold=t), TRAIN, TABLE, GOLD, pruner) for t in (0.0, 0.2))
    for i, (allowed, same) in enumerate(zip(plain, thresholded, strict=True)):
        expected = pruner.allowed(*TABLE.sentence(i), K)
        expected[GOLD[i][1:], np.arange(1, len(GOLD[i]))] = True
        assert np.array_equal(allowed, expected)
        assert np.array_equal(same, expected)


def test_a_model_trains_with_folds_and_an_interrupted_run_resumes_exactly(tmp_path: Path):
    checkpoint, messages = tmp_path / "checkpoint.npz", []
    model = Graph().train(spec(), TRAIN, DEV, progress=lambda items, what: messages.append(what) or items)
    assert [what for what in messages if "fold" in what] == [
        f"fold {i + 1}/{FOLDS}, pruner epoch 1/1" for i in range(FOLDS)
    ]
    with pytest.raises(Stop):
        Graph().train(spec(), TRAIN, DEV, checkpoint=checkpoint, progress=stop_in_second_epoch)
    resumed = Graph().train(spec(), TRAIN, DEV, checkpoint=checkpoint)
    assert (resumed.weights == model.weights).all()
    plain = Graph().train(spec(pruner_folds=0), TRAIN, DEV)
    assert not np.array_equal(plain.weights, model.weights)
    assert np.array_equal(plain.pruner.weights, model.pruner.weights), (
        "the model must contain the pruner of all sentences"
    )
    resumed.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    assert loaded.spec == spec()
    assert all(parse.certified for parse in Parser(loaded).parse(DEV))


def test_impossible_numbers_of_folds_are_refused():
    with pytest.raises(SettingError, match="pruner_folds: a single fold leaves no sentences for the pruner"):
        spec(pruner_folds=1)
    with pytest.raises(InputError, match="120 sentences cannot be divided into 200 folds"):
        jackknifed(spec(pruner_folds=200).adapted_settings(TRAIN), TRAIN)


def test_defaults_follow_k_and_the_space():
    def both(**settings) -> tuple:
        spec = Settings(**settings)
        return spec.threshold, spec.pruner_folds

    assert both() == (0.001, 2)
    assert both(k=None) == both(space="non-projective") == both(threshold=0) == (0.0, 0)
    assert both(k=None, threshold=0.1) == (0.1, 2)
    assert both(pruner_folds=0) == (0.001, 0)
    assert Settings().adapted_settings(TRAIN.select(np.arange(1))).pruner_folds == 0, (
        "one sentence cannot be divided into folds"
    )
