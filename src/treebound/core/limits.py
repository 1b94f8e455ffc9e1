"""The memory limit of one sentence, which is compared with an estimate before any memory is allocated.

The limit is a fixed number and not the free memory of the machine. A sentence is therefore refused on every machine or
on none. Estimates are computed from the numbers of words, arcs and parts, in integers of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from treebound.core.errors import InputError

GIB = 2**30
#: default limit in GiB for the tables of one sentence: two workers then fit into a laptop with 8 GiB
MEMORY = 2.0
#: bytes per part: its arcs and its score, once in the problem and once in a search, and the memory for sorting parts
PART = 64
#: arcs, parts, items and edges are numbered in int32
LARGEST_INDEX = 2**31 - 1

_limit: ContextVar[float] = ContextVar("treebound_memory", default=MEMORY)


class TooLargeError(InputError):
    """A sentence that would exceed the memory limit, or that has more parts than can be numbered."""


@contextmanager
def memory_limit(gib: float) -> Iterator[None]:
    """Set the memory limit, in GiB, inside a `with` block."""
    token = _limit.set(float(gib))
    try:
        yield
    finally:
        _limit.reset(token)


def within_limit(size: int) -> bool:
    """Return whether tables of `size` bytes are within the memory limit."""
    return size <= _limit.get() * GIB


def longest(size: int) -> int:
    """Return the largest number of words for which tables of `size` bytes per pair of words are within the limit."""
    return math.isqrt(int(min(_limit.get() * GIB, 2.0**62) / size))  # no array has more bytes


def check_memory(subject: str, size: int, hint: str) -> None:
    """Raise TooLargeError if the tables of `subject` take more bytes than the limit; `hint` tells the user how to
    proceed.
    """
    if not within_limit(size):
        limit = f"{_limit.get():g} GiB"
        raise TooLargeError(f"{subject} would take about {size / GIB:,.1f} GiB of memory, more than {limit}", hint=hint)


def check_count(subject: str, count: int) -> None:
    """Raise TooLargeError if `subject` has more elements than int32 can number."""
    if count > LARGEST_INDEX:
        reason = f"{subject} has {count:,} elements, more than {LARGEST_INDEX:,}"
        raise TooLargeError(reason, hint="give fewer arcs; arcs and parts are numbered in 32 bits")


def check_parts(n: int, counts: Mapping[str, int]) -> None:
    """Raise TooLargeError if the parts counted in `counts` exceed the memory limit or cannot be numbered."""
    for family, count in counts.items():
        check_count(f"the family {family} of {n:,} words", count)
    total = sum(counts.values())
    subject = f"{n:,} words with {total:,} parts ({', '.join(sorted(counts))})"
    check_memory(subject, PART * total, "allow fewer arcs, or raise the memory limit")
