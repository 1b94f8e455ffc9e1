"""Simulate studies with a known effect, to test whether the 95 % interval of a pooled effect covers the true effect.

Each simulated study trains two models with several seeds on several treebanks and pools their difference in UAS in the
same way as the verdicts do (`site.pooled`). The standard errors over sentences and over seeds are as large as in the
runs of this project.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from studies.site.pooled import pool

EFFECTS = (0.0, 0.1, 0.3)  #: true differences between the two models, in UAS points
TAUS = (0.0, 0.15)  #: standard deviations (tau) of the effect between treebanks, in UAS points
SEEDS = (1, 3, 5)
TREEBANKS = (3, 5, 18)
TREEBANKS_OF_POWER = TREEBANKS[1:]  #: three treebanks hardly detect anything
STUDIES = 10_000  #: number of simulated studies of each design
SENTENCES = (0.08, 0.35)  #: range of the standard errors over sentences, drawn uniformly for each treebank
TRAINING = 0.15  #: standard deviation of the difference between the models over seeds, in UAS points

#: names of the columns of `coverage`
HOLDS, ABOVE, PREDICTED = "holds the effect", "above 0", "prediction holds"

Rng = np.random.Generator


def simulated(rng: Rng, effect: float, tau: float, seeds: int, treebanks: int, studies: int) -> dict[str, np.ndarray]:
    """Simulate `studies` studies of one design and pool the effects of each study.

    effect            true mean effect, in points of UAS
    tau               standard deviation of the true effect over treebanks, in points of UAS
    seeds, treebanks  numbers of seeds and treebanks in each study

    Returns arrays [studies]. `low` and `high` are the ends of the interval with equal weights. `weighted_low` and
    `weighted_high` are the ends of the interval with weights by precision. `predicted` is True if the prediction
    interval contains the estimate on one more treebank.
    """
    se = rng.uniform(*SENTENCES, size=(studies, treebanks + 1))
    shared = effect + tau * rng.standard_normal(se.shape) + se * rng.standard_normal(se.shape)
    each = shared[..., None] + TRAINING * rng.standard_normal((*se.shape, seeds))
    estimate, variance = each.mean(axis=-1), np.square(se)
    if (
        seeds > 1
    ):  # the variance over seeds is estimated from all treebanks together, as in `claims.measured.over_seeds`
        variance = variance + np.var(each, axis=-1, ddof=1).mean(axis=-1, keepdims=True) / seeds
    pooled = pool(estimate[:, :-1], variance[:, :-1])
    next_treebank = estimate[:, -1]
    out = {"low": pooled.mean.low, "high": pooled.mean.high}
    out |= {"weighted_low": pooled.weighted.low, "weighted_high": pooled.weighted.high}
    return out | {"predicted": (pooled.predicted_low <= next_treebank) & (next_treebank <= pooled.predicted_high)}


def coverage(studies: int = STUDIES, seed: int = 1) -> pd.DataFrame:
    """Return how often the intervals of simulated studies contain the true effect, in %, one row per design.

    Index: treebanks, seeds, tau, effect. Columns: share of the intervals that contain the true effect and share that
    lie above 0, each with equal weights and with weights by precision; share of the prediction intervals that contain
    the estimate of one more treebank.
    """
    rng = np.random.default_rng(seed)
    rows = {}
    for key in itertools.product(TREEBANKS, SEEDS, TAUS, EFFECTS):
        treebanks, seeds, tau, effect = key
        intervals = simulated(rng, effect, tau, seeds, treebanks, studies)
        rows[key] = {
            HOLDS: 100 * np.mean((intervals["low"] <= effect) & (effect <= intervals["high"])),
            ABOVE: 100 * np.mean(intervals["low"] > 0),
            f"{HOLDS}, weighted": 100
            * np.mean((intervals["weighted_low"] <= effect) & (effect <= intervals["weighted_high"])),
            f"{ABOVE}, weighted": 100 * np.mean(intervals["weighted_low"] > 0),
            PREDICTED: 100 * np.mean(intervals["predicted"]),
        }
    index = pd.MultiIndex.from_tuples(list(rows), names=["treebanks", "seeds", "tau", "effect"])
    return pd.DataFrame(list(rows.values()), index=index)


def detected(power: pd.DataFrame, share: float = 80.0) -> pd.DataFrame:
    """Return the smallest true effect that each design detects in at least `share` % of the studies.

    power  result of `power`

    Rows: designs. Columns: the smallest detected effect in UAS points (NaN if no tested effect is detected so often),
    the largest tested effect, and the share of studies (%) that detect the largest tested effect.
    """
    effects = {name: power.index[power[name] >= share] for name in power}
    columns = {
        "smallest effect detected": [enough[0] if len(enough) else float("nan") for enough in effects.values()],
        "largest effect tested": float(power.index[-1]),
        "studies that detect the largest, %": power.iloc[-1].to_numpy(),
    }
    return pd.DataFrame(columns, index=pd.Index(list(effects), name="design"))


def power(studies: int = STUDIES // 2, seed: int = 2, steps: int = 13) -> pd.DataFrame:
    """Return the share (%) of simulated studies that detect an effect, that is, whose interval lies above 0.

    The true effect varies over treebanks with the standard deviation TAUS[-1].

    Rows: `steps` true effects from 0 to 0.6 points of UAS. Columns: designs (numbers of treebanks and seeds).
    """
    rng = np.random.default_rng(seed)
    effects = np.linspace(0, 0.6, steps)
    columns = {}
    for treebanks, seeds in itertools.product(TREEBANKS_OF_POWER, SEEDS):
        above = [
            100 * np.mean(simulated(rng, effect, TAUS[-1], seeds, treebanks, studies)["low"] > 0) for effect in effects
        ]
        columns[f"{treebanks} treebanks, {seeds} seed{'s' * (seeds > 1)}"] = above
    return pd.DataFrame(columns, index=pd.Index(effects, name="true effect, UAS points"))
