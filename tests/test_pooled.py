"""Random-effects meta-analysis: published worked examples, properties and adjusted p-values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from studies.site.pooled import Interval, holm, p_within, pool

#: BCG vaccine against tuberculosis, 13 trials (Colditz et al. 1994): cases and non-cases, vaccinated and not
VACCINATED = np.array(
    [
        *[(4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886), (29, 7470)],
        *[(17, 1699), (186, 50448), (5, 2493), (27, 16886)],
    ]
)
NOT = np.array(
    [
        *[(11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892), (45, 7232)],
        *[(65, 1600), (141, 27197), (3, 2338), (29, 17825)],
    ]
)
#: additional hours of sleep with one drug compared with another, ten patients (Student 1908)
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_risk_ratios_of_the_bcg_trials() -> None:
    """Risk ratios give the results of Viechtbauer (2010), Journal of Statistical Software 36(3).

    They are tau^2 0.3132, I^2 92.22 % and mu -0.7145.
    """
    (a, b), (c, d) = VACCINATED.T.astype(float), NOT.T.astype(float)
    effects = np.log(a / (a + b)) - np.log(c / (c + d))
    pooled = pool(effects, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    assert f"{pooled.tau2:.4f}" == "0.3132"
    assert f"{pooled.I2:.2f}" == "92.22"
    assert f"{pooled.weighted.effect:.4f}" == "-0.7145"
    weights = 1 / (1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) + pooled.tau2)
    assert f"{weights.sum() ** -0.5:.4f}" == "0.1798"  # the standard error without the correction of Hartung and Knapp


def test_odds_ratios_of_the_bcg_trials() -> None:
    """Odds ratios of the same trials give the results in the documentation of metafor.

    They are tau^2 0.3378, I^2 92.07 % and mu -0.7452.
    """
    (a, b), (c, d) = VACCINATED.T.astype(float), NOT.T.astype(float)
    pooled = pool(np.log(a * d / (b * c)), 1 / a + 1 / b + 1 / c + 1 / d)
    assert (f"{pooled.tau2:.4f}", f"{pooled.I2:.2f}", f"{pooled.weighted.effect:.4f}") == ("0.3378", "92.07", "-0.7452")


def test_equal_weights_are_students_interval() -> None:
    """Equal weights give the interval in R's documentation of t.test: 1.58 [0.7001142, 2.4598858], p = 0.002833."""
    pooled = pool(SLEEP, np.zeros(10))
    assert pooled.mean.effect == pytest.approx(1.58)
    assert (float(pooled.mean.low), float(pooled.mean.high)) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)
    assert float(pooled.p) == pytest.approx(0.002833, abs=1e-6)


def test_equal_variances_need_no_choice_of_weights() -> None:
    pooled = pool(SLEEP, np.full(10, 0.3))
    assert tuple(pooled.mean) == pytest.approx(tuple(pooled.weighted))
    # variance between treebanks that sampling of sentences does not explain
    assert float(pooled.tau2) == pytest.approx(np.var(SLEEP, ddof=1) - 0.3)


def test_many_analyses_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    y, v = rng.normal(size=(20, 6)), rng.uniform(0.01, 2, size=(20, 6))
    every = pool(y, v, null=0.1)
    for i in range(20):
        single = pool(y[i], v[i], null=0.1)
        assert float(single.tau2) == pytest.approx(float(every.tau2[i]), rel=1e-6, abs=1e-9)
        assert float(single.p) == pytest.approx(float(every.p[i]))
        assert tuple(single.weighted) == pytest.approx([float(x[i]) for x in every.weighted])


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(-3, 3))
def test_the_interval_moves_with_the_effects(effects: list[float], shift: float) -> None:
    original, shifted = pool(effects, np.ones(len(effects))), pool(np.asarray(effects) + shift, np.ones(len(effects)))
    assert float(shifted.mean.low) == pytest.approx(float(original.mean.low) + shift, abs=1e-9)
    assert original.mean.low <= original.mean.effect <= original.mean.high
    assert original.predicted_low <= original.mean.low


def test_p_is_that_of_the_end_of_the_interval() -> None:
    pooled = pool(SLEEP, np.zeros(10))
    assert float(pool(SLEEP, np.zeros(10), null=float(pooled.mean.low)).p) == pytest.approx(0.05)
    assert float(pool([0.5, 0.5], [0.1, 0.1], null=0.5).p) == 1
    assert float(pool([0.5, 0.5], [0.0, 0.0]).p) == 0


def test_treebanks_that_agree_by_chance_keep_their_own_errors() -> None:
    pooled = pool([0.47, 0.48], [0.08, 0.10])
    own = stats.norm.ppf(0.975) * np.sqrt(0.08 + 0.10) / 2  # the interval of a mean whose only errors are these
    assert float(pooled.mean.high - pooled.mean.effect) == pytest.approx(own)
    assert pooled.narrowest
    assert not pool([0.47, 0.48], [0.0, 0.0]).narrowest
    assert float(pooled.predicted_high) >= float(pooled.mean.high)
    at_the_end = pool([0.47, 0.48], [0.08, 0.10], null=float(pooled.mean.low))
    assert float(at_the_end.p) == pytest.approx(0.05)
    apart = pool([0.0, 1.0], [0.08, 0.10])
    assert not apart.narrowest
    assert float(apart.mean.se) == pytest.approx(np.std([0, 1], ddof=1) / np.sqrt(2))


def test_two_one_sided_tests() -> None:
    """Eleven treebanks with mean 0.3 and standard error 0.1: t is 2 and 7 at the ends of 0.1 .. 1.0."""
    mean = Interval(*map(np.asarray, (0.3, 0.1, 0.0, 0.6)))
    pooled = pool(np.zeros(11), np.zeros(11))._replace(mean=mean)
    assert p_within(pooled, 0.1, 1.0) == pytest.approx(stats.t.sf(2, 10))
    assert p_within(pooled, -1.0, 0.5) == pytest.approx(stats.t.sf(2, 10))
    assert p_within(pooled, 0.5, 1.0) == pytest.approx(stats.t.sf(2, 10)), "the effect is below both ends"
    assert p_within(pooled, 0.3, 1.0) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("effects", "variances", "message"),
    [([1.0], [0.1], "one treebank"), ([1.0, np.nan], [0.1, 0.1], "finite"), ([1.0, 2.0], [0.1, -0.1], "negative")],
)
def test_what_cannot_be_pooled_is_refused(effects: list[float], variances: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool(effects, variances)


def test_holm() -> None:
    """Adjusted p-values equal the example in R's documentation of p.adjust.

    They never decrease in sorted order, are at most 1, and are returned in the order of the arguments.
    """
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert holm([0.02]) == pytest.approx([0.02])
