"""A time limit for a block of code."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer than `seconds`.

    A block may wait forever, for instance if it reads a pipe without a writer.
    """

    def late(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
