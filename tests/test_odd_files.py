"""Unusual files are either read or refused with one line that describes the fault correctly."""

from __future__ import annotations

import gzip
import io
import os
import random
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from odd_files import CHINESE, ENCODINGS, PLUS, SENTENCES, odd_files
from test_files_inputs import command, models

from treebound.core.errors import InputError
from treebound.treebanks.document import Document, concatenate, read, stream

__all__ = ["models"]  # a fixture

#: letters whose bytes in UTF-16 include line feeds, carriage returns and tabs
WIDE = "1\t\u0a05\u0d0a\u0a0d\u0909\t\u0a0a\tX\tX\t_\t0\troot\t_\t_\n\n2"[:-1]


def written(document: Document, **changes: Any) -> bytes:
    out = io.BytesIO()
    document.write(out, **changes)
    return out.getvalue()


def refused(content: Any, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(io.BytesIO(content) if isinstance(content, bytes) else content, **how)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return str(caught.value)


def check_readings(seed: int, count: int, folder: Path) -> None:
    """Read odd files from four kinds of source, in a random encoding.

    Each file must give a document that can be written and read back, or a one-line error.
    """
    rng, counts = random.Random(seed), Counter[str]()
    for suffix, content in odd_files(seed, count):
        path = folder / f"odd{suffix}"
        path.write_bytes(content)
        encoding = rng.choice((None, None, None, *ENCODINGS))
        annotated = rng.random() < 0.5
        lines, text = content.splitlines(keepends=True), content.decode("latin-1").split("\n")
        for source in (path, io.BytesIO(content), lines, text):
            document, error = None, None
            try:
                document = read(source, encoding=encoding, annotated=annotated)
            except InputError as caught:
                error = caught
            if error is not None:
                counts["refused"] += 1
                assert "\n" not in str(error)
                assert len(error.reason) < 300
                assert error.hint
            if document is not None:
                counts["read"] += 1
                format = {"CoNLL-X": "conllx", "CoNLL 2008": "conll08"}.get(document.layout.name, "conllu")
                reread = read(io.BytesIO(written(document)), format, annotated=annotated and document.tabular)
                assert reread.treebank.strings("form") == document.treebank.strings("form")
                read(io.BytesIO(written(document.to_conllu())), "conllu", annotated=False)
    assert counts["read"] > count // 10
    assert counts["refused"] > count


def test_odd_files_are_read_or_refused(tmp_path: Path) -> None:
    check_readings(1, 400, tmp_path)


WORDS = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t"


def test_the_last_line_is_a_line_without_its_end_too() -> None:
    """The last line of a file counts as a line even if it has no line feed."""
    assert ":2: column 10 is empty" in refused(WORDS.encode())
    assert ":2: carriage return" in refused(f"{WORDS}_\r".encode())
    assert len(read(io.BytesIO(f"{WORDS}_".encode()))) == 1
    old = read(f"{WORDS}_\n".replace("\n", "\r").splitlines(keepends=True))  # old Macintosh line ends
    assert written(old).decode() == f"{WORDS}_\n".replace("\n", "\r\n")
    assert len(refused(f"( (S ({'x' * 5000})))".encode())) < 300


@pytest.mark.long
def test_many_odd_files_are_read_or_refused(tmp_path: Path) -> None:
    check_readings(2, 20_000, tmp_path)


def test_commands_take_odd_files(
    models: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser, tagger = models
    out, rng = tmp_path / "out", random.Random(3)
    for suffix, content in odd_files(3, 80):
        bad = tmp_path / f"odd{suffix}"
        bad.write_bytes(content)
        how = ["--encoding", rng.choice(ENCODINGS)] if rng.random() < 0.3 else []
        for arguments in (
            ("parse", parser, bad, "-o", out),
            ("tag", tagger, bad, "-o", out),
            ("evaluate", bad, bad),
            ("check", parser, bad, "--sample", 1),
            ("jackknife", bad, "-o", out, "--epochs", 1, "--bits", 12),
            ("train", bad, bad, "-o", out, "--epochs", 1, "--bits", 12, "--labels", "none"),
        ):
            out.unlink(missing_ok=True)
            code, printed, errors = command(capsys, *arguments, *how)
            assert code in (0, 1), (arguments, content[:200], errors)
            if code and not printed:
                assert errors[-1].startswith("treebound: error: "), errors
                assert errors[-1].isprintable()
                assert not out.exists()


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.conllu").touch()
    assert len(read(tmp_path / "empty.conllu")) == 0
    pipe = tmp_path / "pipe.conllu"
    os.mkfifo(pipe)

    def feed() -> None:
        with suppress(BrokenPipeError):
            pipe.write_bytes(SENTENCES.encode("utf-16"))

    threading.Thread(target=feed, daemon=True).start()
    assert len(read(pipe, encoding="utf-16")) == 2
    assert "is a folder" in refused(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in refused(tmp_path / "loop")


@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-16-be", "utf-32-le", "gbk", "euc-jp", "UTF8", "U16"])
@pytest.mark.parametrize("text", [SENTENCES, PLUS, CHINESE, WIDE, SENTENCES.replace("\n", "\r\n"), ""])
def test_every_encoding_is_read(encoding: str, text: str) -> None:
    """Every encoding gives the same document as UTF-8, even if letters contain bytes of line ends or tabs.

    A text is only tested in encodings that have all its letters.
    """
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError:
        return
    right = read(io.BytesIO(text.encode()))
    for source in (io.BytesIO(content), content, content.split(b"\n")):
        document = read(source, encoding=encoding)
        assert [document.treebank.strings(c) for c in ("form", "deprel")] == [
            right.treebank.strings(c) for c in ("form", "deprel")
        ]
        assert written(document).removeprefix(b"\xef\xbb\xbf") == text.encode()


def test_what_an_encoding_seems_to_be() -> None:
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        mark = "\ufeff".encode(encoding)
        message = refused(mark + SENTENCES.encode(encoding))
        assert f"<input>:1: has the byte order mark of {encoding.upper()}" in message
        assert f"--encoding {encoding[:6]} " in message
        assert f"looks like {encoding.upper()}, and is read as UTF-8; give --encoding {encoding} " in refused(
            SENTENCES.encode(encoding)
        )
        read(mark + SENTENCES.encode(encoding), encoding=encoding[:6])
        message = refused(SENTENCES.encode(), encoding=encoding)
        assert f"is not {encoding}" in message or "column" in message
    assert "has the byte order mark of UTF-8, and is read as CP1252; leave out" in refused(
        SENTENCES.encode("utf-8-sig"), encoding="cp1252"
    )
    assert ":9: byte 0xe9 is not UTF-8; as cp1252 (Windows, Latin-1) it reads 'été'; give --encoding cp1252" in refused(
        SENTENCES.replace("ß", "ss").encode("cp1252")
    )
    assert ":2: byte 0xff is not UTF-8, though other letters of the line are; correct the line" in refused(
        SENTENCES.encode().replace("ß".encode(), "ß\xff".encode("latin-1").replace(b"\xdf", "ß".encode()), 1)
    )
    assert "a lone surrogate" in refused(SENTENCES.encode().replace("ß".encode(), b"\xed\xa0\x80", 1))
    assert "the file ends inside a letter" in refused(SENTENCES.encode()[: SENTENCES.encode().index("é".encode()) + 1])
    for name in ("klingon", "rot13", "hex", "a\0b", "", 3):
        assert "unknown encoding" in refused(SENTENCES.encode(), encoding=name)


def test_files_that_were_joined() -> None:
    first, second = SENTENCES.encode(), b"\xef\xbb\xbf" + CHINESE.encode()
    assert ":12: a byte order mark (U+FEFF) inside the file" in refused(first + second)
    assert ":12: a byte order mark (U+FEFF) inside the file" in refused(first + b"\xef\xbb\xbf" + first)
    assert ":11: an empty line is missing before id 1, where 3 was expected" in refused(first[:-1] + CHINESE.encode())
    assert ":11: an empty line is missing before this comment; add one" in refused(first[:-1] + first)
    assert ":3: an empty line is missing before id 1-2" in refused(CHINESE.encode()[:-1] + first.split(b"\n", 2)[2])
    assert ":3: an empty line is missing before this comment" in refused(CHINESE.encode()[:-1] + b"# the end\n")
    assert ":2: comment inside a sentence; move it" in refused(CHINESE.replace("\n", "\n# a comment\n", 1).encode())
    assert ":12: `# global.columns` names other columns" in refused(first + PLUS.encode())
    assert ":12: a byte order mark of UTF-16-LE inside a file of UTF-8" in refused(first + CHINESE.encode("utf-16"))
    assert len(read(PLUS.encode() + PLUS.encode())) == 2
    assert len(concatenate([read(PLUS.encode()), read(PLUS.encode())])) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line + "\t", "11 columns where CoNLL-U has 10: a tab ends the line; delete the tab"),
        (lambda line: line.rsplit("\t", 2)[0], "8 columns where CoNLL-U has 10; add the missing columns"),
        (lambda line: "\t".join(line.split("\t")[1:5]), "4 columns where CoNLL-U has 10; add the missing columns"),
        (lambda line: line.replace("\t", "    "), "1 column where CoNLL-U has 10: they are separated by blanks"),
        (lambda line: line + "\tx\ty", "12 columns where CoNLL-U has 10; delete the additional columns"),
        (
            lambda line: "\t".join([*line.split("\t")[:1], *"aaabb__", *["0"] * 2, "root", "root", "_", "_"]),
            "14 columns where CoNLL-U has 10: it looks like CoNLL 2009",
        ),
        (
            lambda line: "\t".join([line.split("\t")[0], *"aabbbbb", "0", "root", "_"]),
            "11 columns where CoNLL-U has 10: it looks like CoNLL 2008; name the file .conll08",
        ),
        (lambda line: " ".join(line.split("\t")[1:2]), "1 column where CoNLL-U has 10; write one word per line"),
    ],
)
def test_columns_are_named_as_they_are(change: Any, message: str) -> None:
    lines = CHINESE.splitlines()
    assert message in refused("\n".join(map(change, lines[:2])).encode())


