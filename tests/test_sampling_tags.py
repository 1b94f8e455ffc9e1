"""Joint tag correction: candidate tags, features of tag sequences, and chains over heads and tags."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles.trees import trees
from synthetic import synthetic_treebank

from treebound.core.errors import InputError
from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.features.scorer import Scorer
from treebound.features.tokens import PAD, TokenTable
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.learning.pruner import train_pruner
from treebound.learning.survey import describe
from treebound.learning.updates import Mira
from treebound.metrics.attachment import evaluate
from treebound.systems.sampling.globals.catalogue import codes_of
from treebound.systems.sampling.globals.table import FEATURES
from treebound.systems.sampling.sentence import Scoring
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.tags.candidates import learn
from treebound.systems.sampling.tags.corrector import correct, search
from treebound.systems.sampling.tags.features import (
    GIVEN,
    PUBLISHED,
    REACH,
    TAG,
    TEMPLATES,
    name_tags,
    score_tags,
    with_tag_column,
)
from treebound.systems.sampling.tags.joint import COARSE, Chain, Joint
from treebound.systems.sampling.tags.learning import JointTraining
from treebound.systems.tagging.tagger import with_tags


def sentence_of(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the padded rows and the tags of a sentence of n words."""
    whole = synthetic_treebank(60, seed, 40)
    rows, tag = TokenTable(whole.select(np.flatnonzero(whole.lengths >= n)[:1])).sentence(0)
    columns = [*range(n + PAD + 1), *range(rows.shape[1] - 5, rows.shape[1])]
    return np.ascontiguousarray(rows[:, columns]), tag[: n + 1]


def joint_of(n: int, space: str, single_root: bool, candidates: int, seed: int) -> Joint:
    """Return a sentence of n words under random integer weights, with some forbidden arcs.

    Every second word has several candidate tags.
    """
    rng, (rows, tag) = np.random.default_rng(seed), sentence_of(n, seed)
    weights = rng.integers(-400, 400, 1 << 14).astype(np.int32)
    scorer = Scorer(("adjacent-sibling", "grandchild"), frozenset({"form", "lower", "tag", "coarse"}), 14)
    codes = codes_of(tuple(FEATURES))
    by = Scoring(scorer, weights, weights.astype(np.float32), codes, single_root, space == "projective", 1.0)
    allowed = np.ones((n + 1, n + 1), np.bool_)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    if n > 2:
        allowed[1, n] = False
    options = []
    for m in range(1, n + 1):
        own = [rows[TAG, PAD + m], rows[COARSE, PAD + m], tag[m]]
        others = [[hash_string(f"tag=t{i}"), hash_string(f"coarse=c{i}"), 50 + i] for i in range(1, candidates)]
        options.append(np.array([own, *others] if m % 2 or n <= 3 else [own], np.int64))
    return Joint(by, rows, tag, allowed, options)


def tagged(words: str) -> Treebank:
    """Return a treebank of one sentence, given as words form/tag."""
    forms, tags = zip(*(word.split("/") for word in words.split()), strict=True)
    whole = synthetic_treebank(60, 1, 40)
    treebank = whole.select(np.flatnonzero(whole.lengths >= len(forms))[:1])
    n = treebank.words
    forms, tags = (list(x) + [x[-1]] * (n - len(x)) for x in (forms, tags))
    for column, strings in (("form", forms), ("xpos", tags)):
        names = sorted(set(strings))
        treebank = with_tags(treebank, column, names, np.array([names.index(s) for s in strings]))
    return treebank


def test_candidates_are_the_confused_and_known_tags() -> None:
    gold = tagged("a/D run/N run/V saw/V saw/N end/X")
    predicted = tagged("a/D run/V run/V saw/V saw/V end/X")
    candidates = learn(gold, predicted, "xpos", 0.5)
    assert candidates.of("run", "V") == ("V", "N")
    assert candidates.of("a", "V") == ("V",)  # this form is known and never a noun
    assert candidates.of("new", "V") == ("V", "N")
    assert candidates.of("new", "N") == ("N",)  # this tag was never predicted
    assert candidates.of("run", "D") == ("D",)  # the predicted tag is always a candidate
    assert candidates.of("a", "V", "D") == ("V", "N")  # like an unknown word, because the gold tag is left out
    assert candidates.of("run", "V", "N") == ("V",)  # the other occurrence of this word has the predicted tag
    assert learn(gold, predicted, "xpos", 1.1).of("new", "V") == ("V",)
    assert candidates.oracle(gold, predicted, "xpos") == 1.0
    assert learn(gold, predicted, "xpos", 1.1).oracle(gold, predicted, "xpos") == pytest.approx(1 - 2 / gold.words)
    with pytest.raises(InputError):
        learn(gold, tagged("a/D ran/V"), "xpos")


