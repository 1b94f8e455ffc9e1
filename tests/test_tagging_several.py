"""Taggers of several columns: edits of lemmas, separate words, files, and two commands from plain text to trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import ModelFile
from synthetic import inflected_conllu
from test_cli import assert_one_line, run
from test_survey import column, treebank

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.folds import fold_of
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import ALONE, accuracy, train_tagger
from treebound.systems.tagging.lemmas import apply, edit
from treebound.systems.tagging.sequence import PAD
from treebound.systems.tagging.several import COLUMNS, Taggers, accuracies, train_taggers
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.templates import ATTRIBUTES
from treebound.systems.tagging.words import Dictionary, alone, word_table

# --- lemmas ---


@pytest.mark.parametrize(
    ("form", "lemma", "script", "other_form", "edited"),
    [
        ("huizen", "huis", "|zen>s|l", "Glazen", "glas"),
        ("gelopen", "lopen", "ge>||l", "Gezeten", "zeten"),
        ("Amsterdam", "Amsterdam", "||f", "Utrecht", "Utrecht"),
        ("De", "de", "||l", "Een", "een"),
        ("am", "be", "=be", "are", "be"),
        ("x", "_", "_", "y", "_"),
        ("_", "_", "||l", "A", "a"),
        ("1|2>3", "1|2>4", "=1|2>4", "5", "1|2>4"),
    ],
)
def test_edits(form: str, lemma: str, script: str, other_form: str, edited: str) -> None:
    assert edit(form, lemma) == script
    assert apply(other_form, script) == edited


def test_an_edit_for_other_forms_leaves_them() -> None:
    assert apply("Boek", "|zen>s|l") == "boek"
    assert apply("zen", "|zen>s|l") == "zen", "the edit would delete the whole form"


@settings(max_examples=300, deadline=None)
@given(st.text("abAB|>=_ß ", min_size=1, max_size=8), st.text("abAB|>=_ß ", min_size=1, max_size=8))
def test_an_edit_makes_the_lemma_of_its_form(form: str, lemma: str) -> None:
    assert apply(form, edit(form, lemma)) == lemma


# --- words one by one ---


def texts(sentences: int, seed: int) -> Treebank:
    """Return an inflected language whose forms show the case, as the taggers need it."""
    lines = inflected_conllu(sentences, seed).splitlines()
    rows = [line.split("\t") for line in lines]
    for row in rows:
        if row != [""] and row[2] != ".":
            row[1] = row[2] + (row[5].split("=")[1][:1] + row[5][-2:] if row[5] != "_" else "").lower()
    return treebank("".join("\t".join(row) + "\n" for row in rows))


def test_a_word_alone_sees_its_neighbours_and_the_tags_around() -> None:
    given_tags = texts(4, 1)
    rows, starts, group = word_table(given_tags, Dictionary({}, [(0,), (1,)], {}, {"NOUN": 1}), "upos")
    each, offsets = alone(starts, given_tags)
    assert offsets.tolist() == list(range(given_tags.words + 1))
    for sentence in range(len(given_tags)):
        a, b = given_tags.offsets[sentence : sentence + 2]
        whole = rows[:, starts[sentence] : starts[sentence] + b - a + 2 * PAD]
        for word in range(a, b):
            window = rows[:, each[word] : each[word] + 2 * PAD + 1]
            assert (window == whole[:, word - a : word - a + 2 * PAD + 1]).all()
    tags = rows[ATTRIBUTES.index("tag")]
    of_word = tags[each + PAD]
    assert len(set(of_word.tolist())) == len(set(given_tags.strings("upos")))
    assert group.tolist() == [int(tag == "NOUN") for tag in given_tags.strings("upos")]


def test_many_tags_are_learnt_word_by_word() -> None:
    train, dev = texts(200, 1), texts(60, 2)
    tagger = train_tagger(train, dev, column="feats", tag_column="upos", epochs=3, bits=18)
    assert tagger.templates == ALONE
    assert accuracy(dev, tagger) > 97
    lemmas = train_tagger(train, dev, column="lemma", tag_column="upos", epochs=3, bits=18)
    assert accuracy(dev, lemmas) > 97
    assert len(lemmas.tags) < 30, "edits, not lemmas"
    # other tags in the context give other features: nouns called verbs get the features of verbs
    number = dev.vocab["upos"].get("VERB")
    wrong = replace(dev, columns=dev.columns | {"upos": np.full(dev.words, number, np.int32)})
    assert accuracy(dev, tagger, wrong) < 85


# --- several ---


@pytest.fixture(scope="module")
def taggers() -> Taggers:
    return train_taggers(texts(150, 1), texts(40, 2), ("lemma", "feats", "upos"), epochs=2, bits=16)


def without_tags(dev: Treebank) -> Treebank:
    nothing = np.zeros(dev.words, np.int32)
    columns = dev.columns | dict.fromkeys(COLUMNS, nothing)
    return replace(dev, columns=columns, vocab=dev.vocab | {name: Vocabulary(["_"]) for name in COLUMNS})


def test_columns_are_filled_in_turn(taggers: Taggers) -> None:
    dev = texts(40, 2)
    assert taggers.columns == ("upos", "feats", "lemma")
    assert [tagger.tag_column for tagger in taggers.taggers] == ["", "upos", "upos"]
    tagged = taggers.apply(without_tags(dev))
    scores = {}
    for name in taggers.columns:
        right = [a == b for a, b in zip(dev.strings(name), tagged.strings(name), strict=True)]
        scores[name] = 100 * np.mean(right)
    assert scores == pytest.approx(accuracies(dev, taggers)), "the taggers ignore the annotated columns"
    assert min(scores.values()) > 90


def test_fine_tags_of_many_values_are_given_the_coarse_ones() -> None:
    train = texts(60, 1)
    few = treebank(column(inflected_conllu(60, 1), 5, ["a", "b", "c"]))
    many = treebank(column(inflected_conllu(60, 1), 5, [f"t{i}" for i in range(70)]))
    made = [train_taggers(each, None, ("upos", "xpos", "feats"), epochs=1, bits=12) for each in (few, many)]
    assert [tagger.tag_column for tagger in made[0].taggers] == ["", "", "xpos"]
    assert [tagger.tag_column for tagger in made[1].taggers] == ["", "upos", "upos"]
    with pytest.raises(InputError, match="no tags in the column xpos"):
        train_taggers(train, None, ("xpos",), epochs=1, bits=12)
    with pytest.raises(InputError, match="no column to tag; choose from upos, xpos, feats, lemma"):
        train_taggers(train, None, (), epochs=1, bits=12)


def test_a_file_gives_the_same_taggers(taggers: Taggers, tmp_path: Path) -> None:
    dev, path = without_tags(texts(40, 2)), tmp_path / "taggers.npz"
    taggers.save(path)
    loaded = Taggers.load(path)
    assert loaded.columns == taggers.columns
    for name in taggers.columns:
        assert loaded.apply(dev).strings(name) == taggers.apply(dev).strings(name)
    loaded.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_a_file_of_one_tagger_is_as_before(taggers: Taggers, tmp_path: Path) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    taggers.taggers[0].save(old)
    Taggers(taggers.taggers[:1]).save(new)
    assert old.read_bytes() == new.read_bytes()
    header = ModelFile(old.read_bytes()).header
    assert not {"given", "edits", "lists_of_given"} & header.keys(), "the header of older versions"
    assert Taggers.load(old).columns == ("upos",)
    Tagger.load(new)


@pytest.mark.parametrize("fault", ["twice", "none", "list", "weights", "column", "given", "edit"])
def test_damaged_files_are_refused(fault: str, taggers: Taggers, tmp_path: Path) -> None:
    path = tmp_path / "taggers.npz"
    taggers.save(path)
    file = ModelFile(path.read_bytes())
    listed = file.header["taggers"]
    match fault:
        case "twice":
            listed.append(listed[0])
        case "none":
            listed.clear()
        case "list":
            listed[1]["lists_of_given"]["NOUN"] = 10**6
        case "weights":
            del file.arrays["feats"]
        case "column":
            listed[1]["column"] = "head"
        case "edit":
            listed[2]["tags"][0] = "a|b"
        case "given":
            listed[1]["given"] = "colour"
    path.write_bytes(file.written())
    with pytest.raises(ModelError, match=r"damaged taggers? file"):
        Taggers.load(path)


def test_jackknifed_columns_are_of_taggers_that_have_not_seen_the_sentence(tmp_path: Path) -> None:
    train = texts(120, 1)
    small = {"folds": 3, "epochs": 1, "bits": 14}
    jackknifed = jackknife(train, ("upos", "feats"), **small)
    assert jackknifed.strings("feats") == jackknife(train, ("upos", "feats"), workers=2, **small).strings("feats")
    assert jackknifed.strings("lemma") == train.strings("lemma")
    assert jackknifed.head is train.head
    member = fold_of(len(train), 3)
    others, own = (train.select(np.flatnonzero(mask)) for mask in (member != 1, member == 1))
    expected = train_taggers(others, None, ("upos", "feats"), epochs=1, bits=14).apply(own)
    assert jackknifed.select(np.flatnonzero(member == 1)).strings("feats") == expected.strings("feats")
    path, out = tmp_path / "train.conllu", tmp_path / "jackknifed.conllu"
    path.write_text("# kept\n" + inflected_conllu(40, 1))
    options = ("--columns", "upos,feats", "--epochs", 1, "--bits", 12, "--workers", 2)
    done = run("jackknife", path, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    before, after = (each.read_text().splitlines() for each in (path, out))
    assert after[0] == "# kept"
    assert len(before) == len(after)
    assert before != after
    for a, b in zip(before, after, strict=True):
        assert a.split("\t")[:3] == b.split("\t")[:3]
        assert a.split("\t")[6:] == b.split("\t")[6:]


def test_untagged_text_becomes_trees(tmp_path: Path) -> None:
    train, dev, bare = tmp_path / "train.conllu", tmp_path / "dev.conllu", tmp_path / "bare.conllu"
    rows = {path: inflected_conllu(n, seed) for path, n, seed in ((train, 150, 1), (dev, 40, 2))}
    for path, text in rows.items():
        path.write_text(text)
    empty = rows[dev]
    for number in (3, 4, 6, 7, 8):
        empty = column(empty, number, ["_"])
    bare.write_text(empty)
    small = ("--epochs", 2, "--bits", 16)
    done = run("train", "--system", "tagging", train, dev, "-o", tmp_path / "tagger.npz", *small)
    assert done.returncode == 0, done.stderr
    assert "accuracy on dev: upos 100.00, feats " in done.stderr
    assert ", lemma " in done.stderr
    assert run("train", train, dev, "-o", tmp_path / "model.npz", "--families", "", *small).returncode == 0
    tagged = run("tag", tmp_path / "tagger.npz", bare)
    assert tagged.returncode == 0, tagged.stderr
    cells = [line.split("\t") for line in tagged.stdout.splitlines() if line]
    assert {cell[3] for cell in cells} == {"NOUN", "ADJ", "VERB", "PUNCT"}
    assert [cell[:2] for cell in cells] == [line.split("\t")[:2] for line in empty.splitlines() if line]
    assert all(cell[2] != "_" and cell[4] == "_" for cell in cells)
    parsed = run("parse", tmp_path / "model.npz", "-o", tmp_path / "out.conllu", stdin=tagged.stdout)
    assert (parsed.returncode, parsed.stderr) == (0, "")
    scored = run("evaluate", dev, tmp_path / "out.conllu")
    uas = float(scored.stdout.split("UAS\t")[1].split()[0])
    assert uas > 60, "forms do not show the case here"
    done = run("jackknife", train, "--columns", "upos,colour")
    assert_one_line(done, "columns: unknown value 'colour'; choose from auto, upos, xpos, feats, lemma")
