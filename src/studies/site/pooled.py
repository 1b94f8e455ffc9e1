"""Pool the effects of several treebanks into one by random-effects meta-analysis.

The effect of treebank i is y_i = mu + u_i + e_i. Here u_i, of variance tau^2, is the difference between this treebank
and treebanks in general. The error e_i, of variance v_i, comes from the choice of test sentences and seeds.

mu is the mean over treebanks, with the interval of Hartung & Knapp (2001) for equal weights. The spread between
treebanks contains all sources of variance (u_i, sentences and seeds), whether v_i is known well or not. A few treebanks
may agree by chance. The interval is therefore at least as wide as the interval that the v_i alone give (Wiksten, Rücker
& Schwarzer 2016 take the wider interval of both, too). For comparison, a mean with weights by precision (Sidik &
Jonkman 2002) is computed as well. With as few treebanks as in this project, the intervals of the weighted mean are too
narrow: page 94 has the simulation (`studies.across.verdicts`), and docs/decisions/031 has the reasons. tau^2 is
estimated by restricted maximum likelihood. The tests of this module are published worked examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from treebound.metrics.calibration import NORMAL_95

LEVEL = 0.95
Z = NORMAL_95  #: half the width of a 95 % interval of a normal distribution, in standard errors
#: Fisher scoring of tau^2 ends when no value changes by more than _PRECISION times the variances, or after _STEPS
_PRECISION, _STEPS = 1e-8, 200

Array = npt.NDArray[np.float64]
Ends = TypeVar("Ends", float, pd.Series)


class Interval(NamedTuple):
    """An estimate, its standard error, and the ends of its interval; arrays if there are several analyses."""

    effect: Array
    se: Array
    low: Array
    high: Array


class Pooled(NamedTuple):
    """A pooled effect, in the unit of the effects.

    - mean: estimate of mu with equal weights.
    - p: two-sided p-value of the hypothesis mu = null.
    - treebanks: k.
    - predicted_low, predicted_high: prediction interval, the range in which the effect on one more treebank is
      expected.
    - tau2, I2: variance between treebanks, and its share (%) of the total variance.
    - weighted: estimate of mu with weights by precision.
    - narrowest: True if the interval of `mean` has its least width, because the treebanks agree more closely than their
      own errors explain. An interval from the v_i alone has this width.
    """

    mean: Interval
    p: Array
    treebanks: int
    predicted_low: Array
    predicted_high: Array
    tau2: Array
    I2: Array
    weighted: Interval
    narrowest: Array


def variance(low: Ends, high: Ends) -> Ends:
    """Return the variance of a normal distribution whose 95 % interval is [low, high]."""
    return ((high - low) / (2 * Z)) ** 2


def pool(effects: npt.ArrayLike, variances: npt.ArrayLike, null: float = 0.0, level: float = LEVEL) -> Pooled:
    """Pool the effects of k >= 2 treebanks.

    Parameters
    ----------
    effects, variances
        float64[..., k]; the leading axes are separate analyses. Variances may be 0.
    null
        The effect that `p` tests.
    level
        Confidence level of the intervals.

    Raises
    ------
    ValueError
        If there are fewer than two treebanks, a number is not finite, or a variance is negative.
    """
    from scipy.stats import norm, t

    y, v = np.broadcast_arrays(np.asarray(effects, float), np.asarray(variances, float))
    k = y.shape[-1]
    if k < 2:
        raise ValueError("one treebank cannot be pooled: give at least two")
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v >= 0).all()):
        raise ValueError("effects must be finite, and variances finite and not negative")
    least = norm.ppf((1 + level) / 2) * np.sqrt(v.sum(-1)) / k
    mean = _interval(y, np.ones_like(y), level, least)
    reach = t.ppf((1 + level) / 2, k - 1) * np.std(y, axis=-1, ddof=1) * np.sqrt(1 + 1 / k)
    reach = np.maximum(reach, mean.effect - mean.low)
    p = 2 * np.minimum(p_beyond(mean, k, null, 1), p_beyond(mean, k, null, -1))
    # a variance of 0 has no weight: replace it by a variance far below the effects
    v = np.maximum(v, 1e-12 * np.maximum(1.0, np.square(y).max(axis=-1, keepdims=True)))
    tau2, a = between(y, v), 1 / v
    typical = (k - 1) * a.sum(-1) / (np.square(a.sum(-1)) - np.square(a).sum(-1))  # Higgins & Thompson (2002)
    weighted = _interval(y, 1 / (v + tau2[..., None]), level)
    low, high = mean.effect - reach, mean.effect + reach
    narrowest = (least > 0) & np.isclose(mean.high - mean.effect, least)
    return Pooled(mean, p, k, low, high, tau2, 100 * tau2 / (tau2 + typical), weighted, narrowest)


def p_beyond(mean: Interval, treebanks: int, null: float, side: int) -> Array:
    """Return the one-sided p-value of the hypothesis that mu lies beyond `null`.

    side  1: the hypothesis to reject is mu <= null; -1: it is mu >= null
    """
    from scipy.stats import t

    with np.errstate(divide="ignore", invalid="ignore"):
        p = t.sf(side * (mean.effect - null) / mean.se, treebanks - 1)
    certain = np.where(mean.effect == null, 0.5, np.where(side * (mean.effect - null) > 0, 0.0, 1.0))
    return np.where(mean.se > 0, p, certain)


def p_within(pooled: Pooled, low: float, high: float) -> float:
    """Return the p-value of a claim that mu lies between `low` and `high`, for a single analysis.

    If the mean lies between them, the claim is tested by two one-sided tests (Schuirmann 1987), and the larger p-value
    counts. Otherwise, the tested hypothesis is that mu lies between them after all.
    """
    value = float(pooled.mean.effect)
    if low <= value <= high:
        ends = ((low, 1), (high, -1))
        return float(max(p_beyond(pooled.mean, pooled.treebanks, end, side) for end, side in ends))
    return float(p_beyond(pooled.mean, pooled.treebanks, *((high, 1) if value > high else (low, -1))))


def _interval(y: Array, w: Array, level: float, least: npt.ArrayLike = 0.0) -> Interval:
    """Return the mean of effects y with weights w, with the interval of Hartung & Knapp.

    least  smallest distance from the mean to the ends of the interval
    """
    from scipy.stats import t

    k = y.shape[-1]
    mu = (w * y).sum(-1) / w.sum(-1)
    reach = t.ppf((1 + level) / 2, k - 1)
    se = np.sqrt((w * np.square(y - mu[..., None])).sum(-1) / (k - 1) / w.sum(-1))
    se = np.maximum(se, np.asarray(least) / reach)
    half = reach * se
    return Interval(mu, se, mu - half, mu + half)


def between(y: Array, v: Array) -> Array:
    """Estimate tau^2 >= 0 by restricted maximum likelihood (Fisher scoring, Viechtbauer 2005). O(k) for each step.

    y, v  float64[..., k], v > 0
    """
    shape = y.shape[:-1]
    y, v = y.reshape(-1, y.shape[-1]), v.reshape(-1, v.shape[-1])
    tau2 = np.maximum(0, np.var(y, axis=-1, ddof=1) - v.mean(-1))
    open_ = np.arange(len(y))  # analyses that have not converged
    for _ in range(_STEPS):
        current = tau2[open_]
        w = 1 / (v[open_] + current[:, None])
        s1, s2, s3 = w.sum(-1), np.square(w).sum(-1), (w**3).sum(-1)
        mu = (w * y[open_]).sum(-1) / s1
        gradient = (np.square(w) * np.square(y[open_] - mu[:, None])).sum(-1) - (s1 - s2 / s1)
        updated = np.maximum(0, current + gradient / (s2 - 2 * s3 / s1 + np.square(s2 / s1)))
        tau2[open_] = updated
        open_ = open_[np.abs(updated - current) > _PRECISION * (v[open_].mean(-1) + current)]
        if not len(open_):
            break
    return tau2.reshape(shape)


def holm(p: npt.ArrayLike) -> Array:
    """Adjust p-values float64[m] for m tests (Holm 1979)."""
    values = np.asarray(p, float)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted


class Mean(NamedTuple):
    """A mean over seeds with the ends of its 95 % interval, and the number of seeds."""

    value: float
    low: float
    high: float
    seeds: int


def over_seeds(places: Sequence[Sequence[Sequence[float]]]) -> list[Mean]:
    """Average over seeds, with intervals that cover the random choice of both test sentences and seeds.

    Parameters
    ----------
    places
        For each place (for instance a treebank) one row per seed: the value and the ends of its 95 % interval over
        sentences.

    The variance over sentences is the mean over seeds, since all seeds are tested on the same sentences. The variance
    of training is the variance between seeds, estimated from all places with several seeds together, divided by the
    number of seeds. A place with one seed gets the variance over sentences alone; the effect of its seed becomes part
    of the variance between treebanks.
    """
    spread = [(np.var([row[0] for row in rows], ddof=1), len(rows) - 1) for rows in places if len(rows) > 1]
    training = sum(v * df for v, df in spread) / max(1, sum(df for _, df in spread))
    means = []
    for rows in places:
        data = np.asarray(rows, float)
        value, seeds = float(data[:, 0].mean()), len(data)
        if seeds == 1:
            means.append(Mean(value, float(data[0, 1]), float(data[0, 2]), 1))
            continue
        sentences = float(np.mean([variance(low, high) for _, low, high in rows]))
        half = Z * float(np.sqrt(sentences + training / seeds))
        means.append(Mean(value, value - half, value + half, seeds))
    return means
