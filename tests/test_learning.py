"""Pruner, learners and model file: deterministic, resumable, exact, and strict about foreign files."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interrupted import Stop, stop_in_second_epoch
from mutants import ModelFile
from synthetic import synthetic_treebank

from treebound.checker.certificates import check_parse
from treebound.checker.scoring import tree_score
from treebound.core.errors import InputError, ModelError, TreeboundError, UnsupportedError
from treebound.core.treebank import Treebank
from treebound.features.scorer import Scorer
from treebound.features.tree_score import PartScore
from treebound.learning.checkpoint import Checkpoint, Trained
from treebound.learning.difference import Difference
from treebound.learning.pruner import Pruner, train_pruner
from treebound.learning.updates import UPDATES, Learner, Mira, Perceptron
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser, load
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

ALL = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
TRAIN, DEV = synthetic_treebank(150, seed=1), synthetic_treebank(60, seed=2)


def spec(**changes) -> Settings:
    return Settings(
        **{"families": ALL, "epochs": 2, "k": 5, "bits": 16, "max_dp_calls": 50, "labels": "none"}
        | {"threshold": 0, "pruner_folds": 0}
        | changes
    )


@pytest.fixture(scope="module")
def pruner() -> Pruner:
    return train_pruner(TRAIN, epochs=2, bits=14)


@pytest.fixture(scope="module")
def model(pruner) -> Model:
    return train(spec(), TRAIN, DEV, pruner)


def uas(model: Model, **options) -> float:
    return evaluate(DEV, [p.heads for p in Parser(model, **options).parse(DEV)]).summary["uas"]


@pytest.mark.parametrize("learner", ["perceptron", "mira"])
def test_learning_learns(learner, pruner):
    learnt = train(spec(learner=learner), TRAIN, DEV, pruner)
    untrained = Model(learnt.spec, np.zeros_like(learnt.weights), learnt.unit, pruner, learnt.meta, [])
    assert uas(learnt) > uas(untrained) + 20
    assert uas(learnt) == pytest.approx(max(record["dev_uas"] for record in learnt.history))
    assert learnt.history[-1]["train_accuracy"] > learnt.history[0]["train_accuracy"]


def test_a_rate_is_a_feature_of_another_size():
    """A learning rate for each weight has the same effect as features of size sqrt(rate)."""
    rng = np.random.default_rng(3)
    size, limit = 16, 0.3
    rate = rng.choice([0.01, 0.1, 1.0], size).astype(np.float32)
    learner = Learner(size, Mira(limit))
    plain, total = np.zeros(size), np.zeros(size)
    for _ in range(40):
        learner.examples += 1
        slots = rng.integers(0, size, 12)
        signs = rng.choice([-1.0, 1.0], 12).astype(np.float32)
        sized = np.bincount(slots, signs, size) * np.sqrt(rate)
        if sized.any():
            plain += max(0.0, min(limit, (1.0 - plain @ sized) / (sized @ sized))) * sized
        learner.update(slots.copy(), signs.copy(), rate[slots], 12, 1.0)
        total += plain
        np.testing.assert_allclose(learner.weights, np.sqrt(rate) * plain, rtol=1e-4, atol=1e-6)
    averaged, unit = learner.average()
    np.testing.assert_allclose(averaged / unit, np.sqrt(rate) * total / 40, rtol=1e-3, atol=1e-4)


def test_the_perceptron_steps_by_ones():
    learner = Learner(4, Perceptron())
    learner.examples = 1
    learner.update(np.arange(4), np.float32([1, -1, 1, 0]), np.float32([0.1, 1, 0.5, 1]), 4, 0.0)
    assert learner.weights.tolist() == [1, -1, 1, 0]


def test_a_difference_of_millions_of_features_fits_its_buffers(pruner, monkeypatch):
    """The buffers of an update hold all features of a word with 90 dependents.

    It has 117,480 triples of dependents, each with dozens of features.
    """
    words = 91
    columns = {name: np.resize(values, words) for name, values in TRAIN.columns.items()}
    heads = np.r_[0, np.ones(words - 1)].astype(np.int32)
    flat = Treebank("flat", np.array([0, words]), columns, TRAIN.vocab, heads, TRAIN.meta)
    rooms, reserve, features = [], Difference.reserve, Scorer.features
    monkeypatch.setattr(Difference, "reserve", lambda self, room: rooms.append(room) or reserve(self, room))
    counts = []

    def counted(self, *arguments, **options):
        counts.append(features(self, *arguments, **options))
        return counts[-1]

    monkeypatch.setattr(Scorer, "features", counted)
    train(spec(families=("tri-sibling",), epochs=1, max_dp_calls=1), flat, DEV.select(range(3)), pruner)
    assert 2_000_000 < max(counts) <= max(rooms)


def test_the_same_seed_gives_the_same_model(model, pruner):
    repeated = train(spec(), TRAIN, DEV, pruner)
    assert (repeated.weights == model.weights).all()
    with_other_seed = train(spec(seed=2), TRAIN, DEV, pruner)
    assert (with_other_seed.weights != model.weights).any()


def test_a_stopped_run_resumes_to_the_same_model(model, pruner, tmp_path):
    checkpoint = tmp_path / "checkpoint.npz"
    with pytest.raises(Stop):
        train(spec(), TRAIN, DEV, pruner, checkpoint=checkpoint, progress=stop_in_second_epoch)
    assert checkpoint.exists()
    seen: list[str] = []

    def note(sentences, what):
        seen.append(what)
        return sentences

    resumed = train(spec(), TRAIN, DEV, pruner, checkpoint=checkpoint, progress=note)
    assert [what[:7] for what in seen if what.startswith("epoch")] == ["epoch 2"]
    assert seen == ["candidate heads", seen[1], "dev, epoch 2/2"]
    assert (resumed.weights == model.weights).all()
    assert not checkpoint.exists()


def test_a_checkpoint_stores_the_nonzero_entries(tmp_path: Path) -> None:
    """The bits of a checkpoint select the nonzero entries. A file whose bits do not match its entries is not used."""

    def learner() -> Learner:
        return Learner(37, UPDATES["perceptron"](0.01))

    rng = np.random.default_rng(3)
    for share in (0.0, 0.1, 1.0):
        first, path = learner(), tmp_path / f"{share}.npz"
        first.weights[:] = rng.normal(size=37) * (rng.random(37) < share)
        first.sums[:] = rng.normal(size=37) * (rng.random(37) < share)
        best = (rng.integers(-9, 9, 37) * (rng.random(37) < share)).astype(np.int32)
        Checkpoint(path, "key", first).save(Trained((best, 2.0), [{"epoch": 1}], (1.0, 2.0)))
        two = learner()
        two.weights[:], two.sums[:] = 7.0, 7.0
        resumed = Checkpoint(path, "key", two).resume()
        assert resumed is not None
        assert np.array_equal(resumed.best[0], best)
        assert np.array_equal(first.weights, two.weights)
        assert np.array_equal(first.sums, two.sums)
        assert (resumed.best[1], resumed.history, resumed.seconds) == (2.0, [{"epoch": 1}], (1.0, 2.0))
        assert Checkpoint(path, "another", learner()).resume() is None
    content = (tmp_path / "0.1.npz").read_bytes()
    damaged = tmp_path / "damaged.npz"
    # the last byte describes five entries and ends with the end bit
    for place, bit in ((0, 1), (0, 128), (-1, 2), (-1, 4)):
        file = ModelFile(content)
        file.arrays["sums.kept"][place] ^= bit
        damaged.write_bytes(file.written())
        assert Checkpoint(damaged, "key", learner()).resume() is None
    for kept in (np.zeros(5, np.uint8), np.zeros(0, np.uint8), np.zeros(5, np.uint16)):
        file = ModelFile(content)
        file.arrays["sums.kept"] = kept
        damaged.write_bytes(file.written())
        assert Checkpoint(damaged, "key", learner()).resume() is None


def test_a_checkpoint_of_another_run_is_not_taken(pruner, tmp_path):
    checkpoint = tmp_path / "checkpoint.npz"
    stored = tmp_path / "kept.npz"

    def keep(sentences, what):
        if checkpoint.exists():
            shutil.copy(checkpoint, stored)
        return sentences

    train(spec(), TRAIN, DEV, pruner, checkpoint=checkpoint, progress=keep)
    for damage in (b"", b"not a zip", stored.read_bytes()[:-100], stored.read_bytes()):
        checkpoint.write_bytes(damage)
        fresh = train(spec(cost=0.25, epochs=1), TRAIN, DEV, pruner, checkpoint=checkpoint)
        assert [record["epoch"] for record in fresh.history] == [1]


def test_the_perceptron_average_is_exact():
    """Integer accumulators give the exact average of the weights, times the number of examples."""
    rng = np.random.default_rng(0)
    learner = Learner(1 << 12, Perceptron())
    total = np.zeros(1 << 12, np.int64)
    current = np.zeros(1 << 12, np.int64)
    for _ in range(500):
        learner.examples += 1
        slots = rng.integers(0, 1 << 12, 20)
        values = rng.integers(-2, 3, 20)
        for s, v in zip(slots, values, strict=True):
            learner.weights[s] += v
            learner.sums[s] += (learner.examples - 1) * v
            current[s] += v
        total += current
    weights, unit = learner.average()
    assert unit == 500
    assert (weights == total).all()


@pytest.mark.parametrize("large", [1e6, -1e6])
def test_fixed_point_scales_for_large_weights(large):
    learner = Learner(1 << 12, Mira(1.0))
    learner.weights[5] = large
    learner.examples = 1
    weights, unit = learner.average()
    assert weights[5] / unit == large
    assert unit < 2**16


def test_fixed_point_scales_for_rounding():
    """The unit is halved if rounding would make a weight too large.

    With 2^16 units per 1.0, the average would be below 2^31 units before rounding, and 2^31 afterwards.
    """
    learner = Learner(1 << 12, Mira(1.0))
    learner.sums[5] = -(2**15 - 1e-6)
    learner.examples = 1
    weights, unit = learner.average()
    assert (weights[5], unit) == (2**30, 2**15)


@pytest.mark.parametrize("k", [3, None])
def test_scores_are_the_exact_scores_of_the_trees(model, k):
    parser = Parser(model, k=k)
    for i, parse in enumerate(parser.parse(DEV)[:25]):
        problem = parser.problem(DEV, i)
        assert parse.certified
        assert parse.value == tree_score(problem, parse.heads)
        assert check_parse(problem, parse) == []


def test_workers_change_nothing(model):
    single, parallel = (Parser(model).parse(DEV, workers=w) for w in (1, 2))
    assert [(p.heads.tolist(), p.value, p.bound, p.status, p.work) for p in single] == [
        (p.heads.tolist(), p.value, p.bound, p.status, p.work) for p in parallel
    ]


def test_a_saved_model_loads_unchanged(model, tmp_path):
    path = tmp_path / "a folder" / "model.npz"
    model.save(path)
    loaded = Model.load(path)
    assert (loaded.weights == model.weights).all()
    assert (loaded.spec, loaded.unit, loaded.meta, loaded.history) == (
        model.spec,
        model.unit,
        model.meta,
        model.history,
    )
    heads = [p.heads.tolist() for p in load(path).parse(DEV)]
    assert heads == [p.heads.tolist() for p in Parser(model).parse(DEV)]
    first = path.read_bytes()
    model.save(path)
    assert path.read_bytes() == first  # the same model gives the same bytes
    assert [p.name for p in path.parent.iterdir()] == ["model.npz"]


def test_foreign_and_damaged_files_are_refused_in_one_line(model, pruner, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    whole = path.read_bytes()
    bad = {
        "empty": b"",
        "text": b"# text = hello\n",
        "half": whole[: len(whole) // 2],
        "flipped": whole[:2000] + bytes(b ^ 255 for b in whole[2000:2600]) + whole[2600:],
    }
    for content in bad.values():
        path.write_bytes(content)
        with pytest.raises(ModelError) as error:
            Model.load(path)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)
    pruner.save(path)
    with pytest.raises(ModelError, match="not a treebound model"):
        Model.load(path)
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("header", '{"format": "treebound", "kind": "model", "version": 99}')
    with pytest.raises(ModelError, match="version 99"):
        Model.load(path)
    with pytest.raises(ModelError, match="no such model"):
        Model.load(tmp_path / "absent.npz")


def test_unwritable_output_leaves_nothing(model, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TreeboundError, match="cannot be written"):
        model.save(tmp_path / "file" / "model.npz")


def test_pruning_keeps_k_heads_and_recall_grows_with_k(pruner):
    recall = pruner.recall(DEV, [1, 3, 5, 40])
    assert sorted(recall.values()) == list(recall.values())
    assert recall[40] == 1.0
    assert recall[5] > 0.9
    from treebound.features.tokens import TokenTable

    table = TokenTable(DEV)
    for i in range(10):
        rows, tag = table.sentence(i)
        n = len(tag) - 1
        for k in (1, 3, None):
            allowed = pruner.allowed(rows, tag, k)
            assert not allowed[:, 0].any()
            assert not allowed.diagonal().any()
            assert (allowed.sum(axis=0)[1:] == (n if k is None else min(k, n))).all()


def test_a_threshold_keeps_heads_that_are_nearly_as_probable_as_the_best(pruner):
    from treebound.features.tokens import TokenTable

    table, fewer = TokenTable(DEV), 0
    for i in range(10):
        rows, tag = table.sentence(i)
        head, mod, scores = pruner.scores(rows, tag)
        likely = np.exp(scores)
        for k, threshold in ((3, 1e-2), (None, 1e-3), (40, 0.5)):
            best = pruner.allowed(rows, tag, k)
            for h, m, p in zip(head, mod, likely, strict=True):
                best[h, m] &= p >= threshold * likely[mod == m].max() * (1 + 1e-9)
            allowed = pruner.allowed(rows, tag, k, threshold)
            assert np.array_equal(allowed, best)
            fewer += int(allowed.sum() < pruner.allowed(rows, tag, k).sum())
    assert fewer > 10
    kept, heads = pruner.kept(DEV, 3, 0.0)
    assert kept == pruner.recall(DEV, [3])[3]
    assert heads > pruner.kept(DEV, 3, 1e-2)[1] > 1


def test_a_model_parses_with_the_threshold_that_it_was_trained_with(model):
    with_threshold = replace(model.spec, threshold=1e-2)
    thresholded = Model(
        with_threshold, model.weights, model.unit, model.pruner, model.meta, model.history, model.labelling.names
    )
    narrow, wide = Parser(thresholded), Parser(thresholded, threshold=0.0)
    assert Parser(thresholded, k=None).threshold == 0.0, "all heads"
    assert [p.heads.tolist() for p in wide.parse(DEV)] == [p.heads.tolist() for p in Parser(model).parse(DEV)]
    for i, parse in enumerate(narrow.parse(DEV)):
        assert parse.certified
        assert check_parse(narrow.problem(DEV, i), parse) == []
        assert narrow.problem(DEV, i).arcs <= wide.problem(DEV, i).arcs


def test_where_k_heads_admit_no_tree_the_pruners_tree_is_added(model):
    """One head per word rarely forms a tree. The parser must still return a tree with a certificate."""
    parser = Parser(model, k=1)
    for i, parse in enumerate(parser.parse(DEV)):
        assert parse.status == "optimal"
        assert (parse.heads[1:] == 0).sum() == 1, i
        assert check_parse(parser.problem(DEV, i), parse) == []


def test_a_decoder_that_cannot_score_the_model_is_refused(model):
    with pytest.raises(UnsupportedError, match="sibling"):
        Parser(model, decoder="carreras")


@pytest.mark.parametrize("change", [{"families": ("cousin",)}, {"learner": "svm"}, {"bits": 99}])
def test_a_wrong_specification_lists_the_possible_values(change):
    with pytest.raises(InputError, match="choose"):
        spec(**change)


def test_gold_trees_are_scored_on_the_scale_of_parses(model):
    parser = Parser(model, k=3)
    scores = parser.scores_of_trees(DEV)
    parses = parser.parse(DEV)
    reached = 0
    for i, (score, parse) in enumerate(zip(scores, parses, strict=True)):
        assert score == tree_score(parser.problem(DEV, i), DEV.heads(i))
        if np.array_equal(parse.heads, DEV.heads(i)):
            assert score == parse.value
        if np.isfinite(score):
            reached += 1
            assert score <= parse.value
    assert 0 < reached < len(DEV), "the pruner removes some gold trees, but not all"


def test_trees_that_no_search_meets_score_nothing(model):
    i = int(np.argmax(DEV.lengths >= 4))
    selected = DEV.select(np.array([i]))
    chain = np.arange(selected.words, dtype=np.int32)
    crossing, two_roots = chain.copy(), chain.copy()
    crossing[:4] = 0, 4, 1, 1  # 4 -> 2 and 1 -> 3
    two_roots[1] = 0
    parser = Parser(model, k=None)
    assert np.isfinite(parser.scores_of_trees(selected.with_heads(chain))[0])
    for heads in (crossing, two_roots):
        assert parser.scores_of_trees(selected.with_heads(heads)) == [-np.inf]
        problem = parser.problem(selected, 0)
        assert np.isfinite(PartScore(problem).score(np.append(-1, heads).astype(np.int32))), "the tree has all its arcs"