def test_tag_features_have_distinct_names_and_read_their_templates() -> None:
    rows = with_tag_column(sentence_of(7, 3)[0])
    rows[TAG], rows[GIVEN] = np.arange(rows.shape[1]), -2 - np.arange(rows.shape[1])  # all values differ
    before, after = np.zeros(len(TEMPLATES), np.int64), np.zeros(len(TEMPLATES), np.int64)
    name_tags(rows, 4, before)
    assert len(PUBLISHED) == 18
    assert len(set(before.tolist())) == len(TEMPLATES)
    for place in range(-3, 4):
        for row, which in ((TAG, 0), (GIVEN, 2)):
            changed = rows.copy()
            changed[row, PAD + 4 + place] = -1
            name_tags(changed, 4, after)
            assert (before != after).tolist() == [place in template[which] for template in TEMPLATES]


@pytest.mark.parametrize("n", [1, 2, 9])
def test_updated_tag_scores_equal_scores_from_scratch(n: int) -> None:
    rows = with_tag_column(sentence_of(n, 4)[0])
    rng = np.random.default_rng(n)
    weights, names = rng.integers(-400, 400, 1 << 12).astype(np.float32), np.zeros(len(TEMPLATES), np.int64)
    value = score_tags(rows, 1, n, weights, names)
    for _ in range(50):  # compute only the features of 2 REACH + 1 words
        w, tag = int(rng.integers(1, n + 1)), int(rng.integers(5))
        value -= score_tags(rows, w - REACH, w + REACH, weights, names)
        rows[TAG, PAD + w] = tag
        value += score_tags(rows, w - REACH, w + REACH, weights, names)
        assert value == score_tags(rows, 1, n, weights, names)
    assert value != 0


