"""Test the joint correction of tags and parses.

The tests cover score deficits of tags, likely taggings, the weights that balance tagger and parser, and the system.
"""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from synthetic import synthetic_treebank

import treebound
from studies.zhang_2014.tag_correction.measure import measured
from treebound.cli.annotate import Parsing, parsed
from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.learning.survey import remarks
from treebound.systems.correcting import jackknifed as of_taggers
from treebound.systems.correcting import training
from treebound.systems.correcting.balance import BITS, NUMBERS, Choice, features, learn
from treebound.systems.correcting.doubts import Doubts, doubts
from treebound.systems.correcting.fold_files import CHOICES, DOUBTS, FoldFiles, Kind
from treebound.systems.correcting.jackknifed import with_first
from treebound.systems.correcting.model import CorrectingModel
from treebound.systems.correcting.parser import Parser
from treebound.systems.correcting.settings import Settings
from treebound.systems.correcting.system import Correcting
from treebound.systems.sampling.tags.ranking import likely
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.sequence import Candidates, Table, best_tags, contexts
from treebound.systems.tagging.tagger import with_tags
from treebound.systems.tagging.words import word_table
from treebound.treebanks.document import read


def ambiguous(sentences: int, seed: int) -> Treebank:
    """Return a treebank in which most word forms do not determine the tag."""
    whole = synthetic_treebank(sentences, seed, 12)
    forms = [form if form[1:] == "1" else form[1:] for form in whole.strings("form")]
    names = sorted(set(forms))
    return with_tags(whole, "form", names, np.array([names.index(form) for form in forms]))


def test_deficits_are_the_score_losses_of_changed_tags() -> None:
    """Check that the deficit of a tag is the score that the best sequence loses if this tag replaces one of its tags.

    All such sequences of short sentences are scored.
    """
    train = ambiguous(60, 1)
    tagger, treebank = train_tagger(train, epochs=2, bits=12, column="upos"), ambiguous(30, 2)
    doubtful, unit = doubts(tagger, treebank)
    predicted = tagger.tag(treebank)
    rows, starts, group = word_table(treebank, tagger.dictionary)
    lists, table = tagger.dictionary.candidates, Table(tagger.weights, tagger.mask, len(tagger.tags))
    single_tags = np.arange(len(tagger.tags) + 1, dtype=np.int32)
    empty, out = np.empty(0, np.int32), np.empty(12, np.int32)
    seen = 0
    for i in np.flatnonzero(treebank.lengths <= 7):
        a, b = treebank.offsets[i : i + 2]
        context = contexts(tagger.compiled, rows[:, starts[i] :], b - a)
        search_arguments = Candidates(single_tags, single_tags[:-1]), table, empty, 0, out

        best = best_tags(tagger.compiled, context, predicted[a:b], *search_arguments)
        for w in range(a, b):
            expected = {}
            for tag in lists.tags[lists.first[group[w]] : lists.first[group[w] + 1]]:
                changed = predicted[a:b].copy()
                changed[w - a] = tag
                expected[tagger.tags[tag]] = (
                    best - best_tags(tagger.compiled, context, changed, *search_arguments)
                ) / unit
            assert dict(zip(doubtful.tags[w], doubtful.deficits[w], strict=True)) == pytest.approx(expected)
            assert doubtful.tags[w][0] == tagger.tags[predicted[w]]
            assert (np.diff(doubtful.deficits[w]) >= 0).all()
            seen += len(expected) > 1
    assert seen > 10
    fewer = doubtful.under(0.5, 2)
    assert all(1 <= len(tags) <= 2 and (less <= 0.5).all() for tags, less in zip(*fewer, strict=True))