def test_conllu_plus_is_read_by_its_header(tmp_path: Path) -> None:
    document = read(PLUS.encode())
    assert document.treebank.strings("form") == ["fuß", "läuft"]
    assert document.treebank.strings("deprel") == ["nsubj", "root"]
    assert document.treebank.strings("xpos") == ["_", "_"]
    assert written(document) == PLUS.encode()
    assert document.line(0) == 2
    assert (
        written(document, heads=[[-1, 0, 1]])
        == PLUS.replace("\t2\tnsubj", "\t0\tnsubj").replace("\t0\troot", "\t1\troot").encode()
    )
    odd = b"# global.columns = A HEAD MISC ID FORM\n# a\nx\t2\tk=v\t1\tb\r\ny\t0\t_\t2\tc\r\n\r\n"
    assert read(odd).treebank.strings("form") == ["b", "c"]
    assert written(read(odd)) == odd
    assert written(read(odd), misc=[[{"M": "1"}, {}]], columns={"form": [["B", "C"]]}) == odd.replace(
        b"k=v\t1\tb", b"k=v|M=1\t1\tB"
    ).replace(b"\tc\r", b"\tC\r")
    header, words = PLUS.encode().split(b"\n", 1)
    assert written(read(PLUS.encode() + words).select([1])) == PLUS.encode()
    assert b"".join(map(written, stream(PLUS.encode() + words, 1))) == header + b"\n" + words * 2
    (tmp_path / "a.conll").write_text(PLUS)
    assert read(tmp_path / "a.conll").layout.name == "CoNLL-U Plus"
    for header, message in (
        ("ID UPOS", "FORM is missing"),
        ("FORM", "ID is missing"),
        ("", "ID is missing"),
        ("ID FORM ID", "ID is named twice"),
    ):
        assert f":1: `# global.columns`: {message}" in refused(f"# global.columns = {header}\n1\ta\n\n".encode())
    bare = b"# global.columns = ID FORM\n1\ta\n\n"
    assert ":1: has no HEAD column; add HEAD to `# global.columns`" in refused(bare)
    assert read(bare, annotated=False).treebank.head.tolist() == [-1]
    assert "has no HEAD and no DEPREL column" in refused(bare, annotated=False, needed=("head", "deprel"))


