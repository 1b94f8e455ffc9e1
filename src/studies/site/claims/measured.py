"""Results of measures, how they are pooled, and functions that several measures share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from studies.common.params import Params
from studies.site import pooled
from studies.site.pooled import Z


class Measured(NamedTuple):
    """A quantity in one place with the ends of its 95 % interval, NaN where it has none.

    place   corpus, and what else tells one value from another: `en_ewt, dev`
    data    the treebank that it was measured on; empty: what `place` has before its first comma
    seeds   how many trainings the value is a mean of
    part, whole   of a share: counts; whole 0: it is not a share
    """

    place: str
    value: float
    low: float
    high: float
    data: str = ""
    seeds: int = 1
    part: int = 0
    whole: int = 0

    @property
    def treebank(self) -> str:
        """The treebank that it was measured on."""
        return self.data or self.place.partition(",")[0]


class Scale(StrEnum):
    """Where effects are added up: as they are, as logarithms (ratios), or as log odds (shares in %)."""

    LINEAR = "linear"
    LOG = "log"
    ODDS = "log odds"

    def to(self, value: float) -> float:
        """From the unit of the measure."""
        if self is Scale.LOG:
            return float(np.log(value))
        return float(np.log(value / (100 - value))) if self is Scale.ODDS else value

    def back(self, value: float) -> float:
        """To the unit of the measure."""
        if self is Scale.LOG:
            return float(np.exp(value))
        return float(100 / (1 + np.exp(-value))) if self is Scale.ODDS else value


class Measure(NamedTuple):
    """A function (see the package), how its values are printed, and what the rows that it reads may be called.

    scale  on which places are pooled
    """

    read: Callable[..., Iterator[Measured]]
    text: str
    names: Callable[[Params], Collection[str]] = lambda params: ()
    scale: Scale = Scale.LINEAR


def exact(place: str, value: float, data: str = "") -> Measured:
    """A quantity that was counted, or measured once: without an interval."""
    return Measured(place, value, float("nan"), float("nan"), data)


def least(place: str, found: Sequence[Sequence[float]], seeds: int = 1) -> Measured:
    """The least of several comparisons: value, low and high, each by itself."""
    value, low, high = (float(x) for x in np.min(np.asarray(found, float), axis=0))
    return Measured(place, value, low, high, seeds=seeds)


def pairs(rows: Sequence[str], compare: str) -> list[tuple[str, str]]:
    """Which rows are compared."""
    return list(pairwise(rows)) if compare == "next" else [(rows[0], other) for other in rows[1:]]


def share(place: str, part: int, whole: int, level: float = 0.95, method: str = "wilson", data: str = "") -> Measured:
    """A share in % with a binomial interval; nothing known where there is nothing."""
    from scipy.stats import binomtest

    if not whole:
        return Measured(place, float("nan"), 0.0, 100.0, data)
    ends = binomtest(part, whole).proportion_ci(level, method=method)
    return Measured(place, 100 * part / whole, 100 * ends.low, 100 * ends.high, data, part=part, whole=whole)


def on_scale(one: Measured, scale: Scale) -> tuple[float, float]:
    """Effect and variance of a value on the scale where it is pooled.

    The variance is that of a normal distribution with this 95 % interval, 0 where there is none; shares have the
    empirical log odds, half a case added on either side, so that 0 and 100 % are finite.
    """
    if scale is Scale.ODDS and one.whole:
        there, rest = one.part + 0.5, one.whole - one.part + 0.5
        return float(np.log(there / rest)), 1 / there + 1 / rest
    if np.isnan(one.low):
        return scale.to(one.value), 0.0
    value, low, high = (scale.to(x) for x in (one.value, one.low, one.high))
    return value, ((high - low) / (2 * Z)) ** 2


def by_treebank(places: Sequence[Measured], scale: Scale) -> list[tuple[str, float, float]]:
    """(treebank, effect, variance) of every treebank: the means of its places on the scale.

    Places of one treebank share its sentences, so that their mean has a standard error as large as theirs are on
    average, not a smaller one.
    """
    of: dict[str, list[tuple[float, float]]] = {}
    for one in places:
        of.setdefault(one.treebank, []).append(on_scale(one, scale))
    values = {treebank: np.array(found) for treebank, found in of.items()}
    return [(name, float(v[:, 0].mean()), float(np.sqrt(v[:, 1]).mean() ** 2)) for name, v in values.items()]


def over_seeds(found: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> list[Measured]:
    """Means over seeds of (place, a row for each seed), see `pooled.over_seeds`."""
    means = pooled.over_seeds([rows for _, rows in found])
    return [
        Measured(place, mean.value, mean.low, mean.high, seeds=mean.seeds)
        for (place, _), mean in zip(found, means, strict=True)
    ]
