"""The survey of a user's treebank, the choice of settings by the survey, and the quality of this choice."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from oracles.trees import trees
from synthetic import inflected_conllu, synthetic_treebank
from test_cli import SENTENCES, assert_one_line, conllu, run

from studies.common.params import load as load_params
from studies.pipeline.trainers.graph import specification
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.reading import Reading
from treebound.learning.survey import attributes, ceiling, describe, fine_tag, remarks, survey, unseen
from treebound.support.settings import read as read_settings
from treebound.systems.graph.settings import Settings
from treebound.treebanks.document import read


def treebank(text: str) -> Treebank:
    return read(text.encode().splitlines(keepends=True), "conllu").treebank


def column(text: str, number: int, values: list[str]) -> str:
    """Return CoNLL-U with the given values in a column (from 1), in rotation."""
    value = itertools.cycle(values)
    rows = [line.split("\t") for line in text.splitlines()]
    return "".join(
        ("\t".join([*row[: number - 1], next(value), *row[number:]]) if len(row) > 1 else row[0]) + "\n" for row in rows
    )


# --- what is chosen ---


def test_columns_that_tell_something_are_chosen() -> None:
    text = inflected_conllu(50, 1)
    own_treebank = treebank(text)
    assert fine_tag(own_treebank) == "upos"
    assert attributes(own_treebank, "upos") == ["suffix", "feats", "lemma"]
    assert attributes(treebank(column(text, 6, ["_"])), "upos") == ["suffix", "lemma"]
    forms = [line.split("\t")[1] for line in text.splitlines() if line]
    assert attributes(treebank(column(text, 3, [form.upper() for form in forms])), "upos") == ["suffix", "feats"]
    assert attributes(treebank(column(text, 3, ["_"])), "upos") == ["suffix", "feats"]


def test_features_that_the_tag_tells_are_not_chosen() -> None:
    text = inflected_conllu(50, 1)
    tags = [line.split("\t")[5].replace("_", ".") for line in text.splitlines() if line]
    tagged = treebank(column(text, 5, tags))
    assert fine_tag(tagged) == "xpos"
    assert attributes(tagged, "xpos") == ["suffix", "lemma"]
    assert attributes(tagged, "upos") == ["suffix", "feats", "lemma"]


def test_few_words_with_features_are_too_few() -> None:
    text = inflected_conllu(50, 1)
    assert "feats" in attributes(treebank(column(text, 6, ["A=B", *"_" * 9])), "upos")
    assert "feats" not in attributes(treebank(column(text, 6, ["A=B", *"_" * 30])), "upos")


def test_short_words_are_seen_by_prefix_and_length() -> None:
    text = column(inflected_conllu(20, 1), 2, ["一", "二三", "四"])
    assert attributes(treebank(text), "upos")[:3] == ["suffix", "prefix", "length"]


def test_xpos_of_too_few_words_or_other_ones_in_dev_is_no_tag() -> None:
    text = inflected_conllu(50, 1)
    full, gaps = treebank(column(text, 5, ["a", "b"])), treebank(column(text, 5, ["a", "b", "_"]))
    dev = treebank(column(text, 5, ["a", "c"]))
    assert fine_tag(full, full) == "xpos"
    assert fine_tag(gaps, gaps) == "upos"
    assert unseen(full, dev, "xpos") == pytest.approx(0.5, abs=0.01)
    assert fine_tag(full, dev) == "upos"


def test_without_upos_xpos_is_both_tags() -> None:
    text = column(column(inflected_conllu(20, 1), 5, ["a", "b"]), 4, ["_"])
    train, dev = treebank(text), treebank(text)
    describe(train, dev)
    assert (train.meta["tag"], train.meta["coarse"]) == (dev.meta["tag"], dev.meta["coarse"]) == ("xpos", "xpos")


@pytest.mark.parametrize(
    ("attributes", "chosen"), [(("none",), []), (("lemma", "feats"), ["feats", "lemma"]), (("length",), ["length"])]
)
def test_attributes_that_are_named_are_used(attributes: tuple[str, ...], chosen: list[str]) -> None:
    train, dev = treebank(inflected_conllu(5, 1)), treebank(inflected_conllu(5, 2))
    describe(train, dev, Reading(attributes=attributes))
    assert train.meta["attributes"] == dev.meta["attributes"] == chosen


@pytest.mark.parametrize("attribute", ["colour", "auto,feats", "none,feats"])
def test_other_attributes_are_refused(attribute: str) -> None:
    with pytest.raises(InputError, match=r"unknown attribute .*; choose from suffix, prefix, length, feats, lemma; or"):
        read_settings(Reading, {"attributes": attribute})


# --- what is counted ---


def test_crossing_arcs_and_roots_are_counted() -> None:
    words = [("a", "X", 3), ("b", "X", 4), ("c", "X", 0), ("d", "X", 3)]
    two = [("a", "X", 0), ("b", "X", 0)]
    surveyed = survey(treebank(conllu([words, two, *SENTENCES[:1]])))
    assert (surveyed.sentences, surveyed.words) == (3, 10)
    assert (surveyed.crossing, surveyed.lifted, surveyed.several) == (1, 1, 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_the_ceiling_is_that_of_the_best_projective_tree(single_root: bool) -> None:
    """The ceiling is the highest attachment score that projective trees can reach, checked by enumeration."""
    rng = np.random.default_rng(3)
    projective = {n: trees(n, "projective", single_root) for n in (4, 5)}
    every = {n: trees(n, "non-projective") for n in (4, 5)}
    for _ in range(30):
        n = int(rng.integers(4, 6))
        heads = every[n][rng.integers(len(every[n]))]
        tags = ["PUNCT" if rng.random() < 0.3 else "X" for _ in range(n)]
        own_treebank = treebank(conllu([[(f"w{m}", tags[m - 1], int(heads[m])) for m in range(1, n + 1)]]))
        own_treebank.meta.update(single_root=single_root, punctuation={"column": "upos", "tags": ["PUNCT"]})
        counts = np.array([tag != "PUNCT" for tag in tags])
        best = int(((projective[n][:, 1:] == heads[1:]) & counts).sum(axis=1).max())
        assert ceiling(own_treebank) == pytest.approx(100 - 100 * (counts.sum() - best) / max(1, counts.sum()))


def test_the_summary_names_the_chosen_settings_and_gives_advice() -> None:
    train, dev = treebank(inflected_conllu(300, 1)), treebank(inflected_conllu(100, 2))
    describe(train, dev)
    summary, advice = remarks(train, dev, projective=True, k=10)
    assert re.match(r"300 sentences, [\d,]+ words \(upos 100 %, xpos 0 %, feats 8\d %, lemma 100 %\), ", summary)
    assert summary.endswith("; tag upos, attributes suffix, feats, lemma, k 10")
    crossing = float(re.search(r"([\d.]+) % with crossing arcs", summary)[1])  # type: ignore[index]
    assert 10 < crossing < 35
    assert advice.startswith("advice: train with --space non-projective")
    assert f"dev UAS is {ceiling(dev):.2f} at most" in advice
    assert len(remarks(train, dev, projective=False, k=10)) == 1, "a user who sets the option needs no advice"
    flat = synthetic_treebank(50, 1), synthetic_treebank(50, 2)
    describe(*flat)
    assert len(remarks(*flat, projective=True, k=10)) == 1


def test_sentences_of_dev_that_training_has_are_named() -> None:
    text, other = inflected_conllu(50, 1), inflected_conllu(60, 2)
    for dev, warned in ((text, True), (text + other, False)):
        files = treebank(text), treebank(dev)
        describe(*files)
        warnings = [line for line in remarks(*files, projective=False, k=10) if "in training, too" in line]
        assert len(warnings) == warned
        assert not warned or warnings[0].startswith("warning: 50 of dev's 50 sentences are in training, too: ")


def test_several_roots_and_tags_that_training_lacks_are_named() -> None:
    text = inflected_conllu(50, 1)
    train, dev = treebank(column(text, 5, ["a", "b"])), treebank(column(text, 5, ["a", "c"]))
    train.head[:2] = 0
    describe(train, dev)
    lines = remarks(train, dev, projective=False, k="none")
    assert "1 with several roots" in lines[0]
    assert lines[1] == "warning: 50 % of dev's words have xpos that training lacks; upos is the tag"
    describe(train, dev, Reading(tag="xpos"))
    assert "is xpos annotated alike?" in remarks(train, dev, projective=False, k="none")[1]


# --- the settings ---


def test_the_defaults_are_the_combined_model_of_the_experiments() -> None:
    path = Path(__file__).parents[1] / "params.yaml"
    params, plain = load_params(path), synthetic_treebank(5, 1)
    assert Settings().adapted_settings(plain) == specification(params, "combined-pruned", plain, params.seed)
    plain.meta["patterns"] = "en_ud"
    assert Settings() == specification(params, "combined-pruned", plain, params.seed)
    crossing = specification(params, "non-projective", plain, params.seed)
    assert Settings(space="non-projective") == crossing


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inflected")
    (path / "train.conllu").write_text(inflected_conllu(250, 1))
    (path / "dev.conllu").write_text(inflected_conllu(80, 2))
    return path


def scores(folder: Path, *options: object) -> tuple[float, float, str]:
    """Return UAS and LAS on dev, and the messages, of a model that is trained as the README says."""
    model = folder / "model.npz"
    done = run("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, "--bits", 16, *options)
    assert done.returncode == 0, done.stderr
    parsed = run("parse", model, folder / "dev.conllu", "-o", folder / "parsed.conllu")
    assert (parsed.returncode, parsed.stderr) == (0, "")
    out = run("evaluate", folder / "dev.conllu", folder / "parsed.conllu").stdout
    summary = dict(line.split("\t") for line in out.splitlines())
    return float(summary["UAS"]), float(summary["LAS"]), done.stderr


def test_the_readme_followed_on_an_inflected_language(folder: Path) -> None:
    uas, las, messages = scores(folder, "--epochs", 2)
    assert "tag upos, attributes suffix, feats, lemma, k 10" in messages
    assert "advice: train with --space non-projective" in messages
    assert re.search(r"k 10, threshold 0.001: \d\.\d heads a word, keeps (9\d|100)\.\d\d % of dev's heads", messages)
    poor_uas, poor_las, _ = scores(folder, "--epochs", 2, "--attributes", "none")
    assert uas > poor_uas + 3
    assert las > poor_las + 10
    # missing columns that the model reads are reported
    bare = column((folder / "dev.conllu").read_text(), 6, ["_"])
    done = run("parse", folder / "model.npz", stdin=bare)
    assert done.stderr == "", "the model trained last does not read FEATS"


def test_input_that_lacks_what_the_model_reads_is_named(folder: Path) -> None:
    short = ("--epochs", 1, "--families", "", "--labels", "none")
    done = run("train", folder / "train.conllu", folder / "dev.conllu", "-o", folder / "m.npz", "--bits", 14, *short)
    assert done.returncode == 0, done.stderr
    bare = column((folder / "dev.conllu").read_text(), 6, ["_"])
    done = run("parse", folder / "m.npz", stdin=bare)
    assert (
        done.stderr == "treebound: warning: <stdin>: feats empty, but the model reads it; `treebound tag` can fill it\n"
    )
    first_sentence = bare.partition("\n\n")[0] + "\n\n"
    assert run("parse", folder / "m.npz", stdin=first_sentence).stderr == "", "a few words may have no features"
    done = run("parse", folder / "m.npz", stdin=column(first_sentence, 4, ["_"]))
    assert "<stdin>: upos empty" in done.stderr


def test_attributes_of_the_command_and_of_lists(folder: Path) -> None:
    files = (folder / "train.conllu", folder / "dev.conllu")
    done = run("train", *files, "-o", folder / "m.npz", "--attributes", "colour")
    assert_one_line(
        done, "unknown attribute 'colour'; choose from suffix, prefix, length, feats, lemma; or give auto or none"
    )
    (folder / "list.yaml").write_text(
        "settings: {train: train.conllu, dev: dev.conllu, epochs: 1, bits: 14, families: [], labels: none}\n"
        "models:\n  listed: {attributes: [feats]}\n  text: {attributes: 'lemma, suffix'}\n  plain: {}\n"
    )
    done = run("train-many", folder / "list.yaml", "-o", folder / "models")
    assert done.returncode == 0, done.stderr
    for name, chosen in (("listed", "feats"), ("text", "suffix, lemma"), ("plain", "suffix, feats, lemma")):
        assert re.search(rf"^{name}: 250 sentences, .*attributes {chosen}, k 10$", done.stderr, re.MULTILINE)
