"""Read files as blocks of lines: open, decompress, handle byte order marks and encodings, split at empty lines.

Lines are bytes in UTF-8. Other encodings are decoded to text before the text is split into lines, because in UTF-16 or
UTF-32 a byte 10 may be part of another character than a line feed.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.support import compression
from treebound.treebanks.tabular import Malformed

BOM = codecs.BOM_UTF8
#: byte order marks and their encodings; UTF-32 precedes UTF-16, whose little-endian mark is a prefix of the longer mark
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
BLANK = ("\n", "\r\n")
_ACCENTS = re.compile(r"[^\x00-\x7f]{2}")
SOURCES = "give a path, an open file, bytes, or lines as bytes or str"


def open_lines(source: Any) -> tuple[str, Any]:
    """Return (name for messages, lines as bytes) of a path, an open file, bytes or an iterable of lines.

    Raises InputError if the source cannot be read.
    """
    if isinstance(source, str) and ("\n" in source or "\t" in source):
        raise InputError("a text where a path is expected", hint="give io.StringIO(text), or the name of a file")
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if os.path.isdir(path):
            raise InputError("is a folder", path=path, hint="name a treebank file")
        return path, _opened(path, compression.opened, path)
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = io.BytesIO(bytes(source))
    name = getattr(source, "name", "<input>")
    name = str(name) if isinstance(name, (str, int, os.PathLike)) else "<input>"
    if getattr(source, "closed", False) is True:
        raise InputError("the file is closed", path=name, hint="read it before you close it")
    if isinstance(source, (io.RawIOBase, io.BufferedIOBase)):
        return name, _opened(name, compression.decompressed, source)
    try:
        return name, _as_bytes(iter(source), name)
    except TypeError:
        raise InputError(f"a treebank cannot be read from {type(source).__name__}", hint=SOURCES) from None


def _opened(path: str, open_: Callable[[Any], Any], source: Any) -> Any:
    """Open a file that may be compressed; return its content as a binary file. Raises InputError."""
    try:
        return open_(source)
    except compression.UnreadableError as error:
        raise InputError(f"cannot be read: {error}", path=path, hint=error.hint) from None
    except (OSError, ValueError) as error:  # ValueError for a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", path=path, hint="check the name") from None


def damaged(path: str | Path, error: Exception) -> InputError:
    """Return the error for a file that cannot be read to its end or cannot be decompressed."""
    return InputError(f"cannot be read: {error}", path=path, hint="check whether the file is complete")


def _as_bytes(items: Iterator[Any], name: str) -> Iterator[bytes]:
    """Yield lines as bytes from items that may be str or bytes, may lack line ends, or may contain several lines."""
    pending: bytes | None = None  # a line without a line end, which is added if another line follows
    number = 1
    try:
        for item in items:
            if not isinstance(item, (str, bytes, bytearray)):
                raise InputError(f"a line is {type(item).__name__}", path=name, line=number, hint=SOURCES)
            if pending is not None:
                yield pending + b"\n"
                number += 1
            pending = None
            content = item.encode() if isinstance(item, str) else bytes(item)
            for line in io.BytesIO(content) if content else (b"",):
                if line.endswith(b"\n"):
                    yield line
                    number += 1
                else:
                    pending = line
    except UnicodeEncodeError:
        hint = "write text without surrogates"
        raise InputError("a lone surrogate, which UTF-8 does not have", path=name, line=number, hint=hint) from None
    except UnicodeDecodeError as error:
        reason = f"byte 0x{error.object[error.start]:02x} is not {error.encoding}, as which the file was opened"
        hint = "open the file in binary mode, and name its encoding when you read the treebank"
        raise InputError(reason, path=name, line=number, hint=hint) from None
    if pending:
        yield pending + b"\n" if pending.endswith(b"\r") else pending  # the lines of this text end with \r\n


def text_lines(lines: Iterable[bytes], encoding: str, path: str) -> tuple[bool, Iterator[bytes]]:
    """Return (whether the text begins with a byte order mark of UTF-8, the lines in UTF-8 without a mark).

    Raises InputError if Python does not know the encoding, or if the first line shows that the file has another
    encoding.
    """
    codec = _codec(encoding, path)
    remaining = iter(lines)
    first = next(remaining, b"")
    mark = next((mark for mark in MARKS if first.startswith(mark)), b"")
    detected = MARKS[mark] if mark else _wide(first)
    if detected and not detected.startswith(codec.removesuffix("-sig")):
        evidence = f"has the byte order mark of {detected.upper()}" if mark else f"looks like {detected.upper()}"
        reason = f"{evidence}, and is read as {encoding.upper() if len(encoding) < 20 else encoding}"
        raise InputError(reason, path=path, line=1, hint=_advice(detected[:6] if mark else detected))
    first = first.removeprefix(mark)
    lines = chain([first], remaining) if first else remaining
    if codec in ("utf-8", "utf-8-sig"):
        return bool(mark), lines
    return False, _recoded(lines, detected or codec, path)


def _codec(encoding: Any, path: str) -> str:
    """Return Python's standard name of a text encoding. Raises InputError for an unknown encoding."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise InputError(f"unknown encoding {encoding!r}", path=path, hint="try utf-8 or cp1252") from None


FEWEST_NULS = 2  #: least number of NULs in the first line of a file in UTF-16 or UTF-32