@pytest.mark.parametrize("count", [1, 4, 50])
def test_likely_taggings_have_the_smallest_deficits(count: int) -> None:
    deficits = [np.array([0.0, 0.3, 0.9]), np.zeros(1), np.array([0.0, 0.2]), np.array([0.0, 0.4, 0.45])]
    every = [
        (sum(row[c] for row, c in zip(deficits, tagging, strict=True)), tagging)
        for tagging in itertools.product(*(range(len(row)) for row in deficits))
    ]
    taggings = likely(deficits, count)
    assert [value for value, _ in taggings] == pytest.approx([value for value, _ in sorted(every)[:count]])
    assert set(taggings) <= set(every)
    assert taggings[0][1] == (0, 0, 0, 0)


def test_the_balance_learns_when_the_parser_is_right() -> None:
    """Check that the learnt weights choose the better tagging in most cases.

    The changed tagging is right if the parser gains more than 0.5, except for one pair of tags. Deficits are random.
    """
    rng, choices = np.random.default_rng(1), []
    for _ in range(300):
        gain, pair = rng.normal(), int(rng.integers(2))
        numbers = np.array([[0, 0, 0], [gain, -rng.random(), -1]])
        choice_features = features([["A", "N"], ["A", "VJ"[pair]]], numbers)
        choices.append(
            Choice(choice_features, np.array([1.0, 0.0]) if gain > 0.5 and not pair else np.array([0.0, 1.0]))
        )
    weights = learn(choices, 0.3)
    picked = [choice.errors[np.argmax(choice.features @ weights)] for choice in choices]
    assert np.mean(picked) < 0.1 < np.mean([choice.errors[0] for choice in choices])
    assert weights[0] > 0
    assert np.array_equal(weights, learn(choices, 0.3))
    nothing = learn([Choice(sparse.csr_matrix((1, 1 << BITS)), np.zeros(1))], 1.0)
    assert np.flatnonzero(nothing).tolist() == [1]


def test_features_are_the_changes_of_a_tagging() -> None:
    rows = features([["A", "B"], ["C", "B"], ["C", "C"]], np.zeros((3, NUMBERS))).toarray()
    assert not rows[0].any()
    assert rows.sum(axis=1).tolist() == [0, 1, 2]
    assert (rows[2] >= rows[1]).all()


def test_coarse_tags_follow_fine_tags() -> None:
    treebank, meta = ambiguous(3, 1), {"tag": "xpos", "coarse": "upos"}
    tags = [("x", "y")] * (treebank.words - 1) + [("z",)]
    retagged = with_first(treebank, meta, tags, {"x": "X"})
    assert retagged.strings("xpos") == ["x"] * (treebank.words - 1) + ["z"]
    assert retagged.strings("upos") == ["X"] * (treebank.words - 1) + ["_"]
    assert with_first(treebank, {"tag": "xpos", "coarse": "tag2"}, tags, {}).strings("upos") == treebank.strings("upos")
    assert Doubts(tags, [np.zeros(2)] * len(tags)).part(1, 3).tags == [("x", "y")] * 2


SPEC = Settings(
    families=("adjacent-sibling",),
    global_features=(),
    epochs=2,
    bits=14,
    pruner_epochs=2,
    tagger_bits=14,
    tagger_epochs=4,
    tagger_folds=3,
    folds=2,
    restarts=3,
    patience=2,
    doubt=1.0,
)


@pytest.fixture(scope="module")
def model() -> CorrectingModel:
    return Correcting().train(SPEC, ambiguous(160, 3), ambiguous(40, 4))


def accuracy(parser: Parser, gold: Treebank) -> tuple[float, float]:
    """Return the shares of correct tags and correct heads."""
    parses = parser.parse(gold)
    tags = [tag for parse in parses for tag in parser.tags_of(parse)]
    heads = np.concatenate([parse.heads[1:] for parse in parses])
    return float(np.mean(np.array(tags) == np.array(gold.strings("upos")))), float(np.mean(heads == gold.head))


