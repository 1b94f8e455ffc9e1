"""Test calibration against counts by hand, and the tables made from it."""

import io

import numpy as np
import pandas as pd
import pytest

from studies.qian_liu_2013.confidence import remarks, tables
from studies.site import provenance
from treebound.core.parse import Confidence, Parse
from treebound.metrics.calibration import calibration_error, coverage, reliability, wilson


def test_bins_have_equal_sizes_and_their_own_accuracy():
    confidence = np.array([0.9, 0.1, 0.2, 0.8, np.nan, 0.4, 0.3])
    correct = np.array([True, False, True, True, True, False, False])
    table = reliability(confidence, correct, bins=3)
    assert table["words"].tolist() == [2, 2, 2]
    assert table["confidence"].tolist() == pytest.approx([0.15, 0.35, 0.85])
    assert table["accuracy"].tolist() == [0.5, 0.0, 1.0]
    assert (table["low"] <= table["accuracy"]).all()
    assert (table["high"] >= table["accuracy"]).all()
    assert calibration_error(confidence, correct, 3) == pytest.approx((0.35 + 0.35 + 0.15) / 3)


def test_equal_values_stay_together():
    table = reliability(np.array([1.0, 1.0, 1.0, 1.0, 2.0, np.inf]), np.array([1, 0, 0, 1, 1, 1], bool), bins=3)
    assert table["words"].tolist() == [4, 2]
    assert table["accuracy"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("right", "total"), [(0, 5), (5, 5), (3, 10), (900, 1000), (0, 0)])
def test_intervals(right, total):
    """Check that Wilson's interval is the set of p that a normal test does not reject."""
    low, high = wilson(right, total)
    assert 0 <= low <= high <= 1
    for end in (low, high):
        if total and 0 < end < 1:
            assert abs(right / total - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / total))


def test_coverage_counts_the_most_confident_first():
    confidence = np.array([5.0, np.inf, 1.0, 1.0, np.nan])
    correct = np.array([True, True, False, True, False])
    curve = coverage(confidence, correct, points=5)
    assert curve["kept"].tolist() == [0.2, 0.4, 0.8, 1.0]  # equal values are added together
    assert curve["accuracy"].tolist() == [1.0, 1.0, 0.75, 0.6]


def test_coverage_of_few_points_and_of_values_below_zero():
    curve = coverage(np.array([-1.0, np.nan, -3.0, -2.0]), np.array([True, False, True, True]), points=2)
    assert curve["kept"].tolist() == [0.5, 1.0]
    assert curve["accuracy"].tolist() == [1.0, 0.75]
    curve = coverage(np.array([-1.0, np.nan]), np.array([True, False]))
    assert curve["accuracy"].tolist() == [1.0, 0.5]


def words(size=1000):
    rng = np.random.default_rng(0)
    p = rng.random(size)
    return pd.DataFrame({"margin": p * 3, "marginal": p, "correct": rng.random(size) < p})


def test_the_calibration_error_of_calibrated_and_uncalibrated_values():
    data = words(20_000)
    p, correct = data["marginal"].to_numpy(), data["correct"].to_numpy()
    assert calibration_error(p, correct) < 0.02
    assert calibration_error(p, correct) == calibration_error(p, correct, 10) != calibration_error(p, correct, 11)
    assert calibration_error(p / 2, correct) == pytest.approx(0.25, abs=0.02)
    assert np.isnan(calibration_error(np.full(3, np.nan), np.ones(3, bool)))


def test_table_and_remark_of_confident_words():
    data = words()
    table = tables.kept_table(data)
    best = data.sort_values("margin", ascending=False)["correct"]
    assert table.loc["margin"].tolist() == pytest.approx(
        [100 * best.head(len(best) * share // 100).mean() for share in (50, 80, 90, 95, 100)]
    )
    measured = {"calibration_error": 0.031, "scale": 5.0, "best_of_list": {"1": 90.0, "10": 95.5, "2": 92.0}}
    remark = str(remarks.confidence(data, pd.Series(measured | {"complete": 9, "sentences": 10}), "combined"))
    assert "combined" in remark
    first = reliability(data["margin"].to_numpy(), data["correct"].to_numpy())
    share = f"{first['words'][0]:,} words with the smallest margins (the first of {len(first['words'])} groups), "
    assert f"{share}{100 * first['accuracy'][0]:.1f} % [" in remark
    assert "calibration error of the marginals is 3.1 points" in remark
    assert "The most accurate of the 10 best trees would have 95.50" in remark
    assert "9 of 10 lists" in remark


def test_tables_of_one_parse():
    best, second_best = np.array([-1, 2, 0, 2]), np.array([-1, 2, 0, 1])
    trees = (Parse(best, 30.0, 30.0, "optimal"), Parse(second_best, 20.0, 20.0, "optimal"))
    confidence = Confidence(np.array([np.nan, np.inf, 20.0, 10.0]), np.array([np.nan, 1.0, 0.9, 0.5]), trees, True)
    parse = Parse(best, 30.0, 30.0, "optimal", confidence=confidence)
    table = provenance.word_table(["a", "b", "c"], parse, unit=4.0)
    assert table["margin"].tolist() == [np.inf, 5.0, 2.5]
    assert table["head"].tolist() == ["b", "(root)", "b"]
    assert table["next head"].tolist() == ["–", "–", "a"]
    table = provenance.tree_table(["a", "b", "c"], parse, unit=4.0)
    assert table["below the best"].tolist() == [0.0, 2.5]
    assert table["changed heads"].tolist() == ["–", "c: head b becomes a"]
    with pytest.raises(ValueError, match="no k-best list"):
        provenance.tree_table(["a"], Parse(best, 0.0, 0.0, "optimal"), 1.0)


def test_figures_draw_every_finite_bin():
    from studies.qian_liu_2013.confidence import figures

    data = words()
    data.loc[:200, "margin"] = np.inf
    margin = reliability(data["margin"].to_numpy(), data["correct"].to_numpy())
    marginal = reliability(data["marginal"].to_numpy(), data["correct"].to_numpy())
    figure = figures.reliability(margin, marginal)
    left, right = figure.axes
    finite = np.isfinite(margin["confidence"]).sum()
    assert len(left.lines[0].get_xdata()) == finite < len(margin["words"])
    assert len(right.lines[0].get_xdata()) == len(marginal["words"])
    curves = {name: coverage(data[name].to_numpy(), data["correct"].to_numpy()) for name in ("margin", "marginal")}
    (axes,) = figures.coverage(curves).axes
    assert {text.get_text() for text in axes.texts} >= {"margin", "marginal"}  # names at the ends of the curves
    figure.savefig(io.BytesIO(), format="svg")
