"""Compressed files: recognised by their first bytes when read, and by the suffix of their name when written."""

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
#: first bytes of unsupported archives and compressed files, and their names for an error message
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a file of numpy",
    b"\x28\xb5\x2f\xfd": "a file compressed by zstd",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x1f\x9d": "a file compressed by compress",
}
_LONGEST = 10  #: number of bytes that distinguish the formats


class UnreadableError(ValueError):
    """Raised for a file whose compression contradicts its name or is not supported.

    hint  advice for the user
    """

    def __init__(self, reason: str, hint: str):
        super().__init__(reason)
        self.hint = hint


def suffix_of(path: str | Path) -> str:
    """Return `.gz`, `.bz2` or `.xz` if the name ends with it, in lower or upper case; else an empty string."""
    suffix = Path(path).suffix.lower()
    return suffix if suffix in _OPENERS else ""


def stem_of(path: str | Path) -> Path:
    """Return the path without the suffix of a compressed file, for instance `a.conllu` for `a.conllu.gz`."""
    return Path(path).with_suffix("") if suffix_of(path) else Path(path)


def opened(path: str | Path) -> Any:
    """Open a file, compressed or not, as a binary stream of its decompressed content.

    Raises OSError if the file cannot be opened, and UnreadableError if its first bytes contradict its name.
    """
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    try:
        head = file.read(_LONGEST)
        kind = _kind(head)
        if suffix_of(path) not in ("", kind):
            reason = f"the name ends in {Path(path).suffix}, but the content is not in this format or is damaged"
            raise UnreadableError(reason, "rename it to match its content")
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
    """Return a stream of the decompressed content of a binary stream, which may be compressed or not.

    The given stream stays open. Only its first bytes are read at once. Raises UnreadableError for an unsupported
    compression.
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
    """Yield a stream whose content replaces a file, compressed if the file's name ends in .gz, .bz2 or .xz.

    otherwise  suffix of the compression to use if the name has none of the three

    The same content gives the same bytes, because neither time nor name is stored. `atomic.replacing` replaces the
    file, and raises InputError if it cannot.
    """
    suffix = suffix_of(path) or otherwise
    with replacing(path) as file:
        if not suffix:
            yield file
            return
        stream = _compressing(suffix, file)
        yield stream
        stream.close()  # not after an error, because truncated content must not look complete


def _compressing(suffix: str, file: BinaryIO) -> Any:
    """Return a stream whose content is written to `file` in compressed form."""
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
    return _OPENERS[suffix](file, "wb")


def _kind(head: bytes) -> str:
    """Return the suffix of the compression of a file that begins with these bytes.

    The suffix is empty for an uncompressed file. Raises UnreadableError for an unsupported format.
    """
    for start, name in _OTHERS.items():
        if head.startswith(start):
            raise UnreadableError(
                f"it is {name}, which is not supported", "give a text file, or a file compressed by gzip"
            )
    return next((suffix for suffix, first in _FIRST.items() if first.match(head)), "")


def _decompressed(kind: str, stream: Any) -> Any:
    """Return a stream of decompressed content; `kind` is the suffix of the compression, or empty."""
    return _OPENERS[kind](stream, "rb") if kind else stream


def _rejoined(head: bytes, stream: Any) -> io.BufferedReader:
    """Return a buffered stream of the bytes `head`, which were read already, followed by the rest of `stream`."""
    return io.BufferedReader(_Rejoined(head, stream))


class _Rejoined(io.RawIOBase):
    """A raw stream of bytes that were read already, followed by the remaining content of an unseekable stream."""

    def __init__(self, head: bytes, stream: Any):
        self._head, self._stream = head, stream
        self._more = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read available bytes into the buffer without waiting for more. Return their number, which is 0 at the end."""
        size = len(buffer)
        data, self._head = self._head[:size], self._head[size:]
        data = data or self._more(size) or b""
        buffer[: len(data)] = data
        return len(data)
