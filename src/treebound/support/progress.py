"""How far a long command is: a bar where standard error is a terminal, a line now and then where it is not.

    for item in over(items, "epoch 1/6"): ...
    with counting("sentences") as advance: advance(100)

What cannot be said, because standard error is closed or full, is left out; the command goes on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

EVERY = 30.0  #: seconds between two lines, also those of different loops

_said: float | None = None  # when the last line was written; None before the first loop


def say(message: str) -> None:
    """A line on standard error. One that is closed or cannot be written is replaced by nothing, for good."""
    try:
        if sys.stderr is not None:
            print(message, file=sys.stderr, flush=True)
            return
    except (OSError, ValueError):
        pass
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  it lives as long as the process


def over(items: Iterable, what: str) -> Iterator:
    """The items, whose number is known where they have a length."""
    with counting("", getattr(items, "__len__", lambda: None)(), what) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def counting(unit: str, total: int | None = None, what: str = "") -> Iterator[Callable[[int], object]]:
    """A function to call with the number of things that were just done.

    unit   what things are, in the plural
    total  how many there are, where that is known: it makes the share and the estimate
    what   the name of the loop
    """
    if sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(
            desc=what or None, total=total, unit=f" {unit}" if unit else "it", file=sys.stderr, leave=False
        ) as bar:
            yield bar.update
        return
    global _said
    began = time.monotonic()
    _said = began if _said is None else _said
    done = 0

    def advance(number: int) -> None:
        global _said
        nonlocal done
        done += number
        now = time.monotonic()
        if now - (_said or 0.0) >= EVERY:
            _said = now
            say(line(what, unit, done, total, now - began))

    yield advance


def line(what: str, unit: str, done: int, total: int | None, seconds: float) -> str:
    """What is said of a loop after some seconds."""
    counted = f"{done:,}" + (f" of {total:,}" if total else "") + (f" {unit}" if unit else "")
    if total and done:
        left = seconds * max(0, total - done) / done
        counted += f", {min(100, 100 * done // total)} %, about {span(left)} left"
    elif seconds:
        counted += f", {done / seconds:,.1f} a second"
    return f"{what}: {counted}" if what else counted


def span(seconds: float) -> str:
    """Seconds as a reader takes them in: `40 s`, `12 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
