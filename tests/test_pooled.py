"""Random-effects meta-analysis: published worked examples, properties, and adjusted p-values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.site.pooled import holm, pool

#: BCG vaccine against tuberculosis, 13 trials (Colditz et al. 1994): cases and others, vaccinated and not
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
#: additional hours of sleep by one drug over another, ten patients (Student 1908)
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_risk_ratios_of_the_bcg_trials() -> None:
    """Viechtbauer (2010), Journal of Statistical Software 36(3): tau^2 0.3132, I^2 92.22 %, mu -0.7145."""
    (a, b), (c, d) = VACCINATED.T.astype(float), NOT.T.astype(float)
    effects = np.log(a / (a + b)) - np.log(c / (c + d))
    found = pool(effects, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    assert f"{found.tau2:.4f}" == "0.3132"
    assert f"{found.I2:.2f}" == "92.22"
    assert f"{found.weighted.effect:.4f}" == "-0.7145"
    weights = 1 / (1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) + found.tau2)
    assert f"{weights.sum() ** -0.5:.4f}" == "0.1798"  # the standard error without Hartung and Knapp


def test_odds_ratios_of_the_bcg_trials() -> None:
    """The same trials by odds ratios, as in the documentation of metafor: tau^2 0.3378, I^2 92.07 %, mu -0.7452."""
    (a, b), (c, d) = VACCINATED.T.astype(float), NOT.T.astype(float)
    found = pool(np.log(a * d / (b * c)), 1 / a + 1 / b + 1 / c + 1 / d)
    assert (f"{found.tau2:.4f}", f"{found.I2:.2f}", f"{found.weighted.effect:.4f}") == ("0.3378", "92.07", "-0.7452")


def test_equal_weights_are_students_interval() -> None:
    """As R's documentation of t.test prints it for these data: 1.58 [0.7001142, 2.4598858], p = 0.002833."""
    found = pool(SLEEP, np.zeros(10))
    assert found.mean.effect == pytest.approx(1.58)
    assert (float(found.mean.low), float(found.mean.high)) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)
    assert float(found.p) == pytest.approx(0.002833, abs=1e-6)


def test_equal_variances_need_no_choice_of_weights() -> None:
    found = pool(SLEEP, np.full(10, 0.3))
    assert tuple(found.mean) == pytest.approx(tuple(found.weighted))
    assert float(found.tau2) == pytest.approx(np.var(SLEEP, ddof=1) - 0.3)  # what sentences do not explain


def test_many_analyses_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    y, v = rng.normal(size=(20, 6)), rng.uniform(0.01, 2, size=(20, 6))
    every = pool(y, v, null=0.1)
    for i in range(20):
        one = pool(y[i], v[i], null=0.1)
        assert float(one.tau2) == pytest.approx(float(every.tau2[i]), rel=1e-6, abs=1e-9)
        assert float(one.p) == pytest.approx(float(every.p[i]))
        assert tuple(one.weighted) == pytest.approx([float(x[i]) for x in every.weighted])


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(-3, 3))
def test_the_interval_moves_with_the_effects(effects: list[float], shift: float) -> None:
    one, other = pool(effects, np.ones(len(effects))), pool(np.asarray(effects) + shift, np.ones(len(effects)))
    assert float(other.mean.low) == pytest.approx(float(one.mean.low) + shift, abs=1e-9)
    assert one.mean.low <= one.mean.effect <= one.mean.high
    assert one.predicted_low <= one.mean.low


def test_p_is_that_of_the_end_of_the_interval() -> None:
    found = pool(SLEEP, np.zeros(10))
    assert float(pool(SLEEP, np.zeros(10), null=float(found.mean.low)).p) == pytest.approx(0.05)
    assert float(pool([0.5, 0.5], [0.1, 0.1], null=0.5).p) == 1
    assert float(pool([0.5, 0.5], [0.1, 0.1]).p) == 0


@pytest.mark.parametrize(
    ("effects", "variances", "message"),
    [([1.0], [0.1], "one treebank"), ([1.0, np.nan], [0.1, 0.1], "finite"), ([1.0, 2.0], [0.1, -0.1], "negative")],
)
def test_what_cannot_be_pooled_is_refused(effects: list[float], variances: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool(effects, variances)


def test_holm() -> None:
    """The example of R's documentation of p.adjust's method: steps that never fall, at most 1, in the order given."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert holm([0.02]) == pytest.approx([0.02])
