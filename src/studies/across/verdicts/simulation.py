"""A simulation with known truth: does the interval of a pooled effect hold what it promises?

Each simulated study trains two models with several seeds on several treebanks and pools their difference in UAS as the
verdicts do (`site.pooled`). Standard errors of sentences and of seeds are as large as those of this project's runs.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from studies.site.pooled import pool

EFFECTS = (0.0, 0.1, 0.3)  #: true differences, in UAS points
TAUS = (0.0, 0.15)  #: standard deviations of the effect between treebanks
SEEDS = (1, 3, 5)
TREEBANKS = (5, 18)
STUDIES = 10_000  #: simulated for each combination
SENTENCES = (0.08, 0.35)  #: standard errors over sentences, drawn evenly between these for each treebank
TRAINING = 0.15  #: standard deviation of the difference between seeds

#: columns of `coverage`
HOLDS, ABOVE, PREDICTED = "holds the effect", "above 0", "prediction holds"

Rng = np.random.Generator


def simulated(rng: Rng, effect: float, tau: float, seeds: int, treebanks: int, studies: int) -> dict[str, np.ndarray]:
    """Pool `studies` simulated studies of one design.

    Arrays [studies]: low, high; weighted_low, weighted_high: with weights by precision; predicted: whether the
    prediction interval holds what one more treebank shows.
    """
    se = rng.uniform(*SENTENCES, size=(studies, treebanks + 1))
    shared = effect + tau * rng.standard_normal(se.shape) + se * rng.standard_normal(se.shape)
    each = shared[..., None] + TRAINING * rng.standard_normal((*se.shape, seeds))
    shown, variance = each.mean(axis=-1), np.square(se)
    if seeds > 1:  # as `claims.measured.over_seeds`: from all treebanks together
        variance = variance + np.var(each, axis=-1, ddof=1).mean(axis=-1, keepdims=True) / seeds
    found = pool(shown[:, :-1], variance[:, :-1])
    more = shown[:, -1]
    out = {"low": found.mean.low, "high": found.mean.high}
    out |= {"weighted_low": found.weighted.low, "weighted_high": found.weighted.high}
    return out | {"predicted": (found.predicted_low <= more) & (more <= found.predicted_high)}


def coverage(studies: int = STUDIES, seed: int = 1) -> pd.DataFrame:
    """Index treebanks, seeds, tau, effect; columns in %: how many intervals hold the true effect and lie above 0, of
    equal weights and of weights by precision, and how many prediction intervals hold what one more treebank shows.
    """
    rng = np.random.default_rng(seed)
    rows = {}
    for key in itertools.product(TREEBANKS, SEEDS, TAUS, EFFECTS):
        treebanks, seeds, tau, effect = key
        of = simulated(rng, effect, tau, seeds, treebanks, studies)
        rows[key] = {
            HOLDS: 100 * np.mean((of["low"] <= effect) & (effect <= of["high"])),
            ABOVE: 100 * np.mean(of["low"] > 0),
            f"{HOLDS}, weighted": 100 * np.mean((of["weighted_low"] <= effect) & (effect <= of["weighted_high"])),
            f"{ABOVE}, weighted": 100 * np.mean(of["weighted_low"] > 0),
            PREDICTED: 100 * np.mean(of["predicted"]),
        }
    index = pd.MultiIndex.from_tuples(list(rows), names=["treebanks", "seeds", "tau", "effect"])
    return pd.DataFrame(list(rows.values()), index=index)


def power(studies: int = STUDIES // 10, seed: int = 2, steps: int = 13) -> pd.DataFrame:
    """Share (%) of studies whose interval lies above 0, by true effect (rows) and design (columns), tau = 0.15."""
    rng = np.random.default_rng(seed)
    effects = np.linspace(0, 0.6, steps)
    columns = {}
    for treebanks, seeds in itertools.product(TREEBANKS, SEEDS):
        above = [
            100 * np.mean(simulated(rng, effect, TAUS[-1], seeds, treebanks, studies)["low"] > 0) for effect in effects
        ]
        columns[f"{treebanks} treebanks, {seeds} seed{'s' * (seeds > 1)}"] = above
    return pd.DataFrame(columns, index=pd.Index(effects, name="true effect, UAS points"))
