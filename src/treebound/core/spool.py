"""Arrays that grow at their end and leave memory when they are large: in a temporary file that has no name.

The file is mapped into memory, so that an array of it is like any other. The operating system drops the file when the
process ends, however it ends.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from typing import BinaryIO, cast

import numpy as np

from treebound.core.errors import TreeboundError

LARGEST = 1 << 18  #: bytes of an array that stays in memory
_maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # of all arrays in files


class Spool:
    """Numbers of one type that are appended, then read as one array."""

    def __init__(self, dtype: type[np.generic]):
        self.dtype = np.dtype(dtype)
        self._memory = bytearray()
        self._file: BinaryIO | None = None

    def extend(self, numbers: np.ndarray) -> None:
        """Append numbers. Raises TreeboundError where there is no space for the temporary file."""
        content = np.ascontiguousarray(numbers, self.dtype).tobytes()
        if self._file is None and len(self._memory) + len(content) <= LARGEST:
            self._memory += content
            return
        try:
            if self._file is None:
                self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed once it is mapped
                self._file.write(self._memory)
                self._memory = bytearray()
            self._file.write(content)
        except OSError as error:
            raise _no_space(error) from None

    def array(self) -> np.ndarray:
        """Return all numbers, read-only. Nothing can be appended any more."""
        if self._file is None:
            numbers = np.frombuffer(self._memory, self.dtype)
            numbers.flags.writeable = False
            return numbers
        try:
            self._file.flush()
            pages = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise _no_space(error) from None
        _maps.add(pages)
        self._file.close()
        return np.frombuffer(pages, self.dtype)


def release() -> None:
    """Take the pages of arrays in files out of this process's memory; what is read next comes back from the file."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for pages in _maps:
            pages.madvise(mmap.MADV_DONTNEED)


def _no_space(error: OSError) -> TreeboundError:
    reason = f"a temporary file in {tempfile.gettempdir()} cannot be written: {error.strerror or error}"
    return TreeboundError(reason, hint="set TMPDIR to a folder that has space")