@pytest.mark.parametrize(("space", "single_root"), [("projective", True), ("non-projective", False)])
def test_updated_scores_equal_scores_from_scratch(space: str, single_root: bool) -> None:
    joint = joint_of(8, space, single_root, 3, 2)
    rng = np.array([3], np.uint64)
    start = (0,) * 8
    chain = Chain(joint, start, joint.under(start).sentence.first_tree(rng))
    met = set()
    for step in range(200):
        chain.step(3000.0 if step % 50 else 1.0, rng)
        fresh = Joint(joint.by, joint.rows, joint.tag, joint.allowed, joint.options).under(chain.tagging)
        assert fresh.sentence.lay(chain.made.sentence.arcs) + fresh.tags == chain.value
        met.add(chain.tagging)
    assert len(met) > 10
    before = chain.value
    chain.climb(rng)
    assert chain.value == chain.lay(chain.tagging, chain.made.sentence.arcs) >= before
    for m in range(1, 9):
        assert chain.draw(m, 0.0, rng) == 0.0  # no change of a single word improves the score


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("space", "single_root"), [("projective", True), ("non-projective", False)])
def test_chains_have_the_distribution_of_their_scores(n: int, space: str, single_root: bool) -> None:
    """Chains visit heads and tags in proportion to their scores, over all trees and taggings (chi-square test).

    The temperature is low enough for heads to influence tags.
    """
    joint, draws, thin = joint_of(n, space, single_root, 2, 5), 5000, 8
    score: dict[tuple, float] = {}
    for tagging in itertools.product(range(2), repeat=n):
        made = joint.under(tagging)
        for heads in trees(n, space, single_root).astype(np.int32):
            if joint.allowed[heads[1:], np.arange(1, n + 1)].all():
                score[tagging, heads.tobytes()] = made.sentence.score(heads) + made.tags
    values = np.array(list(score.values()))
    temperature = float(values.std())
    p = np.exp((values - values.max()) / temperature)
    p /= p.sum()
    number, rng = {state: i for i, state in enumerate(score)}, np.array([7], np.uint64)
    start = (0,) * n
    chain = Chain(joint, start, joint.under(start).sentence.first_tree(rng))
    met = np.zeros(len(score))
    for _ in range(draws):
        for _ in range(thin):
            chain.step(temperature, rng)
        sentence = chain.made.sentence
        heads = heads_of(index_of(sentence.problem).arcs, sentence.arcs)
        met[number[chain.tagging, heads.astype(np.int32).tobytes()]] += 1
    often = p * draws >= 5
    expected = np.append(p[often], p[~often].sum()) * draws
    counts = np.append(met[often], met[~often].sum())
    chi = ((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
    assert chi < len(expected) + 5 * np.sqrt(2 * len(expected))


@pytest.mark.parametrize("n", [1, 3])
def test_search_finds_the_best_tree_and_tagging(n: int) -> None:
    for seed in (5, 6):
        joint, best = joint_of(n, "projective", True, 2, seed), -np.inf
        for tagging in itertools.product(range(2), repeat=n):
            made = joint.under(tagging)
            for heads in trees(n, "projective", True).astype(np.int32):
                best = max(best, made.sentence.score(heads) + made.tags)
        heads, tagging = search(joint, Settings(), np.array([1], np.uint64))
        assert joint.under(tagging).sentence.score(heads) + joint.under(tagging).tags == best


def noisy(gold: Treebank, seed: int, share: float = 0.15) -> Treebank:
    """Return the treebank with wrong fine tags. A wrong tag is always replaced by the next tag of the list."""
    rng, column = np.random.default_rng(seed), gold.meta["tag"]
    ids, names = gold.columns[column], gold.vocab[column].strings
    wrong = rng.random(len(ids)) < share
    return with_tags(gold, column, names, np.where(wrong, (ids + 1) % len(names), ids))


def test_training_corrects_tags_that_it_has_not_seen() -> None:
    """Training reduces wrong tags of new sentences, and the same seed gives the same weights."""
    whole = synthetic_treebank(150, 3, 14)
    describe(whole, whole)
    gold, new = whole.select(np.arange(110)), whole.select(np.arange(110, 150))
    noisy_train = noisy(gold, 1)
    spec = Settings(families=("adjacent-sibling",), global_features=(), bits=14, labels="none", sweeps=1, restarts=2)
    pruner, candidates = train_pruner(noisy_train, epochs=2, bits=14), learn(gold, noisy_train, gold.meta["tag"])
    weights, column = [], gold.meta["tag"]
    right = gold.strings(column)
    tags = [candidates.of(*word) for word in zip(gold.strings("form"), noisy_train.strings(column), right, strict=True)]
    for _ in range(2):
        task = JointTraining(spec, noisy_train, right, tags, candidates.coarse, pruner)
        records = [task.learn(np.arange(len(gold)), lambda items: items) for _ in range(2)]
        weights.append(task.result()[0])
    assert np.array_equal(*weights)
    assert all(record["neighbour"] > 0 for record in records)
    by = task.scoring._replace(weights=weights[0], reals=weights[0].astype(np.float32))
    predicted = noisy(new, 2)
    corrected = correct(by, pruner, candidates, spec, predicted)
    right, before = new.strings(gold.meta["tag"]), predicted.strings(gold.meta["tag"])
    after = [tag for _, tags in corrected for tag in tags]
    before_wrong, wrong = (sum(a != b for a, b in zip(right, x, strict=True)) for x in (before, after))
    assert wrong < 0.8 * before_wrong
    assert evaluate(new, [heads for heads, _ in corrected]).summary["uas"] > 60


def test_figure_4_compares_every_sample_with_the_gold_tree_and_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every update repairs a constraint that is violated under the current weights.

    A visit of a sentence can have several updates.
    """
    whole = synthetic_treebank(30, 3, 8)
    describe(whole, whole)
    noisy_train, column = noisy(whole, 1), whole.meta["tag"]
    how = {"labels": "none", "violator": "sample", "schedule": "sample", "samples": 8, "global_features": ()}
    spec = Settings(families=("adjacent-sibling",), bits=14, temperature=1.0, cost=1.0, **how)
    pruner, candidates = train_pruner(noisy_train, epochs=1, bits=14), learn(whole, noisy_train, column)
    right = whole.strings(column)
    tags = [
        candidates.of(*word) for word in zip(whole.strings("form"), noisy_train.strings(column), right, strict=True)
    ]
    steps: list[tuple[float, float]] = []
    size = Mira.size

    def watched(self: Mira, margin: float, norm: float, cost: float) -> float:
        steps.append((margin, cost))
        return size(self, margin, norm, cost)

    monkeypatch.setattr(Mira, "size", watched)
    task = JointTraining(spec, noisy_train, right, tags, candidates.coarse, pruner)
    record = task.learn(np.arange(len(whole)), lambda items: items)
    assert len(steps) == record["neighbour"] + record["gold"] == task.learner.examples - 1
    assert all(margin < cost + 1e-4 for margin, cost in steps)
    assert record["gold"] > len(whole), "the schedule `visit` compares once per visit"
