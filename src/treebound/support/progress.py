"""Progress reports of long commands: a progress bar on a terminal, and otherwise a line every 30 seconds.

    for item in over(items, "epoch 1/6"): ...
    with counting("sentences") as advance: advance(100)

If standard error is closed or full, reports are dropped and the command goes on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

EVERY = 30.0  #: seconds between two lines, also across loops

_said: float | None = None  # time of the last line; None before the first loop


def say(message: str) -> None:
    """Print a line on standard error. If this fails, discard all further output to standard error."""
    try:
        if sys.stderr is not None:
            print(message, file=sys.stderr, flush=True)
            return
    except (OSError, ValueError):
        pass
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  stays open until the process ends


def over(items: Iterable, what: str) -> Iterator:
    """Yield the items and report progress; `what` names the loop. The total is known if the items have a length."""
    with counting("", getattr(items, "__len__", lambda: None)(), what) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def counting(unit: str, total: int | None = None, what: str = "") -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of things that were completed since the last call.

    unit   name of the things, in the plural
    total  number of things, if known; the report then shows the percentage and the remaining time
    what   name of the loop
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
    """Return a report on a loop after a number of seconds.

    It states the name of the loop, the number of things done, and from 1 % on the remaining time, or the speed if
    the total is unknown.
    """
    counted = f"{done:,}" + (f" of {total:,}" if total else "") + (f" {unit}" if unit else "")
    if total and done:
        percent = min(100, 100 * done // total)
        counted += f", {percent} %"
        if percent:  # the first thing may have waited for the compiler, which says nothing about the others
            counted += f", about {span(seconds * max(0, total - done) / done)} left"
    elif seconds:
        counted += f", {done / seconds:,.1f} a second"
    return f"{what}: {counted}" if what else counted


def span(seconds: float) -> str:
    """Return a duration as readable text, such as `40 s`, `12 min` or `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
