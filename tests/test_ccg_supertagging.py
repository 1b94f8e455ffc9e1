"""Test the supertagger's chain against enumeration of all sequences, its gradient against finite differences."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treebound.systems.ccg.chain import (
    Features,
    Lattice,
    Weights,
    best_sequence,
    count_gold,
    emissions,
    expect,
    marginals,
)
from treebound.systems.ccg.optimise import TrainingCheckpoint, fit
from treebound.systems.ccg.supertagger import Dictionary, beam, train_supertagger
from treebound.systems.ccg.words import Words, contexts, mark_of, shape, split, words_of_strings

TAGS, MASK = 5, 255


def random_chain(seed: int) -> tuple[Lattice, np.ndarray, np.ndarray]:
    """Return (choices, emission, transition): candidate categories and random scores for a sentence of up to 4 words.

    Every second sentence has tied scores. Some categories and transitions are impossible.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, TAGS + 1, rng.integers(1, 5))
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    tags = np.concatenate([np.sort(rng.permutation(TAGS)[:c]) for c in counts]).astype(np.int32)
    draw = (lambda n: rng.integers(-1, 2, n).astype(float)) if seed % 2 else rng.standard_normal
    emission, transition = draw(len(tags)), draw((TAGS + 1, TAGS + 1))
    emission[rng.random(len(tags)) < 0.1] = -np.inf
    transition[rng.random(transition.shape) < 0.1] = -np.inf
    return Lattice(first, tags), emission, transition


