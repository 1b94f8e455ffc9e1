"""From a file to blocks of lines: opening, compression, byte order marks, encodings, empty lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.support import compression
from treebound.treebanks.tabular import Malformed

BOM = b"\xef\xbb\xbf"
BLANK = ("\n", "\r\n")


def open_lines(source: Any) -> tuple[str, Any]:
    """(name for messages, lines as bytes) of a path or of anything that yields lines. Raises InputError."""
    named = isinstance(source, (str, Path))
    path = source if named else str(getattr(source, "name", "<input>"))
    try:
        if not named:
            binary = isinstance(source, (io.RawIOBase, io.BufferedIOBase))
            return path, compression.decompressed(source) if binary else source
        if Path(path).is_dir():
            raise InputError("is a folder", path=path, hint="name a treebank file")
        return str(path), compression.opened(path)
    except compression.UnreadableError as error:
        raise InputError(f"cannot be read: {error}", path=path, hint=error.hint) from None
    except (OSError, ValueError) as error:  # the latter of a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", path=path, hint="check the name") from None


def damaged(path: str | Path, error: Exception) -> InputError:
    """Return the error for a file whose content cannot be read to its end, or cannot be decompressed."""
    return InputError(f"cannot be read: {error}", path=path, hint="is the file whole?")


def peek(lines: Iterable[bytes]) -> tuple[bytes, bool, Iterator[bytes]]:
    """The first line that is not empty; whether a byte order mark was there; all lines, without the mark."""
    head, rest = [], iter(lines)
    for line in rest:
        head.append(line)
        if line.strip():
            break
    bom = bool(head) and head[0].startswith(BOM)
    if bom:
        head[0] = head[0].removeprefix(BOM)
    return (head[-1] if head else b""), bom, chain(head, rest)


def known_encoding(encoding: str, path: str) -> str:
    """The encoding, if Python knows it. Raises InputError."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"unknown encoding {encoding!r}", path=path, hint="try utf-8 or cp1252") from None
    return encoding


def decode(lines: Iterable[bytes], encoding: str) -> list[str]:
    """Lines as text. Raises Malformed for the first that is not."""
    lines = list(lines)
    try:
        return [line.decode(encoding) for line in lines]
    except UnicodeDecodeError:
        for offset, line in enumerate(lines):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                reason = f"byte 0x{line[error.start]:02x} is not {encoding}"
                raise Malformed(offset, reason, "name the file's encoding, for instance cp1252") from None
        raise


def blocks(lines: Iterable[bytes]) -> Iterator[tuple[int, int, list[bytes]]]:
    """(line number from 1, number of empty lines at the beginning, lines) of every block.

    A block ends with the empty line after a sentence; the last one may consist of empty lines only.
    """
    block: list[bytes] = []
    blank, start = 0, 1
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
