"""The columnar file: saved treebanks are loaded unchanged, and other files are refused with one line."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.treebanks import storage
from treebound.treebanks.document import read

TEXT = """1\tΟι\tο\tDET\tDT\t_\t2\tdet\t_\t_
2\tλέξεις\tλέξη\tNOUN\tNN\tNumber=Plur\t0\troot\t_\t_

1\t_\t\ud7a3\tX\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture
def treebank() -> Treebank:
    document = read(io.BytesIO(TEXT.encode()), annotated=False)
    return Treebank(**{**vars(document.treebank), "meta": {"tag": "xpos", "attributes": ["suffix"], "title": "λ"}})


def test_round_trip(treebank, tmp_path):
    storage.save(treebank, tmp_path / "a.npz")
    loaded = storage.load(tmp_path / "a.npz")
    assert loaded.name == treebank.name
    assert loaded.meta == treebank.meta
    assert loaded.vocab == treebank.vocab
    assert loaded.offsets.tolist() == treebank.offsets.tolist()
    assert loaded.head.tolist() == [2, 0, -1]
    for column in STRING_COLUMNS:
        assert loaded.strings(column) == treebank.strings(column)
        assert loaded.columns[column].dtype == np.int32
    storage.save(loaded, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_no_sentences(tmp_path):
    storage.save(read(io.BytesIO(b"")).treebank, tmp_path / "a.npz")
    assert len(storage.load(tmp_path / "a.npz")) == 0


def test_every_truncation_is_refused(treebank, tmp_path):
    path = tmp_path / "a.npz"
    storage.save(treebank, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"a.npz: is truncated or not a treebank; convert the corpus again"):
            storage.load(path)


def test_damage_is_noticed(treebank, tmp_path):
    path = tmp_path / "a.npz"
    storage.save(treebank, path)
    whole = path.read_bytes()
    position = whole.index("λέξεις".encode())
    path.write_bytes(whole[:position] + b"?" + whole[position + 1 :])
    with pytest.raises(InputError, match="truncated or not a treebank"):
        storage.load(path)


def test_foreign_files(tmp_path):
    cases = {"text.npz": b"hello", "empty.npz": b"", "pickle.npz": b"\x80\x04]\x94."}
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="truncated or not a treebank"):
            storage.load(tmp_path / name)
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(InputError, match="truncated or not a treebank"):
        storage.load(tmp_path / "array.npy")
    np.savez(tmp_path / "other.npz", weights=np.zeros(3))
    with pytest.raises(InputError, match="damaged or not a treebank"):
        storage.load(tmp_path / "other.npz")
    with pytest.raises(InputError, match=r"none.npz: cannot be read: No such file"):
        storage.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {"head": a["head"] + 5},
        lambda a: {"head": a["head"] - 5},
        lambda a: {"head": a["head"][:-1]},
        lambda a: {"head": a["head"].astype(np.int64)},
        lambda a: {"offsets": a["offsets"][::-1].copy()},
        lambda a: {"offsets": a["offsets"][:-1]},
        lambda a: {"offsets": np.array([0, 0, 2, 3])},
        lambda a: {"ids:form": a["ids:form"] + 1},
        lambda a: {"ids:form": a["ids:form"] - 1},
        lambda a: {"ids:form": a["ids:form"].astype(float)},
        lambda a: {"ends:form": a["ends:form"] + 1},
        lambda a: {"text:form": a["text:form"][::-1].copy()},
        lambda a: {"header": np.frombuffer(b"{}", np.uint8)},
        lambda a: {"header": np.frombuffer(b"[1", np.uint8)},
        lambda a: {"header": np.frombuffer(json.dumps({"format": "other", "version": 1}).encode(), np.uint8)},
    ],
)
def test_inconsistent_files(treebank, tmp_path, change):
    path = tmp_path / "a.npz"
    storage.save(treebank, path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, **change(arrays)})
    with pytest.raises(InputError, match="damaged or not a treebank; convert the corpus again"):
        storage.load(path)


def test_other_versions(treebank, tmp_path):
    path = tmp_path / "a.npz"
    storage.save(treebank, path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | {"version": 99}
    np.savez(path, **{**arrays, "header": np.frombuffer(json.dumps(header).encode(), np.uint8)})
    with pytest.raises(InputError, match="has version 99, this program reads 1"):
        storage.load(path)
