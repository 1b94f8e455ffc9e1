"""Large treebanks outside memory: files in place of arrays change no result, and no file remains."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic_treebank

from treebound.core import spool as of_spools
from treebound.core import treebank as of_treebanks
from treebound.core.errors import TreeboundError
from treebound.core.spool import Spool, release
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.features.lazy_tokens import LazyTokenTable
from treebound.features.tokens import TokenTable
from treebound.learning.checkpoint import key_of
from treebound.learning.gold import GoldHeads, GoldLabels, projective
from treebound.learning.survey import survey
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.system import Graph
from treebound.treebanks import trees as of_trees
from treebound.treebanks.document import read
from treebound.treebanks.trees import read_trees

META = {"tag": "xpos", "coarse": "upos", "attributes": ["suffix", "feats"], "single_root": True}


def text_of(treebank: Treebank) -> bytes:
    """Return a treebank as CoNLL-U."""
    lines = []
    for sentence in treebank:
        columns = [sentence.strings(name) for name in STRING_COLUMNS]
        for i, (form, lemma, upos, xpos, feats, deprel) in enumerate(zip(*columns, strict=True), 1):
            head = sentence.heads[i]
            lines.append("\t".join((str(i), form, lemma, upos, xpos, feats, str(head), deprel, "_", "_")))
        lines.append("")
    return "\n".join([*lines, ""]).encode()


TREEBANK = synthetic_treebank(60, seed=4)
TEXT = text_of(TREEBANK)


@pytest.fixture
def in_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Move all data that may leave memory into files at once, and return the folder of temporary files."""
    monkeypatch.setattr(of_spools, "LARGEST", 0)
    monkeypatch.setattr(of_treebanks, "CHUNK", 7)
    monkeypatch.setattr(of_trees, "PART", 9)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("largest", [0, 40, 1 << 20])
def test_numbers_come_back_in_their_order(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_spools, "LARGEST", largest)
    spool, parts = Spool(np.int32), [np.arange(3), np.empty(0, np.int32), np.arange(5, 15), np.arange(2)]
    for part in parts:
        spool.extend(part)
    numbers = spool.array()
    assert numbers.dtype == np.int32
    assert not numbers.flags.writeable
    np.testing.assert_array_equal(numbers, np.concatenate(parts))
    release()
    np.testing.assert_array_equal(numbers, np.concatenate(parts))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(numbers)), numbers)


@pytest.mark.parametrize("largest", [0, 40])
def test_no_numbers(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_spools, "LARGEST", largest)
    spool = Spool(np.int32)
    assert len(spool.array()) == 0
    spool = Spool(np.int32)
    spool.extend(np.empty(0, np.int32))
    assert len(spool.array()) == 0


def test_a_folder_without_space_is_named(in_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(TreeboundError, match=r"cannot be written: No space left on device; set TMPDIR"):
        Spool(np.int32).extend(np.arange(3))


def test_a_treebank_without_text_is_the_treebank_of_the_document(in_files: Path) -> None:
    whole, (treebank, several) = read(TEXT).treebank, read_trees(TEXT)
    assert several is None
    np.testing.assert_array_equal(treebank.offsets, whole.offsets)
    np.testing.assert_array_equal(treebank.head, whole.head)
    for name in STRING_COLUMNS:
        assert treebank.vocab[name] == whole.vocab[name]
        np.testing.assert_array_equal(treebank.columns[name], whole.columns[name])
    assert not list(in_files.iterdir()), "temporary files have no names"


def test_several_roots_are_found_in_later_parts(in_files: Path) -> None:
    words = b"# a comment\n" + b"".join(b"%d\tw\tw\tN\tN\t_\t0\troot\t_\t_\n" % i for i in (1, 2, 3)) + b"\n"
    _, several = read_trees(TEXT + words + TEXT + words + words)
    assert several is not None
    assert (several.sentence, several.roots, several.more) == (60, 3, 2)
    assert several.line == TEXT.count(b"\n") + 2


def test_an_empty_treebank_is_read_as_empty(in_files: Path) -> None:
    treebank, several = read_trees(b"")
    assert (len(treebank), treebank.words, several) == (0, 0, None)


def test_rows_and_gold_annotation_are_those_of_whole_tables() -> None:
    treebank = read_trees(TEXT)[0]
    treebank.meta.update(META)
    names = tuple(sorted(treebank.values("deprel")))
    lazy, table, labels = LazyTokenTable(treebank), TokenTable(treebank), GoldLabels(treebank, names)
    heads, lifted = projective(treebank)
    assert lifted == survey(treebank).crossing
    for i in (*range(len(treebank)), 3, 3):
        for ours, theirs in zip(lazy.sentence(i), table.sentence(i), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        assert [names[label] for label in labels[i]] == treebank[i].strings("deprel")
        assert len(heads[i]) == len(GoldHeads(treebank)[i]) == treebank[i].n + 1


def test_keys_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    key, values = key_of({"a": 1}, [TREEBANK]), {name: TREEBANK.values(name) for name in STRING_COLUMNS}
    monkeypatch.setattr(of_treebanks, "CHUNK", 7)
    assert key_of({"a": 1}, [TREEBANK]) == key
    assert {name: TREEBANK.values(name) for name in STRING_COLUMNS} == values
    assert {name: sorted(set(TREEBANK.strings(name))) for name in values} == {n: sorted(v) for n, v in values.items()}


def test_files_change_no_weight(in_files: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, contents = tmp_path_factory.mktemp("models"), []
    settings = Settings(families=("sibling",), epochs=2, bits=14, label_bits=14, pruner_bits=12, pruner_epochs=1)
    for treebank in (read(TEXT).treebank, read_trees(TEXT)[0]):
        treebank.meta.update(META)
        system = Graph()
        model = system.train(system.adapted_settings(settings, treebank), treebank, treebank)
        model.save(folder / "model.npz")
        contents.append((folder / "model.npz").read_bytes())
    assert contents[0] == contents[1]
    assert not list(in_files.iterdir())
