"""Results of measures, and functions that several measures share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from studies.common.params import Params


class Measured(NamedTuple):
    """A quantity in one place with the ends of its interval, which are the value where it has none."""

    place: str
    value: float
    low: float
    high: float


class Measure(NamedTuple):
    """A function (see the package), how its values are printed, and what the rows that it reads may be called."""

    read: Callable[..., Iterator[Measured]]
    text: str
    names: Callable[[Params], Collection[str]] = lambda params: ()


def exact(place: str, value: float) -> Measured:
    """A quantity that was counted, or measured once."""
    return Measured(place, value, value, value)


def least(place: str, found: Sequence[Sequence[float]]) -> Measured:
    """The least of several comparisons: value, low and high, each by itself."""
    return Measured(place, *np.min(np.asarray(found, float), axis=0))


def pairs(rows: Sequence[str], compare: str) -> list[tuple[str, str]]:
    """Which rows are compared."""
    return list(pairwise(rows)) if compare == "next" else [(rows[0], other) for other in rows[1:]]


def share(place: str, part: int, whole: int, level: float = 0.95, method: str = "wilson") -> Measured:
    """A share in % with a binomial interval; nothing known where there is nothing."""
    from scipy.stats import binomtest

    if not whole:
        return Measured(place, float("nan"), 0.0, 100.0)
    ends = binomtest(part, whole).proportion_ci(level, method=method)
    return Measured(place, 100 * part / whole, 100 * ends.low, 100 * ends.high)
