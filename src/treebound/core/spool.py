"""Arrays that grow at their end; a large array is moved from memory to an unnamed temporary file.

The file is mapped into memory, so the array can be used like any other. The operating system deletes the file when the
process ends, even after a crash.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from typing import BinaryIO, cast

import numpy as np

from treebound.core.errors import TreeboundError

LARGEST = 1 << 18  #: largest size in bytes of an array that stays in memory
_maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # the maps of all arrays in files


class Spool:
    """A growing array: numbers of one type are appended and then read as one array."""

    def __init__(self, dtype: type[np.generic]):
        self.dtype = np.dtype(dtype)
        self._memory = bytearray()
        self._file: BinaryIO | None = None

    def extend(self, numbers: np.ndarray) -> None:
        """Append numbers. Raises TreeboundError if the temporary file cannot be written."""
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
        """Return all numbers as a read-only array. No numbers can be appended afterwards."""
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
    """Release the memory that holds pages of arrays in files; a page is read from its file at the next use."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for pages in _maps:
            pages.madvise(mmap.MADV_DONTNEED)


def _no_space(error: OSError) -> TreeboundError:
    reason = f"a temporary file in {tempfile.gettempdir()} cannot be written: {error.strerror or error}"
    return TreeboundError(reason, hint="set TMPDIR to a folder that has space")
