"""Compressed files: recognised by their first bytes when they are read, by the end of their names when written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from treebound.support.atomic import replacing

#: exceptions that a damaged compressed file raises while it is read
READ_ERRORS = (lzma.LZMAError, zlib.error, EOFError, OSError)

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_FIRST = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
}
#: archives and compressed files that are not read, so that a message can name them
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a file of numpy",
    b"\x28\xb5\x2f\xfd": "a file compressed by zstd",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x1f\x9d": "a file compressed by compress",
}
_LONGEST = 10  #: bytes that tell one kind of file from another


class UnreadableError(ValueError):
    """Raised for a file that is compressed in another way than its name says, or in one that is not read.

    hint  what to do about it
    """

    def __init__(self, reason: str, hint: str):
        super().__init__(reason)
        self.hint = hint


def suffix_of(path: str | Path) -> str:
    """Return `.gz`, `.bz2` or `.xz` if the name ends so, in small or capital letters; else an empty string."""
    suffix = Path(path).suffix.lower()
    return suffix if suffix in _OPENERS else ""


def stem_of(path: str | Path) -> Path:
    """Return the path without the suffix of a compressed file: `a.conllu` of `a.conllu.gz`."""
    return Path(path).with_suffix("") if suffix_of(path) else Path(path)


def opened(path: str | Path) -> Any:
    """Open a file, compressed or not, as a binary stream of its content.

    Raises OSError where it cannot be opened, UnreadableError where its first bytes contradict its name.
    """
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it, as that of open
    try:
        head = file.read(_LONGEST)
        kind = _kind(head)
        if suffix_of(path) not in ("", kind):
            reason = f"it is named {Path(path).suffix} but is not compressed so, or is damaged"
            raise UnreadableError(reason, "give it the name that it should have")
        if not file.seekable():
            return _decompressed(kind, _rejoined(head, file))
        if not kind:
            file.seek(0)
            return file
    except BaseException:
        file.close()
        raise
    file.close()
    return _OPENERS[kind](path, "rb")


def decompressed(stream: BinaryIO) -> Any:
    """Return the content of a binary stream, which may be compressed; the stream itself stays open.

    Only the first bytes are waited for. Raises UnreadableError for a kind of compression that is not read.
    """
    if stream.seekable():
        start = stream.tell()
        kind = _kind(stream.read(_LONGEST))
        stream.seek(start)
        return _decompressed(kind, stream)
    head = b""
    while len(head) < _LONGEST and (more := stream.read(_LONGEST - len(head))):
        head += more
    return _decompressed(_kind(head), _rejoined(head, stream))


@contextmanager
def writing(path: str | Path, otherwise: str = "") -> Iterator[Any]:
    """Replace a file as `atomic.replacing` does, compressed if its name ends in .gz, .bz2 or .xz.

    otherwise  the suffix whose compression is used if the name has none of the three

    The same content gives the same bytes: no time and no name is stored. Raises InputError as `replacing` does.
    """
    suffix = suffix_of(path) or otherwise
    with replacing(path) as file:
        if not suffix:
            yield file
            return
        stream = _compressing(suffix, file)
        yield stream
        stream.close()  # not after an error: what is left of a pipe's content must not look whole


def _compressing(suffix: str, file: BinaryIO) -> Any:
    """Return a stream whose content is written to `file` in compressed form."""
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
    return _OPENERS[suffix](file, "wb")


def _kind(head: bytes) -> str:
    """Return the suffix that files with these first bytes have; an empty string for a file that is not compressed."""
    for start, name in _OTHERS.items():
        if head.startswith(start):
            raise UnreadableError(f"it is {name}, which is not read", "name a text file, or one compressed by gzip")
    return next((suffix for suffix, first in _FIRST.items() if first.match(head)), "")


def _decompressed(kind: str, stream: Any) -> Any:
    return _OPENERS[kind](stream, "rb") if kind else stream


def _rejoined(head: bytes, stream: Any) -> io.BufferedReader:
    return io.BufferedReader(_Rejoined(head, stream))


class _Rejoined(io.RawIOBase):
    """The first bytes of a stream that cannot be rewound, and the rest of it as it arrives."""

    def __init__(self, head: bytes, stream: Any):
        self._head, self._stream = head, stream
        self._more = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill some of the buffer, with whatever is there first; return the number of bytes, 0 at the end."""
        size = len(buffer)
        data, self._head = self._head[:size], self._head[size:]
        data = data or self._more(size) or b""
        buffer[: len(data)] = data
        return len(data)
