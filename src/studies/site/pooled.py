"""Random-effects meta-analysis: one pooled effect from the effects that several treebanks show.

The effect of treebank i is y_i = mu + u_i + e_i. Here u_i, of variance tau^2, is how much that treebank differs from
treebanks in general, and e_i, of known variance v_i, is what other test sentences and other seeds would have changed.
tau^2 is estimated by restricted maximum likelihood, the interval of mu is that of Hartung & Knapp (2001) and Sidik &
Jonkman (2002), and the prediction interval, where the effect of one further treebank is expected, is that of Higgins,
Thompson & Spiegelhalter (2009). Tests: worked examples that are published, and a simulation with known truth
(`simulation`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
#: half the width of a 95 % interval of a normal distribution, in standard errors
Z = 1.959964
#: Fisher scoring of tau^2 ends when no value changes by more than this share of the mean variance
_PRECISION, _STEPS = 1e-10, 1000

Array = npt.NDArray[np.float64]


class Pooled(NamedTuple):
    """A pooled effect, in the unit of the effects. Arrays of one shape if many analyses were made at once.

    effect, se          mu and its standard error (Hartung-Knapp)
    low, high           interval of mu
    p                   two-sided p-value of mu = null
    tau2, I2            variance between treebanks, and its share (%) of all variance
    predicted_low, predicted_high   prediction interval; infinite for fewer than three treebanks
    """

    effect: Array
    se: Array
    low: Array
    high: Array
    p: Array
    tau2: Array
    I2: Array
    predicted_low: Array
    predicted_high: Array


def pool(effects: npt.ArrayLike, variances: npt.ArrayLike, null: float = 0.0, level: float = LEVEL) -> Pooled:
    """Pool the effects of k >= 2 treebanks.

    Parameters
    ----------
    effects, variances
        float64[..., k]; the leading axes are analyses of their own. Variances may be 0.
    null
        The effect that `p` tests.
    level
        Of the intervals.

    Raises
    ------
    ValueError
        If there are fewer than two treebanks, a number is not finite, or a variance is negative.
    """
    from scipy.stats import t

    y, v = np.broadcast_arrays(np.asarray(effects, float), np.asarray(variances, float))
    k = y.shape[-1]
    if k < 2:
        raise ValueError("one treebank cannot be pooled")
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v >= 0).all()):
        raise ValueError("effects must be finite, and variances finite and not negative")
    # equal effects without variances have no weights: a variance far below the others' differences stands for 0
    v = np.maximum(v, 1e-12 * np.maximum(1.0, np.square(y).max(axis=-1, keepdims=True)))
    tau2 = between(y, v)
    w = 1 / (v + tau2[..., None])
    mu = (w * y).sum(-1) / w.sum(-1)
    scale = (w * np.square(y - mu[..., None])).sum(-1) / (k - 1)
    se = np.sqrt(scale / w.sum(-1))
    half = t.ppf((1 + level) / 2, k - 1) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(se > 0, 2 * t.sf(np.abs(mu - null) / se, k - 1), np.where(mu == null, 1.0, 0.0))
    a = 1 / v
    typical = (k - 1) * a.sum(-1) / (np.square(a.sum(-1)) - np.square(a).sum(-1))
    reach = t.ppf((1 + level) / 2, k - 2) * np.sqrt(tau2 + np.square(se)) if k > 2 else np.full(mu.shape, np.inf)
    I2 = 100 * tau2 / (tau2 + typical)
    return Pooled(mu, se, mu - half, mu + half, p, tau2, I2, mu - reach, mu + reach)


def between(y: Array, v: Array) -> Array:
    """Estimate tau^2 >= 0 by restricted maximum likelihood (Fisher scoring, Viechtbauer 2005). O(k) for each step.

    y, v  float64[..., k], v > 0
    """
    k = y.shape[-1]
    tau2 = np.maximum(0, np.var(y, axis=-1, ddof=1) - v.mean(-1))
    for _ in range(_STEPS):
        w = 1 / (v + tau2[..., None])
        s1, s2, s3 = w.sum(-1), np.square(w).sum(-1), (w**3).sum(-1)
        mu = (w * y).sum(-1) / s1
        gradient = (np.square(w) * np.square(y - mu[..., None])).sum(-1) - (s1 - s2 / s1)
        information = s2 - 2 * s3 / s1 + np.square(s2 / s1)
        new = np.maximum(0, tau2 + gradient / information)
        if (np.abs(new - tau2) <= _PRECISION * (v.mean(-1) + tau2)).all():
            return new
        tau2 = new
    return tau2


def holm(p: npt.ArrayLike) -> Array:
    """Adjust p-values float64[m] for m tests (Holm 1979)."""
    values = np.asarray(p, float)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    out = np.empty_like(values)
    out[order] = np.minimum(1.0, steps)
    return out
