"""The tagger: exact search against enumeration, learning, jackknifing and files."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import synthetic_treebank

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.kernels.features.hashing import M1, M2
from treebound.learning.folds import fold_of
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import accuracy, averaged, train_tagger
from treebound.systems.tagging.sequence import PAD, Candidates, Table, best_tags, contexts
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.templates import ATTRIBUTES, compile_templates
from treebound.systems.tagging.words import Dictionary, kind, shape, word_table

# --- search ---

TEMPLATES = ("w.form", "w-1.form w+1.lower", "t-1", "t-1 w.lower", "t-2 t-1", "t-2 t-1 w-2.form")
TAGS = 4
BITS = 6  # a small table, so that features share weights and scores tie


def signed(x: int) -> int:
    return (x + 2**63) % 2**64 - 2**63


def slow_score(rows: np.ndarray, sequence: tuple[int, ...], weights: np.ndarray) -> int:
    """Return the score of a tag sequence in plain Python, following the definition of a feature."""
    compiled = compile_templates(TEMPLATES)
    padded = [TAGS, TAGS, *sequence]
    total = 0
    for i, tag in enumerate(sequence):
        before, last = padded[i], padded[i + 1]
        for t in range(len(TEMPLATES)):
            x = int(compiled.seed[t])
            for k in range(compiled.start[t], compiled.start[t + 1]):
                x = signed((x ^ int(rows[compiled.attr[k], PAD + i + compiled.offset[k]])) * M1)
            order = int(np.searchsorted(compiled.first, t, side="right")) - 1
            history = [0, last + 1, (before + 1) * (TAGS + 2) + last + 1][order]
            x = signed((x ^ history) * M1)
            x ^= x >> 31
            x = signed(x * M2)
            x ^= x >> 29
            total += int(weights[(x & (2**BITS - 1)) + tag])
    return total


def table(weights: np.ndarray) -> Table:
    return Table(weights, 2**BITS - 1, TAGS)


@st.composite
def lattices(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[list[int]], list[int]]:
    """Draw rows, weights, lists of candidates, and the list of each word, for up to five words."""
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.integers(-(2**62), 2**62, (len(ATTRIBUTES), n + 2 * PAD))
    weights = rng.integers(-draw(st.sampled_from([1, 1000])), 1000, 2**BITS + TAGS).astype(np.int32)
    lists = draw(st.lists(st.sets(st.integers(0, TAGS - 1), min_size=1).map(sorted), min_size=1, max_size=3))
    return rows, weights, lists, draw(st.lists(st.integers(0, len(lists) - 1), min_size=n, max_size=n))


@settings(max_examples=100, deadline=None)
@given(lattices(), st.integers(0, 500))
def test_search_finds_the_best_of_all_sequences(lattice: tuple, cost: int) -> None:
    rows, weights, lists, group = lattice
    dictionary = Dictionary({}, [tuple(listed) for listed in lists], {})
    compiled = compile_templates(TEMPLATES)
    context = contexts(compiled, rows, len(group))
    gold = np.array([lists[g][0] for g in group], np.int32)
    best = np.full(len(group), -1, np.int32)
    for costs in (np.empty(0, np.int32), gold):
        score = best_tags(
            compiled, context, np.array(group, np.int32), dictionary.candidates, table(weights), costs, cost, best
        )
        values = {
            sequence: slow_score(rows, sequence, weights)
            + (cost * sum(a != b for a, b in zip(sequence, costs, strict=True)) if len(costs) else 0)
            for sequence in itertools.product(*(lists[g] for g in group))
        }
        assert score == max(values.values())
        assert values[tuple(best.tolist())] == score


def test_ties_go_to_the_first_candidates() -> None:
    compiled = compile_templates(TEMPLATES)
    rows = np.zeros((len(ATTRIBUTES), 3 + 2 * PAD), np.int64)
    candidates = Candidates(np.array([0, 3], np.int32), np.array([1, 2, 3], np.int32))
    best = np.empty(3, np.int32)
    weights, none = np.zeros(2**BITS + TAGS, np.int32), np.empty(0, np.int32)
    group = np.zeros(3, np.int32)
    best_tags(compiled, contexts(compiled, rows, 3), group, candidates, table(weights), none, 0, best)
    assert best.tolist() == [1, 1, 1]


@pytest.mark.parametrize("template", ["w.colour", "x.form", "w+3.form", "t-3", "t-2", "w1-.form"])
def test_bad_templates_are_named(template: str) -> None:
    with pytest.raises(ValueError, match="template"):
        compile_templates((template,))


# --- words ---


@pytest.mark.parametrize(
    ("form", "its_shape", "its_kind"),
    [
        ("Ankara", "Xx", "Xx"),
        ("B-52", "X-d", "Id-"),
        ("1,000", "d,d", "-d"),
        ("iPhone", "xXx", "xX"),
        ("NATO", "X", "X"),
        ("...", ".", "-."),
        ("e.g.", "x.x.", "x."),
    ],
)
def test_shapes(form: str, its_shape: str, its_kind: str) -> None:
    assert (shape(form), kind(form)) == (its_shape, its_kind)


def test_dictionary_lists_the_tags_of_frequent_forms() -> None:
    forms = ["the"] * 20 + ["saw"] * 20 + ["Ann", "runs"]
    tags = [3] * 20 + [1, 2] * 10 + [1, 2]
    dictionary = Dictionary.count(forms, tags, frequent=5)
    classes = dictionary.classes(["the", "saw", "Ann", "never"])
    assert [dictionary.lists[i] for i in classes] == [(3,), (1, 2), (1, 2), (1, 2)]
    assert dictionary.lists[0] == (1, 2), "no rare form is tagged 3"


def test_word_table_pads_every_sentence() -> None:
    treebank = synthetic_treebank(5, 1)
    rows, starts, group = word_table(treebank, Dictionary({}, [(0,)], {}))
    assert rows.shape == (len(ATTRIBUTES), treebank.words + 5 * 2 * PAD)
    assert group.tolist() == [0] * treebank.words
    forms = dict(zip(treebank.strings("form"), _columns(rows, starts, treebank), strict=True))
    assert len({tuple(h) for h in forms.values()}) == len(forms)
    first, last = rows[:, starts[1] : starts[1] + PAD], rows[:, starts[2] - PAD : starts[2]]
    assert (first == rows[:, starts[3] : starts[3] + PAD]).all()
    assert (last == rows[:, starts[4] - PAD : starts[4]]).all()
    assert len(np.unique(np.concatenate([first, last], axis=1)[0])) == 2 * PAD


def _columns(rows: np.ndarray, starts: np.ndarray, treebank: Treebank) -> list[list[int]]:
    return [
        rows[:, start + PAD + i].tolist() for start, n in zip(starts, treebank.lengths, strict=True) for i in range(n)
    ]


# --- learning ---


def ambiguous(sentences: int, seed: int) -> Treebank:
    """Return a treebank in which only the context, not the form, tells nouns from verbs and adjectives."""
    treebank = synthetic_treebank(sentences, seed)
    tags = treebank.strings("upos")
    forms = [f"w{form[1:]}" if tag in "NVJ" else form for form, tag in zip(treebank.strings("form"), tags, strict=True)]
    return with_forms(treebank, forms)


def with_forms(treebank: Treebank, forms: list[str]) -> Treebank:
    vocabulary = Vocabulary(sorted(set(forms)))
    ids = np.array([vocabulary.get(form) for form in forms], np.int32)
    return replace(treebank, columns=treebank.columns | {"form": ids}, vocab=treebank.vocab | {"form": vocabulary})


def test_tags_that_only_the_context_tells_are_learnt() -> None:
    train, dev = ambiguous(600, 1), ambiguous(150, 2)
    tagger = train_tagger(train, epochs=4, bits=18)
    majority: dict[str, dict[str, int]] = {}
    for form, tag in zip(train.strings("form"), train.strings("upos"), strict=True):
        counts = majority.setdefault(form, {})
        counts[tag] = counts.get(tag, 0) + 1
    guesses = [max(c, key=c.__getitem__) if (c := majority.get(f)) else "N" for f in dev.strings("form")]
    baseline = 100 * np.mean([a == b for a, b in zip(guesses, dev.strings("upos"), strict=True)])
    assert baseline < 85
    assert accuracy(dev, tagger) > baseline + 8
    assert [record["epoch"] for record in tagger.history] == [1, 2, 3, 4]


def test_the_best_epoch_is_kept() -> None:
    train, dev = ambiguous(100, 1), ambiguous(50, 2)
    tagger = train_tagger(train, dev, epochs=4, bits=16)
    assert accuracy(dev, tagger) == max(record["dev_accuracy"] for record in tagger.history)


def test_the_average_is_exact_and_fits() -> None:
    weights, sums = np.array([3, -2, 0], np.int32), np.array([10, 0, -5], np.int64)
    assert averaged(weights, sums, 100).tolist() == [290, -200, 5]
    large = averaged(np.array([2**20, -(2**20)], np.int32), np.zeros(2, np.int64), 2**14)
    assert large.dtype == np.int32
    assert large[0] == -large[1] > 2**29


def test_nothing_to_learn_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no tags in the column feats"):
        train_tagger(synthetic_treebank(3, 1), column="feats")


def test_unknown_tags_and_words_in_new_text() -> None:
    """A tag that training lacks counts as an error of the tagger and does not crash."""
    train = synthetic_treebank(30, 1)
    tagger = train_tagger(train, epochs=1, bits=14)
    tags = np.zeros(train.words, np.int32)
    strange = replace(train, columns=train.columns | {"upos": tags}, vocab=train.vocab | {"upos": Vocabulary(["?"])})
    assert accuracy(strange, tagger) == 0.0
    assert set(tagger.apply(with_forms(train, ["ő"] * train.words)).strings("upos")) <= set(tagger.tags)


# --- files ---


def test_a_file_gives_the_same_tagger(tmp_path: Path) -> None:
    train = ambiguous(100, 1)
    tagger = train_tagger(train, epochs=2, bits=14)
    tagger.save(tmp_path / "tagger.npz")
    loaded = Tagger.load(tmp_path / "tagger.npz")
    loaded.save(tmp_path / "again.npz")
    assert (loaded.tag(train) == tagger.tag(train)).all()
    assert loaded.history == tagger.history
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "tagger.npz").read_bytes()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tagger.npz"
    tagger = train_tagger(ambiguous(20, 1), epochs=1, bits=12)
    tagger.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="truncated"):
        Tagger.load(path)
    with pytest.raises(ModelError, match="no such tagger"):
        Tagger.load(tmp_path / "none.npz")
    tagger.dictionary.lists[0] = (99,)
    tagger.save(path)
    with pytest.raises(ModelError, match="tags out of range"):
        Tagger.load(path)


# --- jackknifing ---

SETTINGS = {"epochs": 2, "bits": 12}


def secrets(sentences: int) -> Treebank:
    """Return one-word sentences, each with a unique form and a random tag."""
    rng = np.random.default_rng(7)
    treebank = synthetic_treebank(sentences, 3, max_words=1)
    forms = with_forms(treebank, [f"{a}{b}" for a, b in rng.permutation(sentences**2)[:sentences, None] // [1, 7]])
    vocabulary = Vocabulary(["A", "B"])
    tags = rng.integers(0, 2, sentences).astype(np.int32)
    return replace(forms, columns=forms.columns | {"upos": tags}, vocab=forms.vocab | {"upos": vocabulary})


def test_folds_are_runs_of_nearly_equal_size() -> None:
    member = fold_of(1234)
    sizes = np.bincount(member, minlength=10)
    assert sizes.max() - sizes.min() <= 10
    assert (member[:10] == 0).all()
    assert (member[10:20] == 1).all()
    assert np.bincount(fold_of(13)).tolist() == [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]


def test_no_sentence_is_tagged_by_a_model_that_saw_it() -> None:
    treebank = secrets(400)
    gold = np.array(treebank.strings("upos"))
    memory = train_tagger(treebank, epochs=6, bits=18).apply(treebank)
    assert np.mean(np.array(memory.strings("upos")) == gold) > 0.9, "a tagger that saw the words knows their tags"
    jackknifed = np.array(jackknife(treebank, "upos", epochs=3, bits=18).strings("upos"))
    assert 0.35 < np.mean(jackknifed == gold) < 0.65
    changed_tags = treebank.columns["upos"].copy()
    fold = fold_of(len(treebank)) == 3
    changed_tags[fold] = 1 - changed_tags[fold]
    changed = replace(treebank, columns=treebank.columns | {"upos": changed_tags})
    repeated = np.array(jackknife(changed, "upos", epochs=3, bits=18).strings("upos"))
    assert (repeated[fold] == jackknifed[fold]).all(), "the tags of a fold do not depend on its own annotation"


def test_workers_change_nothing() -> None:
    treebank = ambiguous(120, 1)
    single = jackknife(treebank, "upos", workers=1, **SETTINGS)
    two = jackknife(treebank, "upos", workers=2, **SETTINGS)
    assert single.strings("upos") == two.strings("upos")
    assert single.vocab["upos"] == two.vocab["upos"]
    assert (single.head == treebank.head).all()
    assert single.strings("form") == treebank.strings("form")
    assert single.strings("upos") != treebank.strings("upos")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, "tests")
from test_tagging import SETTINGS, ambiguous, jackknife
from treebound.treebanks import storage


def killed_after_three(folds, label):
    yield from folds[:3]
    os.killpg(0, signal.SIGKILL)


folder = Path(sys.argv[1])
train = ambiguous(400, 1)
tagged = jackknife(train, "upos", workers=2, checkpoints=folder, progress=killed_after_three, **SETTINGS)
storage.save(tagged, folder / "tagged.npz")
"""


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    project = Path(__file__).parents[1]
    expected = jackknife(ambiguous(400, 1), "upos", **SETTINGS)
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=project, start_new_session=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "tagged.npz").exists()
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("fold-*.npz")}
    assert len(written) == 3
    resumed = jackknife(ambiguous(400, 1), "upos", checkpoints=tmp_path, **SETTINGS)
    assert {path: path.stat().st_mtime_ns for path in written} == written, "finished folds are not repeated"
    assert resumed.strings("upos") == expected.strings("upos")
    retrained = jackknife(ambiguous(400, 2), "upos", checkpoints=tmp_path, **SETTINGS)
    assert retrained.strings("upos") == jackknife(ambiguous(400, 2), "upos", **SETTINGS).strings("upos"), (
        "foreign folds"
    )


@pytest.mark.parametrize("folds", [1, 6])
def test_too_few_sentences_or_folds(folds: int) -> None:
    with pytest.raises(InputError, match=f"5 sentences cannot be divided into {folds} folds"):
        jackknife(synthetic_treebank(5, 1), "upos", folds=folds)