def _wide(line: bytes) -> str:
    """Return the name of the encoding of a line that seems to be UTF-16 or UTF-32 without a byte order mark, else "".

    The name includes the byte order, for instance `utf-16-le`.
    """
    # In these encodings every Latin letter contains a NUL; a Chinese text has NULs in its tabs. A single NUL may be an
    # error in a text of another encoding.
    if line.count(0) < FEWEST_NULS or 8 * line.count(0) < len(line):
        return ""
    for encoding in WIDE:
        text = line.decode(encoding, "ignore")
        if "\0" not in text and ("\t" in text or text[:1] in ("#", "(")):
            return encoding
    return ""


def _advice(encoding: str) -> str:
    """Return the advice for a file whose encoding is not the expected one."""
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    if encoding == "utf-8":
        return "leave out the encoding, or name utf-8"
    return f"give --encoding {encoding} (in Python: encoding={encoding!r}), or convert it: iconv -f {name} -t UTF-8"


def _recoded(chunks: Iterable[bytes], encoding: str, path: str) -> Iterator[bytes]:
    """Yield the lines of a text, recoded to UTF-8. An invalid byte stops the reading. Raises InputError.

    Reading cannot continue after an invalid byte, because the beginning of the next character is unknown.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    number, pending = 1, [""]  # pieces of a line that has not ended
    for chunk in chain(chunks, (None,)):
        try:
            pending.append(decoder.decode(chunk or b"", chunk is None))
            if "\n" not in pending[-1] and chunk is not None:
                continue
            *complete, unfinished = "".join(pending).split("\n")
            for line in [f"{line}\n" for line in complete] + [unfinished] * (chunk is None and unfinished != ""):
                yield (line.removeprefix("\ufeff") if number == 1 else line).encode()
                number += 1
            pending = [unfinished]
        except UnicodeDecodeError as error:
            number += error.object[: error.start].decode(encoding, "ignore").count("\n")
            fault = f"byte 0x{error.object[error.start]:02x} is not {encoding}: {error.reason}"
            hint = "check the encoding, and whether the file is whole"
            raise InputError(fault, path=path, line=number, hint=hint) from None
        except UnicodeError as error:  # a surrogate, or no mark that determines the byte order
            lacks = encoding in ("utf-16", "utf-32") and number == 1
            reason = f"has no byte order mark of {encoding}" if lacks else f"not {encoding}: {error}"
            hint = f"give {encoding}-le or {encoding}-be" if lacks else "check the encoding"
            raise InputError(reason, path=path, line=number, hint=hint) from None


def peek(lines: Iterable[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """Return the lines up to and including the first line that is not empty, and an iterator over all lines."""
    head, remaining = [], iter(lines)
    for line in remaining:
        head.append(line)
        if line.strip():
            break
    return head, chain(head, remaining)


def decode(lines: Iterable[bytes]) -> list[str]:
    """Decode lines from UTF-8. Raises Malformed for the first line that is not UTF-8."""
    lines = list(lines)
    try:
        return [line.decode() for line in lines]
    except UnicodeDecodeError:
        for offset, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise Malformed(offset, *_diagnosis(line, error)) from None
        raise


def text_of(lines: Iterable[bytes], path: str) -> list[str]:
    """Decode the lines of a whole file from UTF-8. Raises InputError for the first line that is not UTF-8."""
    try:
        return decode(lines)
    except Malformed as error:
        raise InputError(error.reason, path=path, line=error.offset + 1, hint=error.hint) from None


def _diagnosis(line: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    """Return (reason, advice) for a line that is not UTF-8."""
    position, byte = error.start, f"byte 0x{line[error.start]:02x} is not UTF-8"
    for mark, encoding in MARKS.items():
        if line.startswith(mark) and encoding != "utf-8":
            reason = f"a byte order mark of {encoding.upper()} inside a file of UTF-8"
            return reason, f"convert each file before you join them: iconv -f {encoding[:6].upper()} -t UTF-8"
    if b"\0" in line:
        return f"{byte}, and the line has NUL bytes", "the file is damaged or is not a text file"
    if line[position] == 0xED and line[position + 1 : position + 2] >= b"\xa0":
        return f"{byte}: a lone surrogate", "write the file again with a program that writes UTF-8"
    if error.reason == "unexpected end of data":
        return f"{byte}: the file ends inside a letter", "check whether the file is complete"
    if not line.decode("utf-8", "ignore").isascii():
        return (
            f"{byte}, though other letters of the line are",
            "correct the line: it is damaged, or mixes encodings",
        )
    cell = line[line.rfind(b"\t", 0, position) + 1 :].split(b"\t", 1)[0].decode("cp1252", "replace").strip()
    # in Western languages, letters with accents rarely follow one another; several in a row suggest another encoding
    if all(c.isalpha() or c in "‘’“”–—…«»€" for c in cell if not c.isascii()) and not _ACCENTS.search(cell):
        excerpt = cell if len(cell) <= 30 else cell[:30] + "..."
        return f"{byte}; as cp1252 (Windows, Latin-1) it reads {excerpt!r}", _advice("cp1252")
    return byte, "find out the encoding of the file and give it by --encoding (in Python: encoding=...)"


def blocks(lines: Iterable[bytes], start: int = 1) -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield (line number, number of leading empty lines, lines) of every block; `start` numbers the first line.

    A block ends with the empty line after a sentence. The last block may consist of empty lines only.
    """
    block: list[bytes] = []
    blank = 0
    for line in lines:
        block.append(line)
        if line == b"\n" or line == b"\r\n":
            if len(block) > blank + 1:
                yield start, blank, block
                start += len(block)
                block, blank = [], 0
            else:
                blank += 1
    if block:
        yield start, blank, block