def sequences(choices: Lattice, emission: np.ndarray, transition: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """Return all sequences, as indices into choices.tags, with their scores."""
    ranges = [range(a, b) for a, b in zip(choices.first[:-1], choices.first[1:], strict=True)]
    scored = []
    for chosen in product(*ranges):
        tags = [TAGS, *choices.tags[list(chosen)], TAGS]
        score = emission[list(chosen)].sum() + sum(transition[a, b] for a, b in pairwise(tags))
        scored.append((chosen, float(score)))
    return scored


@pytest.mark.parametrize("seed", range(60))
def test_sums_and_best_sequence_agree_with_enumeration(seed: int) -> None:
    choices, emission, transition = random_chain(seed)
    scored = sequences(choices, emission, transition)
    z = sum(np.exp(score) for _, score in scored)
    log_z, probabilities = marginals(emission, choices, np.exp(transition))
    out = np.empty(len(choices.first) - 1, np.int32)
    score = best_sequence(emission, choices, transition, out)
    if z == 0:
        assert log_z == score == -np.inf
        assert not probabilities.any()
        return
    expected = np.zeros(len(emission))
    for chosen, sequence_score in scored:
        expected[list(chosen)] += np.exp(sequence_score) / z
    assert log_z == pytest.approx(np.log(z))
    assert probabilities == pytest.approx(expected)
    assert score == pytest.approx(max(sequence_score for _, sequence_score in scored))
    assert dict(scored)[tuple(out.tolist())] == pytest.approx(score)


def random_features(seed: int, words: int = 7) -> tuple[Features, np.ndarray]:
    rng = np.random.default_rng(seed)
    lists = Lattice(np.array([0, 2, 5], np.int32), np.array([0, 3, 1, 2, 4], np.int32))
    group = rng.integers(0, 2, words).astype(np.int32)
    gold = np.array([rng.choice(lists.tags[lists.first[g] : lists.first[g + 1]]) for g in group], np.int32)
    context = rng.integers(-(1 << 62), 1 << 62, (words, 3))
    return Features(context, np.array([0, 3, 3, words]), group, lists), gold


def zeros() -> Weights:
    return Weights(np.zeros(MASK + 1 + TAGS), np.zeros((TAGS + 1, TAGS + 1)), MASK)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_agrees_with_finite_differences(seed: int) -> None:
    features, gold = random_features(seed)
    rng = np.random.default_rng(seed)
    weights = Weights(rng.standard_normal(MASK + 1 + TAGS), rng.standard_normal((TAGS + 1, TAGS + 1)), MASK)

    def value() -> float:
        return expect(features, weights, np.exp(weights.transition), zeros())

    expected, counts = zeros(), zeros()
    expect(features, weights, np.exp(weights.transition), expected)
    count_gold(features, gold, counts)
    assert counts.table.sum() == features.context.size
    assert counts.transition.sum() == len(gold) + 2  # two nonempty sentences
    for parameters, gradient in ((weights.table, expected.table), (weights.transition, expected.transition)):
        flat, step = parameters.reshape(-1), 1e-5
        touched = np.flatnonzero(gradient.reshape(-1))
        for i in rng.choice(touched, 12):
            flat[i] += step
            upper = value()
            flat[i] -= 2 * step
            lower = value()
            flat[i] += step
            assert gradient.reshape(-1)[i] == pytest.approx((upper - lower) / (2 * step), abs=1e-6)


def test_the_score_of_the_gold_sequence_is_the_sum_of_its_weights() -> None:
    features, gold = random_features(1)
    weights, counts = zeros(), zeros()
    weights.table[:] = np.random.default_rng(5).standard_normal(len(weights.table))
    count_gold(features, gold, counts)
    whole = Lattice(np.arange(0, 7 * TAGS + 1, TAGS, dtype=np.int32), np.tile(np.arange(TAGS, dtype=np.int32), 7))
    emission = emissions(features.context, whole, weights.table, MASK).reshape(7, TAGS)
    assert emission[np.arange(7), gold].sum() == pytest.approx(float(counts.table @ weights.table))


def corpus(seed: int, count: int = 60) -> tuple[Words, list[str]]:
    """Return sentences in which the next word shows whether a verb takes an object."""
    rng = np.random.default_rng(seed)
    sentences, gold = [], []
    for _ in range(count):
        noun, verb = f"n{rng.integers(8)}", f"v{rng.integers(4)}"
        if rng.random() < 0.5:
            sentences.append([(noun, "NN"), (verb, "VB"), (f"n{rng.integers(8)}", "NN")])
            gold += ["N", "(S\\NP)/NP", "N"]
        else:
            sentences.append([(noun, "NN"), (verb, "VB")])
            gold += ["N", "S\\NP"]
    return words_of_strings(sentences), gold


def test_training_learns_from_the_context(tmp_path: Path) -> None:
    seen, gold = corpus(1)
    tagger, history = train_supertagger(seen, gold, bits=12, cutoff=3, l2=0.1, iterations=40)
    assert history[-1]["objective"] < 0.2 * len(gold)
    unseen, right = corpus(2, 30)
    predicted = tagger.best(unseen, 3)
    assert [tagger.categories[t] for t in predicted] == right
    features = tagger.features(unseen, 3)
    sizes = []
    for beta in (1.0, 0.1, 1e-3, 0.0):
        lattices = [beam(*tagger.probabilities(features, s), beta) for s in range(30)]
        assert all((np.diff(lattice.first) >= 1).all() for lattice in lattices)
        sizes.append(sum(len(lattice.tags) for lattice in lattices))
    assert sizes == sorted(sizes)
    assert sizes[0] == len(right)


def test_resumed_training_gives_the_same_weights(tmp_path: Path) -> None:
    seen, gold = corpus(3)
    checkpoint = tmp_path / "kept.npz"
    options: dict[str, Any] = {"bits": 12, "cutoff": 3, "l2": 0.001}
    whole, history = train_supertagger(seen, gold, iterations=60, **options)
    train_supertagger(seen, gold, iterations=25, kept=(checkpoint, "k"), **options)
    resumed, resumed_history = train_supertagger(seen, gold, iterations=60, kept=(checkpoint, "k"), **options)
    assert resumed_history == history
    assert np.array_equal(whole.weights.table, resumed.weights.table)
    assert np.array_equal(whole.weights.transition, resumed.weights.transition)
    assert TrainingCheckpoint(checkpoint, "other").resume(1) is None
    checkpoint.write_bytes(b"no file")
    assert TrainingCheckpoint(checkpoint, "k").resume(1) is None


def test_l_bfgs_finds_the_minimum() -> None:
    target = np.array([1.0, -2.0, 3.0])
    minimum, history = fit(lambda w: (0.5 * float(((w - target) ** 2).sum()), w - target), 3, 1.0, 50)
    assert minimum == pytest.approx(target / 2, abs=1e-3)
    assert history[-1]["iterations"] < 50


def test_dictionary_and_templates() -> None:
    strings = [("a", "X"), ("a", "X"), ("b", "X"), ("c", "Y")]
    dictionary = Dictionary.count(strings, [0, 1, 2, 3], 4)
    group, lists = dictionary.groups([("a", "Y"), ("b", "X"), ("new", "Y"), ("new", "Z")], 2)
    listed = [lists.tags[lists.first[g] : lists.first[g + 1]].tolist() for g in group]
    assert listed == [[0, 1], [0, 1, 2], [3], [0, 1, 2, 3]]
    words = words_of_strings([[("a", "X"), ("b", "X")], [("b", "X")]])
    context = contexts(words, split("w; p-1; w+1"))
    assert context[1, 0] == context[2, 0]
    assert context[0, 1] == context[2, 1] != context[1, 1]
    with pytest.raises(ValueError, match="template atom 'z'"):
        contexts(words, ("z",))
    assert [mark_of(t) for t in (",", "-LRB-", "VBD", "MD", "NN", "AUX", "PUNCT", "NNP")] == [1, 1, 2, 2, 0, 2, 1, 0]
    assert shape("B-52s") == "X-dx"
