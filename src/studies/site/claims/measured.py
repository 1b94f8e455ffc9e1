"""Define the values that measures return, convert them to the scale of pooling, and help several measures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from studies.common.params import Params
from studies.site import pooled
from studies.site.collect import Results


class Measured(NamedTuple):
    """A quantity measured once, for instance on one split of a corpus, with the ends of its 95 % interval.

    low, high   ends of the interval; NaN if there is no interval
    place   the corpus, and further words that distinguish the values of one corpus, for instance `en_ewt, dev`
    data    treebank of the measurement; empty: the part of `place` before its first comma
    seeds   number of training runs over which the value is averaged
    part, whole   numerator and denominator of a share; whole is 0 if the quantity is not a share
    pair   the two rows that are compared, if the claim compares several pairs; else empty
    """

    place: str
    value: float
    low: float
    high: float
    data: str = ""
    seeds: int = 1
    part: int = 0
    whole: int = 0
    pair: str = ""

    @property
    def treebank(self) -> str:
        """Return the treebank of the measurement."""
        return self.data or self.place.partition(",")[0]


_NEAR_ONE = 1 - 1e-9  #: the largest correlation whose transformation is finite enough to be pooled


class Scale(StrEnum):
    """Scale on which effects are pooled.

    Values are unchanged, logarithms (of ratios), log odds (of shares in %), or Fisher's z (of correlations).
    """

    LINEAR = "linear"
    LOG = "log"
    ODDS = "log odds"
    FISHER = "Fisher's z"

    def to(self, value: float) -> float:
        """Convert a value from the unit of the measure to the scale."""
        if self is Scale.LOG:
            return float(np.log(value))
        if self is Scale.FISHER:
            return float(np.arctanh(np.clip(value, -_NEAR_ONE, _NEAR_ONE)))
        return float(np.log(value / (100 - value))) if self is Scale.ODDS else value

    def back(self, value: float) -> float:
        """Convert a value from the scale to the unit of the measure."""
        if self is Scale.LOG:
            return float(np.exp(value))
        if self is Scale.FISHER:
            return float(np.tanh(value))
        return float(100 / (1 + np.exp(-value))) if self is Scale.ODDS else value


class Measure(NamedTuple):
    """A function that measures a quantity in a run, and how its values are shown and pooled.

    read   function of the results, the row names and `compare` that returns the measured values, see
           `studies.site.claims.measures`
    text   format of a value
    names  function from parameters to the row names that `read` accepts
    scale  scale on which the values of several treebanks are pooled
    held   function from a run to the row names of which it has results on any corpus; None: `names` of its parameters
    """

    read: Callable[..., Iterator[Measured]]
    text: str
    names: Callable[[Params], Collection[str]] = lambda params: ()
    scale: Scale = Scale.LINEAR
    held: Callable[[Results], Collection[str]] | None = None


def exact(place: str, value: float, data: str = "") -> Measured:
    """Return a quantity that was counted, or measured once, as a value without an interval."""
    return Measured(place, value, float("nan"), float("nan"), data)


def pairs(rows: Sequence[str], compare: str) -> list[tuple[str, str]]:
    """Return the pairs of rows to compare.

    compare  "next" pairs each row with the row after it; "each" pairs the first row with each other row
    """
    return list(pairwise(rows)) if compare == "next" else [(rows[0], row) for row in rows[1:]]


def of_pairs(
    place: str, compared: Sequence[tuple[str, str]], values: Sequence[Sequence[float]], seeds: int = 1
) -> list[Measured]:
    """Return one measured value for each of the pairs `compared`; `values` has (value, low, high) for each."""
    names = [" and ".join(pair) if len(compared) > 1 else "" for pair in compared]
    ends = np.asarray(values, float).tolist()
    return [
        Measured(place, value, low, high, seeds=seeds, pair=name)
        for name, (value, low, high) in zip(names, ends, strict=True)
    ]


def share(place: str, part: int, whole: int, level: float = 0.95, method: str = "wilson", data: str = "") -> Measured:
    """Return a share in % with a binomial interval.

    If `whole` is 0, the value is NaN and the interval is 0 to 100 %.
    """
    from scipy.stats import binomtest

    if not whole:
        return Measured(place, float("nan"), 0.0, 100.0, data)
    ends = binomtest(part, whole).proportion_ci(level, method=method)
    return Measured(place, 100 * part / whole, 100 * ends.low, 100 * ends.high, data, part=part, whole=whole)


def on_scale(measured: Measured, scale: Scale) -> tuple[float, float]:
    """Return effect and variance of a value on the scale where it is pooled.

    The variance is the variance of a normal distribution with the same 95 % interval; it is 0 without an interval. On
    the scale of log odds, a share with known counts becomes an empirical log odds, whose variance the counts determine.
    Half a case is added to the part and to its complement, so that 0 and 100 % are finite.
    """
    if scale is Scale.ODDS and measured.whole:
        inside, outside = measured.part + 0.5, measured.whole - measured.part + 0.5
        return float(np.log(inside / outside)), 1 / inside + 1 / outside
    if np.isnan(measured.low):
        return scale.to(measured.value), 0.0
    value, low, high = (scale.to(x) for x in (measured.value, measured.low, measured.high))
    return value, pooled.variance(low, high)


def by_treebank(places: Sequence[Measured], scale: Scale) -> list[tuple[str, float, float]]:
    """Return (treebank, effect, variance) of every treebank, averaged over its measured values on the scale.

    Values of one treebank share its sentences. Their mean therefore gets the average of their standard errors, not a
    smaller standard error.

    places  measured values, several of which may belong to one treebank
    """
    effects: dict[str, list[tuple[float, float]]] = {}
    for place in places:
        effects.setdefault(place.treebank, []).append(on_scale(place, scale))
    values = {treebank: np.array(values_of_treebank) for treebank, values_of_treebank in effects.items()}
    return [(name, float(v[:, 0].mean()), float(np.sqrt(v[:, 1]).mean() ** 2)) for name, v in values.items()]


def over_seeds(rows_by_place: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> list[Measured]:
    """Average the results (value, low, high) of each corpus over seeds; see `pooled.over_seeds`.

    rows_by_place  pairs of a corpus (or another `Measured.place`) and its results, one for each seed
    """
    means = pooled.over_seeds([rows for _, rows in rows_by_place])
    return [
        Measured(place, mean.value, mean.low, mean.high, seeds=mean.seeds)
        for (place, _), mean in zip(rows_by_place, means, strict=True)
    ]