def test_the_parser_corrects_the_tagger(model: CorrectingModel, tmp_path: Path) -> None:
    new = ambiguous(60, 5)
    corrected, pipeline = Parser(model), Parser(model, taggings=1)
    (tags, heads), (predicted, before) = accuracy(corrected, new), accuracy(pipeline, new)
    tagged = model.tagger.apply(new).strings("upos")
    assert predicted == pytest.approx(np.mean(np.array(tagged) == new.strings("upos")))
    assert predicted < 0.97
    assert tags + heads > predicted + before
    model.save(tmp_path / "model.npz")
    reloaded = treebound.load(tmp_path / "model.npz")
    serial, parallel = corrected.parse(new), reloaded.parse(new, workers=2)
    assert [(p.heads.tolist(), p.value, p.record) for p in serial] == [
        (p.heads.tolist(), p.value, p.record) for p in parallel
    ]
    assert "pipeline" in Correcting().report(model, new)
    with pytest.raises(ModelError):
        CorrectingModel.load(Path(__file__))


def test_the_key_of_a_model_depends_on_settings_and_treebanks(model: CorrectingModel, tmp_path: Path) -> None:
    train, dev, system = ambiguous(160, 3), ambiguous(40, 4), Correcting()
    model.save(tmp_path / "model.npz")
    assert CorrectingModel.load(tmp_path / "model.npz").key == system.key(SPEC, train, dev) != ""
    for spec, other_dev in ((replace(SPEC, doubt=2.0), dev), (SPEC, ambiguous(40, 5))):
        assert system.key(spec, train, other_dev) != model.key


@pytest.mark.parametrize("stop", ["jackknife", "held-out parsers"])
def test_folds_are_not_repeated_after_an_interrupt(
    stop: str, model: CorrectingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, train, dev = tmp_path / "checkpoint", ambiguous(160, 3), ambiguous(40, 4)
    finished_folds: list[int] = []

    def until(items, what):
        for number, item in enumerate(items):
            if what == stop and number == 1:
                raise KeyboardInterrupt
            yield item

    for module in (training, of_taggers):
        monkeypatch.setattr(
            module,
            "_fold",
            lambda task, fold, original=module._fold: finished_folds.append(fold) or original(task, fold),
        )
    with pytest.raises(KeyboardInterrupt):
        Correcting().train(SPEC, train, dev, checkpoint=path, progress=until)
    before = len(finished_folds)
    assert len(list(tmp_path.iterdir())) == before == 1 + (SPEC.tagger_folds if stop != "jackknife" else 0)
    finished_folds.clear()
    next(tmp_path.glob("*.0")).write_bytes(b"damaged")
    resumed = Correcting().train(SPEC, train, dev, checkpoint=path)
    assert len(finished_folds) == SPEC.tagger_folds + SPEC.folds - before + 1
    assert not list(tmp_path.iterdir())
    resumed.save(tmp_path / "resumed.npz")
    model.save(tmp_path / "model.npz")
    assert (tmp_path / "resumed.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


def test_folds_of_another_training_run_are_not_used(tmp_path: Path) -> None:
    doubtful = Doubts([("A", "B"), ("B",)], [np.array([0.0, 0.25]), np.zeros(1)])
    choice = Choice(features([["A"], ["B"]], np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])), np.array([1.0, 0.0]))
    path = tmp_path / "c"

    def saved(kind: Kind, checkpoint: Path | None, key: str, results: list) -> list:
        """Return the results of two folds, followed by the list of folds that had no stored result.

        results: the results that are returned for these folds.
        """
        missing_folds: list[int] = []
        return [
            *FoldFiles(checkpoint, key).folds(kind, 2, lambda missing: missing_folds.extend(missing) or iter(results)),
            missing_folds,
        ]

    assert saved(DOUBTS, path, "this", [doubtful, doubtful])[2] == [0, 1]
    assert saved(CHOICES, path, "this", [[choice, choice], []])[2] == [0, 1]
    restored = saved(DOUBTS, path, "this", [])
    assert restored[2] == []
    assert [(result.tags, *map(list, result.deficits)) for result in restored[:2]] == [
        (doubtful.tags, *map(list, doubtful.deficits))
    ] * 2
    restored_choices, no_choices, missing_folds = saved(CHOICES, path, "this", [])
    assert (no_choices, missing_folds) == ([], [])
    assert [(result.features != choice.features).nnz for result in restored_choices] == [0, 0]
    assert [list(result.errors) for result in restored_choices] == [[1.0, 0.0]] * 2
    assert saved(DOUBTS, path, "another", [doubtful, doubtful])[2] == [0, 1]
    assert saved(DOUBTS, None, "another", [doubtful, doubtful])[2] == [0, 1]


