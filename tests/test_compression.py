"""Test compressed files: reading recognises them by content, writing by name; damaged files are one-line errors."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import threading
from pathlib import Path

import pytest
from test_cli import SENTENCES, TREEBOUND, assert_one_line, conllu, run

from treebound.core.errors import InputError
from treebound.support import compression
from treebound.treebanks.document import read, stream

TEXT = conllu(SENTENCES).encode()
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
DECOMPRESS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


@pytest.mark.parametrize("suffix", [s for name in COMPRESS for s in (name, name.upper(), name.capitalize())])
def test_files_are_compressed_by_their_name_and_read_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a b.conllu{suffix}"
    read(io.BytesIO(TEXT)).write(path)
    written = path.read_bytes()
    assert DECOMPRESS[suffix.lower()](written) == TEXT
    assert read(path).treebank.words == read(io.BytesIO(TEXT)).treebank.words
    os.utime(path, (1, 1))
    other_path = tmp_path / f"other{suffix}"
    read(io.BytesIO(TEXT)).write(other_path)
    assert other_path.read_bytes() == written, "the content must not depend on time or name"


@pytest.mark.parametrize("kind", ["", *COMPRESS])
def test_pipes_and_streams_are_recognised_by_their_first_bytes(kind: str, tmp_path: Path) -> None:
    data = COMPRESS[kind](TEXT) if kind else TEXT
    assert b"".join(compression.decompressed(io.BytesIO(data))) == TEXT
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,)).start()
    assert b"".join(compression.opened(tmp_path / "pipe")) == TEXT
    (tmp_path / "no-suffix").write_bytes(data)
    assert b"".join(compression.opened(tmp_path / "no-suffix")) == TEXT
    (tmp_path / "twice").write_bytes(data + data)
    assert b"".join(compression.opened(tmp_path / "twice")) == TEXT + TEXT
    result = subprocess.run([TREEBOUND, "evaluate", "-", tmp_path / "no-suffix"], input=data, capture_output=True)
    assert result.stdout.startswith(b"sentences\t")


def test_a_pipe_is_read_incrementally() -> None:
    """Check that a sentence can be read before the end of the pipe."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", 0) as out, os.fdopen(reading, "rb") as pipe:
        out.write(TEXT)
        assert len(next(stream(pipe, 1, annotated=False))) == 1


@pytest.mark.parametrize("suffix", COMPRESS)
def test_damage_is_one_line(suffix: str, tmp_path: Path) -> None:
    whole = COMPRESS[suffix](TEXT * 10)
    for name, content in {
        "cut": whole[:-9],
        "short": whole[:12],
        "empty": b"",
        "plain": TEXT,
        "changed": whole[:40] + b"xxxx" + whole[44:],
    }.items():
        path = tmp_path / f"{name}.conllu{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"{name}.conllu{suffix}") as caught:
            read(path, annotated=False)
        assert "\n" not in str(caught.value)
        with pytest.raises(InputError):
            list(stream(io.BytesIO(content) if name not in ("empty", "plain") else path, 1))


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"\x1f\x9d"])
def test_other_archives_are_named(start: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_bytes(start + bytes(20))
    with pytest.raises(InputError, match="which is not supported; give a text file"):
        read(tmp_path / "a.conllu")
    with pytest.raises(InputError, match="which is not supported; give a text file"):
        read(io.BytesIO(start + bytes(20)))


def test_an_error_leaves_no_complete_stream_in_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gz")
    content: list[bytes] = []
    reader = threading.Thread(target=lambda: content.append((tmp_path / "pipe.gz").read_bytes()))
    reader.start()

    def fail() -> None:
        with compression.writing(tmp_path / "pipe.gz") as file:
            file.write(TEXT)
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    reader.join(60)
    with pytest.raises(EOFError):
        gzip.decompress(content[0] or b"\x1f\x8b")


def test_binary_outputs_are_refused_on_standard_output_and_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_bytes(TEXT)
    for arguments in (
        ["train", "t.conllu", "t.conllu", "-o", "-"],
        ["train", "t.conllu", "t.conllu", "-o", "m.GZ"],
        ["train-many", "t.conllu", "-o", "-"],
        ["parse", "t.conllu", "t.conllu", "--certificates", "-"],
    ):
        result = subprocess.run([TREEBOUND, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert_one_line(result, "standard output" if "-" in arguments else "cannot be compressed as .GZ")
    result = subprocess.run(
        [TREEBOUND, "parse", "m", "t.conllu", "--derivations", "-"], cwd=tmp_path, capture_output=True
    )
    assert b"two outputs go to standard output" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.conllu"]


def test_evaluate_and_check_name_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TEXT)[:-9])
    assert_one_line(run("evaluate", tmp_path / "cut.gz", tmp_path / "cut.gz"), "check whether the file is complete")
