"""Control-C for programs with machine code: KeyboardInterrupt is raised only where Python code can receive it."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

#: modules whose functions are called by machine code, which loses exceptions
CALLED_BACK = ("llvmlite.", "numba.core.serialize", "namedtuple_")


def handle() -> None:
    """Handle Control-C by `interrupt` instead of Python's own handler, unless the caller ignores or handles it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def interrupt(signum: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt on Control-C, but never inside a function that machine code has called.

    Machine code would lose the exception and go on with a missing result. There, the exception is raised on the next
    line of the Python function that called the machine code.
    """
    caller = None
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(CALLED_BACK):
            caller = frame.f_back
        frame = frame.f_back
    if caller is None:
        raise KeyboardInterrupt
    caller.f_trace = _next_line
    sys.settrace(_next_line)


def _next_line(frame: FrameType, event: str, argument: Any) -> None:
    if event != "call":  # calls of other functions are not interrupted
        sys.settrace(None)
        raise KeyboardInterrupt
