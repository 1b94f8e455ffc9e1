"""Labels: scores against a plain Python twin, folding against enumeration, learning, and model files."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from interrupted import Stop, stop_in_second_epoch
from oracles.trees import trees
from synthetic import synthetic_treebank

from treebound.checker.certificates import check_parse
from treebound.checker.scoring import tree_score
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.factors.templates import ATTRIBUTES, parse_atom
from treebound.features.compiling import compile_templates
from treebound.features.labelling import Labelling
from treebound.features.labels import FAR, HEAD, MODIFIER, PAIR, TREE, WORDS, Labeller, numbered, weights_of, width
from treebound.features.scorer import Scorer
from treebound.features.tokens import EXTRA, PAD, TokenTable, attributes_of, hash_string
from treebound.kernels.features.labels import context_words
from treebound.kernels.features.scoring import LINE, arc_variant
from treebound.learning.pruner import Pruner, train_pruner
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

TRAIN, DEV = synthetic_treebank(150, seed=1), synthetic_treebank(60, seed=2)
BITS = 14
NAMES = tuple(f"label{i}" for i in range(11))


def spec(labels: str, **changes) -> Settings:
    defaults = {"families": ("adjacent-sibling",), "epochs": 3, "k": 5, "bits": 14, "max_dp_calls": 50}
    plain = {"threshold": 0, "pruner_folds": 0}
    return Settings(**{**defaults, **plain, "labels": labels, "label_bits": 16} | changes)


def gold_labels(treebank: Treebank) -> list[list[str]]:
    return [sentence.strings("deprel") for sentence in treebank]


def las(model: Model, treebank: Treebank = DEV) -> float:
    parses = Parser(model).parse(treebank)
    return evaluate(treebank, [p.heads for p in parses], [model.label_names(p) for p in parses]).summary["las"]


# --- scores


def signed(x: int) -> int:
    return (x + 2**63) % 2**64 - 2**63


def row_of(template: str, salt: str, variant: int, positions: dict[str, int], rows: np.ndarray, mask: int) -> int:
    """Return the position of the first of a template's weights, one per label: the hash of its atoms in plain Python.

    Positions are counted from the labeller's first weight.
    """
    x = hash_string(f"{salt}|{template}")
    for atom in template.split():
        slot, offset, attribute = parse_atom(atom, tuple(positions))
        word = positions[tuple(positions)[slot]]
        row = word + PAD if word >= 0 else rows.shape[1] - EXTRA + 2 * PAD - word
        x = signed((x ^ int(rows[ATTRIBUTES.index(attribute), row + offset])) * -7046029254386353131)
    x = signed((x ^ (x >> 31)) * -4658895280553007687)
    x = x ^ (x >> 29)
    x = signed(x + variant * -7046029254386353131)
    return (((x ^ (x >> 29)) >> 4) & mask) * LINE


def twin(labeller: Labeller, attributes: frozenset, weights: np.ndarray, rows: np.ndarray, heads: np.ndarray, m: int):
    """Return the scores of all labels on the arc into word m of a tree, template by template."""
    h = int(heads[m])
    sisters = [s for s in range(1, len(heads)) if heads[s] == h]
    below = [c for c in range(1, len(heads)) if heads[c] == m]
    place = sisters.index(m)
    words = {
        "h": h,
        "m": m,
        "g": int(heads[h]) if h > 0 else -1,
        "l": sisters[place - 1] if place > 0 else -1,
        "r": sisters[place + 1] if place + 1 < len(sisters) else -1,
        "a": below[0] if below else -1,
        "z": below[-1] if below else -1,
    }
    direction = 1 if m > h else 2
    salt = "label-tree" if labeller.tree else "label"
    groups = [
        (HEAD, "h", "-head", direction),
        (MODIFIER, "m", "-mod", direction),
        (PAIR, "hm", "", direction),
        (FAR, "hm", "-far", int(arc_variant(h, m))),
        (TREE if labeller.tree else (), WORDS, "-context", direction),
    ]
    total = np.zeros(len(labeller.names))
    for templates, slots, end, variant in groups:
        for template in templates:
            if {atom.split(".")[1] for atom in template.split()} <= attributes:
                row = row_of(template, salt + end, variant, {s: words[s] for s in slots}, rows, labeller.place.mask)
                total += weights[labeller.place.first + row :][: len(total)]
    return total


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("labels", [1, 8, 41])
@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_scores_are_sums_of_rows(tree: bool, labels: int, dtype: type):
    """Scores of labels are sums of weights, even for the largest weights of a type and at the end of the table."""
    treebank = synthetic_treebank(6, seed=4)
    treebank.meta["attributes"] = ["suffix", "lemma", "length"]
    attributes, limits = attributes_of(treebank), np.iinfo(dtype)
    labeller = Labeller(tuple(map(str, range(labels))), attributes, 100, 12, tree)
    rng = np.random.default_rng(0)
    weights = rng.choice([limits.min, limits.max, limits.max], 100 + weights_of(labels, 12)).astype(dtype)
    table = TokenTable(treebank)
    for i in range(len(treebank)):
        rows, _ = table.sentence(i)
        heads = treebank.heads(i)
        scores = labeller.of_tree(weights, rows, heads)
        for m in range(1, len(heads)):
            assert (scores[m - 1, :labels] == twin(labeller, attributes, weights, rows, heads, m)).all()


def test_all_arcs_are_scored_as_those_of_a_tree():
    labeller = Labeller(NAMES, attributes_of(DEV), 0, BITS, tree=False)
    weights = np.random.default_rng(1).normal(size=(1 << BITS) + width(len(NAMES))).astype(np.float32)
    table = TokenTable(DEV)
    for i in range(10):
        rows, _ = table.sentence(i)
        n = DEV[i].n
        head, mod = (x.ravel().astype(np.int32) for x in np.meshgrid(range(n + 1), range(1, n + 1), indexing="ij"))
        scores = labeller.of_arcs(weights, rows, n, head, mod)
        heads = DEV.heads(i)
        np.testing.assert_allclose(
            scores[heads[1:] * n + np.arange(n)], labeller.of_tree(weights, rows, heads), atol=1e-9
        )


@pytest.mark.parametrize("tree", [False, True])
def test_the_score_of_a_label_is_weights_times_its_features(tree: bool):
    labeller = Labeller(NAMES, attributes_of(DEV), 7, BITS, tree)
    weights = np.random.default_rng(2).integers(-9, 9, 7 + (1 << BITS) + width(len(NAMES))).astype(np.int32)
    slots, signs = np.empty(1 << 16, np.int64), np.empty(1 << 16, np.float32)
    rows, _ = TokenTable(DEV).sentence(3)
    heads = DEV.heads(3)
    n = len(heads) - 1
    labels = (np.arange(n) % len(NAMES)).astype(np.int32)
    count = labeller.tree_features(context_words(heads), labels, 1.0, rows, n, slots, signs, 0)
    assert slots[:count].min() >= 7
    assert count == labeller.room(n)
    by_features = weights[slots[:count]].astype(float) @ signs[:count]
    assert by_features == labeller.of_tree(weights, rows, heads)[np.arange(n), labels].sum()


def test_context_words():
    # 2 -> 1, 2 -> 3, 3 -> 4, 2 -> 5, 0 -> 2
    words = dict(zip(WORDS, context_words(np.array([-1, 2, 0, 2, 3, 2], np.int32)).tolist(), strict=True))
    assert words == {
        "h": [2, 0, 2, 3, 2],
        "m": [1, 2, 3, 4, 5],
        "g": [0, -1, 0, 2, 0],
        "l": [-1, -1, 1, -1, 3],
        "r": [3, -1, 5, -1, -1],
        "a": [-1, 1, 4, -1, -1],
        "z": [-1, 5, 4, -1, -1],
    }


def test_every_template_compiles_once():
    for templates, words in ((HEAD, "h"), (MODIFIER, "m"), (PAIR + FAR, "hm"), (TREE, WORDS)):
        compiled = compile_templates(templates, tuple(words), "x", frozenset(ATTRIBUTES))
        assert len(compiled.seed) == len(templates)
        alone = len(set(PAIR)) + len(set(FAR)) if templates == PAIR + FAR else len(set(templates))
        assert alone == len(templates)


# --- folding


@pytest.mark.parametrize("seed", range(8))
def test_folding_finds_the_best_labelled_tree(seed: int):
    """The best tree equals the enumeration of all trees and labellings of four words.

    Scores add arcs, labels and the cost of wrong labels.
    """
    rng = np.random.default_rng(seed)
    n, names = 4, NAMES[:3]
    short = synthetic_treebank(40, seed=seed, max_words=5)
    rows, tag = TokenTable(short).sentence(next(i for i in range(len(short)) if short[i].n == n))
    labelling = Labelling(spec("joint", bits=BITS, label_bits=BITS), names, attributes_of(DEV))
    weights = rng.integers(-100, 100, labelling.weights).astype(np.int32)
    allowed = ~np.eye(n + 1, dtype=bool)
    allowed[:, 0] = False
    scored = Scorer((), attributes_of(DEV), BITS).score(weights, rows, tag, allowed, True)
    gold = rng.integers(0, len(names), n).astype(np.int32)
    for cost in (0.0, 150.0):
        folded, labels = labelling.fold(weights, rows, scored, gold, cost)
        index = scored.arc_index
        assert labelling.joint is not None
        by_label = labelling.joint.of_arcs(weights, rows, n, index.head, index.mod)
        number = {(h, m): a for a, (h, m) in enumerate(zip(index.head.tolist(), index.mod.tolist(), strict=True))}
        best, best_labelling = -np.inf, None
        for heads in trees(n):
            arcs = [number[int(heads[m]), m] for m in range(1, n + 1)]
            for labels_given in itertools.product(range(len(names)), repeat=n):
                value = sum(scored.arc[a] + by_label[a, y] for a, y in zip(arcs, labels_given, strict=True))
                value += cost * (np.array(labels_given) != gold).sum()
                if value > best:
                    best, best_labelling = value, (arcs, list(labels_given))
        by_tree = [sum(folded.arc[number[int(h[m]), m]] for m in range(1, n + 1)) for h in trees(n)]
        assert max(by_tree) == best
        assert best_labelling is not None
        assert labels is not None
        assert labels[best_labelling[0]].tolist() == best_labelling[1]
    stage = Labelling(spec("second-stage", bits=BITS, label_bits=BITS), names, attributes_of(DEV))
    assert stage.fold(weights, rows, scored) == (scored, None)


# --- learning


@pytest.fixture(scope="module")
def pruner() -> Pruner:
    return train_pruner(TRAIN, epochs=2, bits=14)


@pytest.fixture(scope="module")
def models(pruner: Pruner) -> dict[str, Model]:
    return {labels: train(spec(labels), TRAIN, DEV, pruner) for labels in ("none", "joint", "second-stage", "both")}


@pytest.mark.parametrize("labels", ["joint", "second-stage", "both"])
def test_labels_are_learnt(labels: str, models: dict[str, Model]):
    model = models[labels]
    parses = Parser(model).parse(DEV)
    summary = evaluate(DEV, [p.heads for p in parses], [model.label_names(p) for p in parses]).summary
    right = evaluate(DEV, [p.heads for p in parses], gold_labels(DEV)).summary
    assert right["las"] == summary["uas"]
    assert summary["las"] > 0.85 * summary["uas"]
    assert summary["las"] == pytest.approx(max(record["dev_las"] for record in model.history))
    untrained = Model(model.spec, np.zeros_like(model.weights), model.unit, model.pruner, model.meta, [], NAMES)
    assert untrained.labelling.names == NAMES
    assert las(untrained) < summary["las"] - 30


def test_the_second_stage_reads_words_beyond_the_arc(models: dict[str, Model]):
    """The second stage labels prepositions by the noun below them, more accurately than the arc alone allows."""

    def right(model: Model) -> float:
        table, gold = TokenTable(DEV), numbered(DEV, model.labelling.names)
        predicted = [
            model.labelling.of_tree(model.weights, table.sentence(i)[0], DEV.heads(i)) for i in range(len(DEV))
        ]
        prepositions = np.array(DEV.strings("upos")) == "P"
        return float((np.concatenate(predicted) == gold)[prepositions].mean())

    assert right(models["second-stage"]) > right(models["joint"]) + 0.1


def test_without_labels_nothing_changes(models: dict[str, Model], pruner: Pruner):
    """A second stage changes neither trees nor scores nor the weights of arcs and parts."""
    none = models["none"]
    assert Parser(none).parse(DEV)[0].labels is None
    assert none.label_names(Parser(none).parse(DEV)[0]) == ["_"] * DEV[0].n
    assert none.weights.shape == (1 << none.spec.bits,)
    # with several epochs, one model would store the epoch with the best heads, and the other model the epoch with the
    # best labels
    plain, labelled = (train(spec(labels, epochs=1), TRAIN, DEV, pruner) for labels in ("none", "second-stage"))
    for ours, theirs in zip(Parser(plain).parse(DEV), Parser(labelled).parse(DEV), strict=True):
        assert (ours.heads == theirs.heads).all()
        assert ours.value / plain.unit == theirs.value / labelled.unit


def test_joint_scores_are_exact_integers_and_certified(models: dict[str, Model]):
    model = models["joint"]
    parser = Parser(model)
    for i, parse in enumerate(parser.parse(DEV)[:20]):
        problem = parser.problem(DEV, i)
        assert parse.certified
        assert (problem.arc == np.rint(problem.arc)).all()
        assert parse.value == tree_score(problem, parse.heads)
        assert check_parse(problem, parse) == []


@pytest.mark.parametrize("learner", ["mira", "perceptron"])
@pytest.mark.parametrize("labels", ["joint", "second-stage"])
def test_a_run_that_was_stopped_gives_the_same_weights(labels: str, learner: str, pruner: Pruner, tmp_path: Path):
    checkpoint = tmp_path / "checkpoint.npz"
    settings = spec(labels, epochs=2, learner=learner)
    whole = train(settings, TRAIN, DEV, pruner)
    with pytest.raises(Stop):
        train(settings, TRAIN, DEV, pruner, checkpoint=checkpoint, progress=stop_in_second_epoch)
    resumed = train(settings, TRAIN, DEV, pruner, checkpoint=checkpoint)
    assert (resumed.weights == whole.weights).all()
    assert las(resumed) == las(whole) > 50


def test_workers_give_the_same_labels(models: dict[str, Model]):
    single, parallel = (Parser(models["both"]).parse(DEV, workers=w) for w in (1, 2))
    assert all((p.labels == q.labels).all() for p, q in zip(single, parallel, strict=True))


def test_a_saved_labelled_model_loads_unchanged(models: dict[str, Model], tmp_path: Path):
    for labels, model in models.items():
        path = tmp_path / f"{labels}.npz"
        model.save(path)
        loaded = Model.load(path)
        assert loaded.labelling.names == model.labelling.names
        assert (loaded.weights == model.weights).all()
        parses = zip(Parser(loaded).parse(DEV), Parser(model).parse(DEV), strict=True)
        assert all(loaded.label_names(p) == model.label_names(q) for p, q in parses)


def test_labels_must_be_there_to_be_learnt(pruner: Pruner):
    blank = Treebank(
        "blank",
        TRAIN.offsets,
        TRAIN.columns | {"deprel": np.zeros(TRAIN.words, np.int32)},
        TRAIN.vocab | {"deprel": Vocabulary(["_"])},
        TRAIN.head,
        TRAIN.meta,
    )
    with pytest.raises(InputError, match="not every word has a label; train without labels"):
        train(spec("joint"), blank, DEV, pruner)
    with pytest.raises(InputError, match="choose from none, joint"):
        spec("later")