def test_attributes_that_are_left_out_are_not_named() -> None:
    train, dev = ambiguous(40, 3), ambiguous(10, 4)
    train.meta["attributes"] = dev.meta["attributes"] = ["suffix", "feats", "lemma"]
    Correcting().adapted_settings(SPEC, train)
    assert "attributes suffix" in remarks(train, dev, projective=True, k="")[0]
    assert "feats" not in remarks(train, dev, projective=True, k="")[0].split("attributes")[1]


def test_parse_writes_the_tags(model: CorrectingModel, tmp_path: Path) -> None:
    text = "".join(f"{i}\t{form}\t_\tX\t_\t_\t_\t_\t_\t_\n" for i, form in enumerate(("d1", "n1", "v1", "3"), 1)) + "\n"
    path = tmp_path / "in.conllu"
    path.write_text(text)
    document = read(path, annotated=False)
    out = parsed(Parsing(Parser(model)), document).text
    tags = read_text(out, tmp_path).strings("upos")
    assert tags[:3] == ["D", "N", "V"]
    assert tags[3] in "VNPCJDA."


@pytest.mark.parametrize("as_published", [False, True])
def test_the_effect_of_correction_is_measured(as_published: bool) -> None:
    new = ambiguous(20, 5)
    metrics = measured(SPEC, ambiguous(60, 3), ambiguous(20, 4), new, gold=as_published, as_published=as_published)
    gain = metrics["tags_corrected"] - metrics["tags_predicted"]
    assert gain == pytest.approx(100 * (metrics["mended"] - metrics["spoilt"]) / new.words)
    difference, low, high, p = metrics["uas_gain"]
    assert difference == pytest.approx(metrics["uas_corrected"] - metrics["uas_predicted"])
    assert low <= difference <= high
    assert 0 < p <= 1
    assert ("uas_right" in metrics) == as_published


@pytest.mark.parametrize("as_published", [False, True])
def test_right_coarse_tags_are_not_read(as_published: bool) -> None:
    """Check that the coarse tags of the test sentences change nothing if the tagger predicts another column."""

    def fine(treebank: Treebank) -> Treebank:
        tags = treebank.strings("upos")
        names = sorted(set(tags))
        with_fine = with_tags(treebank, "xpos", names, np.array([names.index(tag) for tag in tags]))
        return replace(with_fine, meta=treebank.meta | {"tag": "xpos", "coarse": "upos"})

    train, dev, new = fine(ambiguous(60, 3)), fine(ambiguous(20, 4)), fine(ambiguous(20, 5))
    scored = np.array([tag != "." for tag in new.strings("upos")])
    wrong = with_tags(new, "upos", [".", "A", "X"], scored * (1 + np.arange(new.words) % 2))
    expected = measured(SPEC, train, dev, new, gold=False, as_published=as_published)
    assert measured(SPEC, train, dev, wrong, gold=False, as_published=as_published) == expected


def read_text(text: bytes, folder: Path) -> Treebank:
    """Write the text to a file and return it as a treebank."""
    assert io.BytesIO(text).read(1)
    (folder / "out.conllu").write_bytes(text)
    return read(folder / "out.conllu").treebank


def test_unusable_treebanks_are_refused() -> None:
    whole = ambiguous(5, 1)
    with pytest.raises(InputError, match="5 sentences are too few for 10 folds"):
        Correcting().adapted_settings(Settings(), whole)
    untagged = with_tags(whole, "upos", ["_"], np.zeros(whole.words, np.int32))
    with pytest.raises(InputError, match="no word has a tag"):
        Correcting().adapted_settings(SPEC, untagged)
