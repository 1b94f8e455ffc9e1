"""Measure the peak resident memory of this process between two points of a stage.

Child processes do not count, because no parser of the pipeline starts one.
"""

from __future__ import annotations

import ctypes
import gc
import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

MB = 1e6  #: bytes of a megabyte
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")  #: files of Linux about this process


def reset() -> None:
    """Release memory that is no longer used, and let the next peak begin at the memory that is used now.

    Where the system has no file CLEAR, or forbids writing to it, the peak cannot be reset; `peak_mb` then returns the
    peak since the start of the process.
    """
    gc.collect()
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)  # the C library of Linux otherwise keeps freed memory, which counts as resident
    with suppress(OSError):
        CLEAR.write_text("5", encoding="ascii")  # 5 stands for the peak (manual page proc_pid_clear_refs)


def peak_mb() -> float:
    """Return the peak resident memory of this process in MB (10^6 bytes), since the last `reset` if that is possible.

    Resident memory includes Python, libraries, and parts of files that are mapped into memory.
    """
    with suppress(OSError):
        if match := re.search(r"^VmHWM:\s+(\d+) kB$", STATUS.read_text(encoding="ascii", errors="replace"), re.M):
            return int(match[1]) * 1024 / MB  # "kB" stands for 1024 bytes
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB on other systems
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB
