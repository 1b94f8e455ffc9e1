"""The labelled model: scores are sums of features, training fits, files load unchanged, decoders in the loop."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from synthetic import synthetic_treebank

from treebound.constraints import TREE
from treebound.constraints.unique_labels import UniqueLabels
from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.decoders.exact.programs.incremental import IncrementalProgram, chu_liu_edmonds
from treebound.features.tokens import TokenTable
from treebound.kernels.features.scoring import Output, Place
from treebound.systems.constrained.features import labelled_features
from treebound.systems.constrained.model import LabelledModel, train_labelled
from treebound.systems.constrained.settings import Settings


def with_labels(treebank: Treebank) -> Treebank:
    """Replace the label of each arc by the tag of its dependent."""
    vocab = treebank.vocab | {"deprel": treebank.vocab["xpos"]}
    columns = treebank.columns | {"deprel": treebank.columns["xpos"]}
    return dataclasses.replace(treebank, vocab=vocab, columns=columns)


TRAIN, DEV = with_labels(synthetic_treebank(80, seed=1)), with_labels(synthetic_treebank(30, seed=2))


@pytest.fixture(scope="module")
def model() -> LabelledModel:
    return train_labelled(Settings(epochs=3, bits=12), TRAIN)


def accuracy(model: LabelledModel, treebank: Treebank) -> tuple[float, float]:
    """Return the shares of words with the right head, and with the right head and label."""
    table = TokenTable(treebank)
    right = both = 0
    for i in range(len(treebank)):
        parse, labels = chu_liu_edmonds(model.problem(table, i, 3))
        gold = treebank[i]
        same = parse.heads[1:] == gold.heads[1:]
        named = np.array([model.names[k] for k in labels[1:]]) == np.array(gold.strings("deprel"))
        right, both = right + int(same.sum()), both + int((same & named).sum())
    return right / treebank.words, both / treebank.words


def test_training_fits_and_carries_over(model):
    errors = [record["train_errors"] for record in model.history]
    assert errors[-1] < errors[0]
    uac, lac = accuracy(model, DEV)
    empty = LabelledModel(model.spec, np.zeros_like(model.weights), model.unit, model.names, model.attributes)
    assert uac > accuracy(empty, DEV)[0] + 0.2
    assert uac >= lac > 0.9 * uac  # the label is the tag of the dependent


def test_scores_are_exact_sums_of_the_features(model):
    table = TokenTable(DEV)
    slots, signs = np.empty(1 << 16, np.int64), np.empty(1 << 16, np.float32)
    flat = model.weights.reshape(-1)
    for i in range(5):
        rows, tag = table.sentence(i)
        head, mod, scores = model.scores(rows, tag)
        assert (scores == np.rint(scores)).all()
        for a in range(0, len(head), 7):
            for label in range(len(model.names)):
                arc, out = (int(head[a]), int(mod[a]), label), Output(slots, signs, 1.0, Place(0, model.mask))
                count = labelled_features(model.templates, rows, tag, arc, model.weights.shape[1], out, 0)
                assert scores[a, label] == flat[slots[:count]].astype(np.int64).sum()


def test_problems_list_the_best_labels_first(model):
    table = TokenTable(DEV)
    rows, tag = table.sentence(0)
    _, _, scores = model.scores(rows, tag)
    problem = model.problem(table, 0, 3)
    assert problem.score.tolist() == np.sort(scores, axis=1)[:, ::-1][:, :3].tolist()
    assert problem.problem.arc.tolist() == scores.max(axis=1).tolist()
    assert problem.problem.unit == model.unit


def test_files_come_back_and_others_are_refused(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = LabelledModel.load(tmp_path / "model.npz")
    assert (loaded.weights == model.weights).all()
    assert (loaded.spec, loaded.unit, loaded.names, loaded.history) == (
        model.spec,
        model.unit,
        model.names,
        model.history,
    )
    (tmp_path / "cut.npz").write_bytes((tmp_path / "model.npz").read_bytes()[:500])
    with pytest.raises(ModelError, match="truncated or foreign"):
        LabelledModel.load(tmp_path / "cut.npz")


def test_training_is_deterministic(model):
    assert (train_labelled(Settings(epochs=3, bits=12), TRAIN).weights == model.weights).all()


def test_a_decoder_in_the_loop():
    """Chu-Liu-Edmonds and the integer program without further constraints learn the same weights.

    A constraint on labels changes the weights.
    """
    small, spec = TRAIN.select(np.arange(15)), Settings(epochs=1, bits=12, k=20)
    plain = train_labelled(spec, small)
    trees = train_labelled(spec, small, decoder=IncrementalProgram(TREE).decode_labelled)
    assert (plain.weights == trees.weights).all()
    constrained = IncrementalProgram([*TREE, UniqueLabels(["N"])]).decode_labelled
    assert (train_labelled(spec, small, decoder=constrained).weights != plain.weights).any()
