"""The catalogue describes every corpus completely, and data/README.md agrees with it."""

from __future__ import annotations

import json
import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from treebound.core.errors import InputError, TreeboundError
from treebound.core.treebank import STRING_COLUMNS
from treebound.treebanks.catalogue import CORPORA, SPLITS, Package, Url, UserPath, load
from treebound.treebanks.describe import sources_markdown
from treebound.treebanks.document import FORMATS

OPEN = [
    "tr_twt", "pt_petrogold", "en_ewt", "zh_gsd", "sv_talbanken", "sv_lines", "nl_lassysmall", "ja_gsd", "tr_imst",
    "fr_sequoia", "el_gdt", "cs_cltt", "af_afribooms", "it_partut", "af_afribooms_r2.6",
    "en_ewt_r2.8", "es_conll07", "eu_conll07", "nl_alpino",
    "zh_sinica", "ptb_sample", "en_craft",
]  # fmt: skip

ENTRY = """
[mine]
title = "Mine"
language = "en"
licence = "mine"
files = { train = ["train.conllu"], dev = ["dev.conllu"], test = ["test.conllu"] }
source = { kind = "path", holds = "the folder" }
"""


def test_the_corpora():
    assert [name for name in CORPORA if not isinstance(CORPORA[name].source, UserPath)] == OPEN
    assert next(iter(CORPORA)) == "tr_twt", "the default comes first"
    with pytest.raises(TreeboundError, match="unknown corpus 'en_gum'; choose from tr_twt, pt_petrogold"):
        CORPORA["en_gum"]


@pytest.mark.parametrize("name", CORPORA)
def test_every_entry(name):
    corpus = CORPORA[name]
    assert corpus.name == name
    assert corpus.title
    assert corpus.licence
    assert corpus.format in FORMATS
    assert corpus.single_root == (name != "eu_conll07")
    assert re.fullmatch("[a-z]{2}", corpus.language)
    assert corpus.tag in STRING_COLUMNS
    assert corpus.coarse in STRING_COLUMNS
    assert set(corpus.attributes) <= {"prefix", "suffix", "length", "feats", "lemma"}
    assert corpus.punctuation["column"] in STRING_COLUMNS
    assert corpus.punctuation["tags"]
    assert json.loads(json.dumps(corpus.meta)) == corpus.meta, "storage keeps it as JSON"
    checksums = list(corpus.source.files.values())
    if isinstance(corpus.source, Package):
        checksums.append(corpus.source.sha256)
    if isinstance(corpus.source, Url):
        assert corpus.source.base.startswith("https://")
        assert corpus.source.base.endswith("/")
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in checksums)
    if corpus.source.files:
        named = [pattern.partition("!")[0] for patterns in corpus.files.values() for pattern in patterns]
        used = {name for name in corpus.source.files for pattern in named if fnmatchcase(name, pattern)}
        assert used == set(corpus.source.files), "every file fetched is used and every file used is fetched"


def test_readme_is_in_step():
    readme = Path(__file__).parents[1] / "data" / "README.md"
    assert readme.read_text(encoding="utf-8") == sources_markdown(), (
        "run: python -m treebound.treebanks.describe > data/README.md"
    )


def test_manifest_of_the_mirror_is_in_step():
    manifest = Path(os.environ.get("TREEBANK_MIRROR", ""), "manifest.json")
    if not os.environ.get("TREEBANK_MIRROR") or not manifest.is_file():
        pytest.skip("needs a mirror of the treebanks: set TREEBANK_MIRROR")
    listed = json.loads(manifest.read_text())
    for name in OPEN:
        corpus = CORPORA[name]
        if isinstance(corpus.source, Url):
            entry = listed[corpus.source.mirror or name]
            assert {f: (e["url"], e["sha256"]) for f, e in entry["files"].items()} == {
                f: (corpus.source.base + f, checksum) for f, checksum in corpus.source.files.items()
            }
            assert corpus.licence == entry["licence"]


def test_a_user_entry():
    (corpus,) = load(ENTRY)
    assert corpus.name == "mine"
    assert set(corpus.files) == set(SPLITS)
    assert corpus.meta["punctuation"] == {"column": "upos", "tags": ["PUNCT"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title =", "titel ="), r"corpus mine: .*'titel'; keys of a corpus are name, title, language"),
        (('title = "Mine"', ""), r"corpus mine: .*'title'"),
        (('kind = "path"', 'kind = "ftp"'), r"corpus mine: 'ftp' is missing or unknown"),
        (('kind = "path", ', ""), r"corpus mine: 'kind' is missing or unknown"),
        (('holds = "the folder"', 'hold = "x"'), r"corpus mine: .*'hold'"),
        (('dev = ["dev.conllu"],', ""), r"corpus mine: wrong split or files: 'files'; give files for train, dev, test"),
        (
            ('language = "en"', 'language = "en"\nsplit = "random"'),
            r"corpus mine: wrong split or files: 'random'; give files, every-tenth",
        ),
        (
            ('language = "en"', 'language = "en"\ntag = "pos"'),
            r"corpus mine: tag: unknown value 'pos'; give xpos, upos",
        ),
        (
            ('language = "en"', 'language = "en"\nattributes = ["lemmas"]'),
            r"corpus mine: attributes: unknown value 'lemmas'; give prefix, suffix, length, feats, lemma",
        ),
        (
            ('language = "en"', 'language = "en"\npunctuation = { column = "pos", tags = [] }'),
            r"corpus mine: punctuation.column: unknown value 'pos'; give form, lemma, upos",
        ),
        (("[mine]", "[mine"), r"not TOML: "),
    ],
)
def test_wrong_entries(change, message):
    with pytest.raises(InputError, match=r"^own.toml:(\d+:)? " + message):
        load(ENTRY.replace(*change), "own.toml")
