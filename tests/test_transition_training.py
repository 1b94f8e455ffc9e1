"""Learning and parsing with transitions: greedy, in parallel and with a beam; learners and model files."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from mutants import ModelFile
from synthetic import synthetic_treebank

from treebound.core.errors import InputError, ModelError, TreeboundError, UnsupportedError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.metrics.attachment import evaluate
from treebound.systems.transition.beam import make_beam, parse_with_beam
from treebound.systems.transition.classifiers import Classifier, LinearSVM, Perceptron
from treebound.systems.transition.configuration import ROWS, SYSTEMS, allowed, configuration, start, take, tree
from treebound.systems.transition.encoding import Encoding
from treebound.systems.transition.extraction import Words, extract, instances
from treebound.systems.transition.feature_models import load_models
from treebound.systems.transition.greedy import Machine, parse_greedily, parse_in_parallel
from treebound.systems.transition.linear import add, all_scores, averaged, empty, find_all_rows, perceptron_epoch
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.training import derive_all, train_model

MODELS = load_models()
TRAIN, DEV = synthetic_treebank(200, seed=1), synthetic_treebank(60, seed=2)
SMALL = Settings(epochs=3, bits=12)


def machine_and_words(system: str, treebank: Treebank = TRAIN) -> tuple[Machine, Words, np.ndarray, np.ndarray]:
    """Return (machine, words, X, y): instances X and their transitions y, from the derivations of a treebank.

    The instances have the features of the model F5.
    """
    encoding = Encoding.learn(treebank, MODELS["F5"])
    derived = derive_all(treebank, encoding, Settings(transitions=system), MODELS["F5"])
    c = configuration(int(treebank.lengths.max()))
    machine, words = derived.machine, derived.words
    X = instances(machine.system, machine.cells, words, c, machine.root, derived.moves, derived.counts)
    return machine, words, X, derived.answers


def random_weights(machine: Machine, seed: int = 0, bits: int = 8) -> object:
    """Return random integer weights, whose sums do not depend on their order."""
    linear = empty(MODELS["F5"], len(machine.classes.kind), bits)
    linear.weights[:] = np.random.default_rng(seed).integers(-50, 50, len(linear.weights))
    return linear


def room(words: Words) -> tuple[np.ndarray, np.ndarray]:
    return np.empty(len(words.heads), np.int32), np.empty(len(words.heads), np.int32)


def uas(model: TransitionModel, treebank: Treebank = DEV) -> float:
    return evaluate(treebank, [parse.heads for parse in model.parse(treebank)]).summary["uas"]


# --- search ---


@pytest.mark.parametrize("system", SYSTEMS)
def test_greedy_in_step_and_beam_of_one_agree(system: str) -> None:
    machine, words, _, _ = machine_and_words(system)
    linear, longest = random_weights(machine), int(TRAIN.lengths.max())
    greedy, beam = room(words), room(words)
    values = parse_greedily(machine, linear, words, configuration(longest), *greedy)
    perceptron = Perceptron(MODELS["F5"])
    perceptron.linear, perceptron.classes = linear, len(machine.classes.kind)
    in_step = parse_in_parallel(machine, perceptron, words, batch=64)
    beam_result = parse_with_beam(machine, linear, words, make_beam(machine.system, 1, longest), *beam)
    assert values.tolist() == beam_result.tolist()
    for heads, labels in (in_step, beam):
        assert heads.tolist() == greedy[0].tolist()
        assert labels.tolist() == greedy[1].tolist()


def best_by_enumeration(machine: Machine, linear: object, tokens: np.ndarray) -> tuple[float, set[tuple[int, ...]]]:
    """Return the highest score of all transition sequences and the trees that have this score."""
    n, best, best_trees = tokens.shape[1], -np.inf, set()
    x = np.empty((1, len(machine.cells.function)), np.int32)

    def visit(c: np.ndarray, score: float) -> None:
        nonlocal best, best_trees
        kinds = allowed(machine.system, c)
        if not kinds:
            heads, labels = np.empty(n, np.int32), np.empty(n, np.int32)
            tree(c, heads, labels)
            if score >= best:
                best_trees = (best_trees if score == best else set()) | {tuple(heads)}
                best = score
            return
        extract(c, tokens, machine.cells, x[0])
        scores = all_scores(linear, x, len(machine.classes.kind))[0]
        for j in range(len(scores)):
            if kinds >> machine.classes.kind[j] & 1:
                after = c.copy()
                take(machine.system, after, machine.classes.kind[j], machine.classes.label[j])
                visit(after, score + float(scores[j]))

    c = configuration(n)
    start(machine.system, c, n, machine.root)
    visit(c, 0.0)
    return best, best_trees


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_beam_without_limit_finds_the_best_sequence(system: str) -> None:
    unlabelled = replace(
        TRAIN,
        columns=TRAIN.columns | {"deprel": TRAIN.columns["deprel"] * 0},
        vocab=TRAIN.vocab | {"deprel": Vocabulary(["_"])},
    )
    machine, words, _, _ = machine_and_words(system, unlabelled)
    linear = random_weights(machine)
    narrow_is_worse = False
    for s in np.flatnonzero(TRAIN.lengths <= (3 if system == "swap" else 4))[:12]:
        a, b = words.offsets[s], words.offsets[s + 1]
        sentence = Words(np.array([0, b - a]), words.tokens[:, a:b].copy(), words.heads[a:b], words.labels[a:b])
        best, trees = best_by_enumeration(machine, linear, sentence.tokens)
        heads, labels = room(sentence)
        assert parse_with_beam(machine, linear, sentence, make_beam(machine.system, 20000, 4), heads, labels)[0] == best
        assert tuple(heads) in trees
        narrow = parse_with_beam(machine, linear, sentence, make_beam(machine.system, 1, 4), heads, labels)[0]
        assert narrow <= best
        narrow_is_worse |= narrow < best
    assert narrow_is_worse


# --- learning ---


def test_averages_are_those_of_the_definition() -> None:
    machine, _, X, y = machine_and_words("arc-eager")
    X, y, classes = X[:40], y[:40], len(machine.classes.kind)
    linear = empty(MODELS["F5"], classes, 6)
    sums = np.zeros(len(linear.weights))
    total, mine = np.zeros(len(linear.weights)), np.zeros(len(linear.weights))
    order = np.arange(len(X))
    for epoch in range(3):
        for x, right in zip(X, y, strict=True):
            rows = find_all_rows(linear, x[None])[0]
            best = int(np.argmax(mine[rows[:, None] + np.arange(classes)].sum(axis=0)))
            if best != right:
                np.add.at(mine, rows + right, 1)
                np.add.at(mine, rows + best, -1)
            total += mine
        perceptron_epoch(linear, sums, X, y, order, classes, float(epoch * len(X)))
    assert np.array_equal(linear.weights, mine)
    assert np.array_equal(averaged(linear, sums, 3 * len(X)).weights, np.rint(total / (3 * len(X)) * 1024))


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        (replace(SMALL, learning="static"), 80),
        (replace(SMALL, learning="static", transitions="arc-hybrid"), 70),
        (replace(SMALL, learning="static", transitions="swap"), 70),
        (replace(SMALL, learning="dynamic"), 80),
        (replace(SMALL, learning="dynamic", transitions="arc-hybrid"), 70),
        (replace(SMALL, learning="beam", beam=4, update="early"), 80),
        (replace(SMALL, learning="beam", beam=4, update="max-violation"), 80),
        (replace(SMALL, learning="beam", beam=4, transitions="arc-standard"), 70),
    ],
)
def test_learners_learn(settings: Settings, least: float) -> None:
    model = train_model(settings, MODELS["F5"], TRAIN, DEV)
    records = model.history
    assert [record["epoch"] for record in records] == [1, 2, 3]
    assert records[0]["violations"] > records[-1]["violations"] > 0
    assert uas(model) == max(record["dev_uas"] for record in records) >= least


@pytest.mark.parametrize("update", ["early", "max-violation"])
def test_the_structured_perceptron_separates_separable_data(update: str) -> None:
    few = TRAIN.select(np.arange(20))
    settings = Settings(learning="beam", beam=4, update=update, epochs=30, bits=14)  # type: ignore[arg-type]
    model = train_model(settings, MODELS["zhang-nivre"], few)
    assert model.history[-1]["violations"] == 0
    assert uas(model, few) > 98  # this is the accuracy of the averaged weights, which need not separate the data


def test_training_is_deterministic(tmp_path: Path) -> None:
    for name in ("a", "b"):
        train_model(replace(SMALL, epochs=2), MODELS["F5"], TRAIN).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_sentences_that_are_not_derivable_are_counted() -> None:
    heads = TRAIN.head.copy()
    i = int(np.flatnonzero(TRAIN.lengths >= 4)[0])
    a = TRAIN.offsets[i]
    heads[a : TRAIN.offsets[i + 1]] = 2
    heads[a : a + 4] = [3, 4, 0, 3]  # 1 <- 3 and 2 <- 4 cross
    crossing = TRAIN.with_heads(heads)
    assert (
        train_model(replace(SMALL, transitions="swap", learning="static", epochs=1), MODELS["F5"], crossing).skipped
        == 0
    )
    # the crossing arcs are lifted first
    assert train_model(replace(SMALL, epochs=1), MODELS["F5"], crossing).skipped == 0
    derived = derive_all(crossing, Encoding.learn(crossing, MODELS["F5"]), SMALL, MODELS["F5"])
    assert np.flatnonzero(~derived.derivable).tolist() == [i]
    assert derived.counts[i] == 0


def test_treebanks_that_teach_nothing_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="arc-standard has no dynamic oracle; use arc-eager"):
        train_model(replace(SMALL, transitions="arc-standard"), MODELS["F5"], TRAIN)
    with pytest.raises(InputError, match="has no words"):
        train_model(SMALL, MODELS["F5"], TRAIN.select(np.arange(0)))
    with pytest.raises(InputError, match="without a head"):
        train_model(SMALL, MODELS["F5"], TRAIN.with_heads(np.full(TRAIN.words, -1)))


# --- other classifiers ---


def test_the_perceptron_is_a_classifier() -> None:
    machine, _, X, y = machine_and_words("arc-eager")
    perceptron = Perceptron(MODELS["F5"], bits=12)
    assert isinstance(perceptron, Classifier)
    perceptron.fit(X, y, len(machine.classes.kind))
    assert (perceptron.scores(X).argmax(axis=1) == y).mean() > 0.95


@pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")
def test_the_support_vector_machine_parses_with_the_same_kernel() -> None:
    machine, _, X, y = machine_and_words("arc-eager")
    svm = LinearSVM(MODELS["F5"], bits=14)
    assert isinstance(svm, Classifier)
    svm.fit(X, y, len(machine.classes.kind))
    assert (svm.scores(X).argmax(axis=1) == y).mean() > 0.95
    assert uas(train_model(Settings(learning="svm", bits=14), MODELS["F5"], TRAIN)) > 80


@pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")
def test_a_support_vector_machine_that_knows_one_class_predicts_it() -> None:
    machine, _, X, y = machine_and_words("arc-eager")
    svm = LinearSVM(MODELS["F5"], bits=14)
    svm.fit(X, np.full_like(y, y.max()), len(machine.classes.kind))
    assert (svm.scores(X).argmax(axis=1) == y.max()).all()


@pytest.mark.skipif(find_spec("sklearn") is not None, reason="scikit-learn is installed")
def test_without_scikit_learn_one_line_reports_it() -> None:
    with pytest.raises(TreeboundError, match=r"sklearn is not installed; run: pip install 'treebound\[classifiers\]'"):
        train_model(replace(SMALL, learning="svm"), MODELS["F5"], TRAIN)


# --- parsing whatever comes ---


def test_words_tags_and_lengths_never_seen() -> None:
    model = train_model(replace(SMALL, learning="beam", beam=2, epochs=1), MODELS["F6"], TRAIN)
    n = 500
    columns = {name: np.zeros(n + 1, np.int32) for name in TRAIN.columns}
    vocab = {name: Vocabulary(["never seen"]) for name in TRAIN.columns}
    odd = Treebank("odd", np.array([0, 0, 1, n + 1, n + 1]), columns, vocab, np.full(n + 1, -1, np.int32), TRAIN.meta)
    for beam in (1, 2):
        parses = model.parse(odd, beam)
        assert [len(parse.heads) for parse in parses] == [1, 2, n + 1, 1]
        assert parses[1].heads.tolist() == [-1, 0]
        assert all(parse.status == "heuristic" and (parse.heads[1:] <= n).all() for parse in parses)
    assert model.parse(odd.select(np.arange(0))) == []


# --- files ---


@pytest.fixture(scope="module")
def model() -> TransitionModel:
    return train_model(replace(SMALL, epochs=1), MODELS["F6"], TRAIN)


def test_files_restore_the_model(model: TransitionModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = TransitionModel.load(tmp_path / "model")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    assert loaded.label_names == model.label_names
    for before, after in zip(model.parse(DEV), loaded.parse(DEV), strict=True):
        assert before.heads.tolist() == after.heads.tolist()
        assert before.labels.tolist() == after.labels.tolist()
        assert before.value == after.value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cells", ["p s0", "q t0"]),
        ("joins", [[0, 99]]),
        ("joins", [[0]]),
        ("joins", [[0, -1]]),
        ("root", 10**6),
        ("strings", [[], []]),
        ("strings", [["a", "a"], [], [], []]),
        ("labels", ["a", "a"]),
        ("transitions", []),
        ("transitions", [[0, -1], [9, 0]]),
        ("transitions", [[0, -1], [3, 10**6]]),
        ("transitions", [[3, 0], [0, -1]]),
        ("transitions", [[3, 0]]),
        ("stride", 10**9),
        ("skipped", -1),
        ("spec", {"transitions": "left-corner"}),
        ("meta", {"tag": "colour"}),
        ("version", 0),
        ("kind", "tagger"),
        ("more", 1),
    ],
)
def test_damaged_files_are_refused(model: TransitionModel, tmp_path: Path, key: str, value: object) -> None:
    model.save(tmp_path / "model")
    file = ModelFile((tmp_path / "model").read_bytes())
    file.header[key] = file.header[key] | value if isinstance(value, dict) else value
    (tmp_path / "bad").write_bytes(file.written())
    with pytest.raises(ModelError, match=r"bad: .*; train it again"):
        TransitionModel.load(tmp_path / "bad")


def test_weights_of_another_size_and_cut_files_are_refused(model: TransitionModel, tmp_path: Path) -> None:
    replace(model, linear=model.linear._replace(weights=model.linear.weights[:-1])).save(tmp_path / "short")
    model.save(tmp_path / "cut")
    (tmp_path / "cut").write_bytes((tmp_path / "cut").read_bytes()[:-100])
    for name in ("short", "cut", "none"):
        with pytest.raises(ModelError):
            TransitionModel.load(tmp_path / name)


def test_adding_to_weights_stores_the_time() -> None:
    weights, sums = np.zeros(4, np.float32), np.zeros(4)
    add(weights, sums, np.array([0, 1]), 2, -1.0, 5.0)
    assert weights.tolist() == [0, 0, -1, -1]
    assert sums.tolist() == [0, 0, -5, -5]
    assert len(configuration(1)) == ROWS
