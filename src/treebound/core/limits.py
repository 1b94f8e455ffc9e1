"""The memory that one sentence may take: a stated limit, compared with an estimate before any of it is taken.

The limit is a number of the project and not the free memory of a machine, so that a sentence is refused everywhere or
nowhere. Estimates are made from numbers of words, arcs and parts, in integers of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from treebound.core.errors import InputError

GIB = 2**30
#: GiB of the tables of one sentence, unless an option says otherwise: two workers then fit a laptop of 8 GiB
MEMORY = 2.0
#: bytes of a part, its place and its score in a statement and in a search, with what sorting them takes
PART = 64
#: arcs, parts, items and edges are numbered in int32
LARGEST_INDEX = 2**31 - 1

_limit: ContextVar[float] = ContextVar("treebound_memory", default=MEMORY)


class TooLargeError(InputError):
    """A sentence would take more memory than the limit, or has more parts than can be numbered."""


@contextmanager
def memory_limit(gib: float) -> Iterator[None]:
    """Set the limit in GiB for what runs inside."""
    token = _limit.set(float(gib))
    try:
        yield
    finally:
        _limit.reset(token)


def within_limit(size: int) -> bool:
    """Whether tables of `size` bytes may be made."""
    return size <= _limit.get() * GIB


def longest(size: int) -> int:
    """Words of the longest sentence whose tables are within the limit if every pair of words takes `size` bytes."""
    return math.isqrt(int(min(_limit.get() * GIB, 2.0**62) / size))  # no array has more bytes


def check_memory(subject: str, size: int, hint: str) -> None:
    """Raise TooLargeError if the tables of `subject` take more bytes than the limit; `hint` says what to do."""
    if not within_limit(size):
        limit = f"{_limit.get():g} GiB"
        raise TooLargeError(f"{subject} would take about {size / GIB:,.1f} GiB of memory, more than {limit}", hint=hint)


def check_count(subject: str, count: int) -> None:
    """Raise TooLargeError if `subject` has more elements than int32 can number."""
    if count > LARGEST_INDEX:
        reason = f"{subject} has {count:,} elements, more than {LARGEST_INDEX:,}"
        raise TooLargeError(reason, hint="give fewer arcs: they are numbered in 32 bits")


def check_parts(n: int, counts: Mapping[str, int]) -> None:
    """Raise TooLargeError if parts of the families of `counts` do not fit the limit, or cannot be numbered."""
    for family, count in counts.items():
        check_count(f"the family {family} of {n:,} words", count)
    total = sum(counts.values())
    what = f"{n:,} words with {total:,} parts ({', '.join(sorted(counts))})"
    check_memory(what, PART * total, "allow fewer arcs, or raise the limit of memory")