def test_sources() -> None:
    """Every source of lines is read. Other objects are refused by a line that names the accepted sources."""
    text = SENTENCES + CHINESE
    data = text.encode()
    for source in (
        *(io.StringIO(text), io.BytesIO(data), data, bytearray(data), memoryview(data)),
        *(text.split("\n"), text.splitlines(), text.splitlines(True), data.split(b"\n"), data.splitlines()),
        *(iter(text.splitlines()), (line for line in data.splitlines(True)), tuple(data.splitlines(True))),
        *(gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data))), io.TextIOWrapper(io.BytesIO(data), "utf-8")),
        text.split("\n\n") and [part + "\n\n" for part in text.split("\n\n")[:-1]],
    ):
        document = read(source, encoding="utf-8")
        assert len(document) == 3, source
        assert document.treebank.strings("form")[-1] == "睡觉"
    closed = io.BytesIO(data)
    closed.close()
    for source, message in (
        (None, "cannot be read from NoneType; give a path, an open file, bytes, or lines"),
        (3, "cannot be read from int"),
        (2.5, "cannot be read from float"),
        (object(), "cannot be read from object"),
        (io.StringIO, "cannot be read from type"),
        (read, "cannot be read from function"),
        (text, "a text where a path is expected; give io.StringIO(text)"),
        (closed, "the file is closed"),
        ([1, 2], "a line is int"),
        ([None], "a line is NoneType"),
        ([["1", "a"]], "a line is list"),
        (["\ud800"], "a lone surrogate"),
        (io.TextIOWrapper(io.BytesIO("é\n".encode("latin-1")), "utf-8"), "byte 0xe9 is not utf-8"),
    ):
        assert message in refused(source)
