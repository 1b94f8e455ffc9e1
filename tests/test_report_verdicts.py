"""The page about verdicts: a simulation with known truth, forest plots of pooled effects, and sentences about both."""

from __future__ import annotations

import numpy as np
import pytest

from studies.across.verdicts import figures, remarks, simulation
from studies.site.claims.judge import Judged
from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measured, exact

PAPER = Paper(key="p", cite="A & B (2000)", title="T")
TEXTS = {"claim": "It helps.", "section": "4", "published": "1.0", "rows": ("a", "b"), "measure": "UAS", "than": 0}


def judged(name: str, places: int, **settings: object) -> Judged:
    values = tuple(Measured(f"t{i}", 0.1 * i, 0.1 * i - 0.2, 0.1 * i + 0.2) for i in range(places))
    return Judged(PAPER, Claim.model_validate(TEXTS | {"name": name} | settings), values)


def test_the_interval_has_its_nominal_coverage() -> None:
    """The interval contains the true effect in 95 % of simulated studies with the design of the page.

    The tolerance is the sampling error of the simulation. Treebanks differ in some designs and not in others.
    """
    rng = np.random.default_rng(5)
    studies = 4000
    error = 4 * 100 * np.sqrt(0.05 * 0.95 / studies)
    for treebanks, seeds, tau in ((5, 1, 0.15), (5, 3, 0.0), (18, 5, 0.15)):
        simulated = simulation.simulated(rng, 0.1, tau, seeds, treebanks, studies)
        held = 100 * np.mean((simulated["low"] <= 0.1) & (simulated["high"] >= 0.1))
        assert abs(held - 95) < error + 0.5
        assert 100 * np.mean(simulated["predicted"]) > 92
        none = simulation.simulated(rng, 0.0, tau, seeds, treebanks, studies)
        assert 100 * np.mean(none["low"] > 0) < 2.5 + error / 1.4


def test_more_treebanks_find_smaller_effects() -> None:
    power = simulation.power(studies=200, steps=4)
    assert list(power.columns) == [
        f"{treebanks} treebanks, {seeds} seed{'s' * (seeds > 1)}" for treebanks in (5, 18) for seeds in (1, 3, 5)
    ]
    assert (power["18 treebanks, 1 seed"].iloc[1:] > power["5 treebanks, 1 seed"].iloc[1:]).all()
    assert power.iloc[0].max() < 10
    detected = simulation.detected(power)
    assert list(detected.index) == list(power.columns)
    known = detected["smallest effect detected"].dropna()
    assert all(power.loc[effect, design] >= 80 for design, effect in known.items())
    assert (power[known.index].shift().loc[known.iloc[0], known.index[0]] < 80).all()
    text = str(remarks.found(detected))
    assert f"At least 80 % of the studies detect an effect of {known.min():.2f}" in text
    without = remarks.found(simulation.detected(power * 0))
    assert str(without).startswith("No effect up to 0.60 UAS points is detected so often with 5 treebanks, 1 seed; ")


def test_sentences_give_the_range_of_all_designs() -> None:
    data = simulation.coverage(studies=300)
    assert len(data) == 36
    text = str(remarks.simulated(data))
    held = data[simulation.HOLDS]
    assert f"contains the true effect in {held.min():.1f} to {held.max():.1f} % of the studies" in text
    none = data.xs(0.0, level="effect")[simulation.ABOVE]
    assert f"{none.min():.1f} to {none.max():.1f} % of the studies would report *replicated*" in text


def test_claims_of_many_treebanks_are_drawn_apart() -> None:
    alone = Judged(PAPER, Claim.model_validate(TEXTS | {"name": "alone"}), (exact("t0", 1.0),))
    families = figures.families([judged("few", 3), judged("many", 12), judged("more", 3), alone])
    assert {
        name: [verdict.claim.name for verdict in verdicts if verdict.claim] for name, verdicts in families.items()
    } == {
        "A & B (2000)": ["few", "more"],
        "A & B (2000), many treebanks": ["many"],
    }


def test_a_forest_plot_has_a_line_a_treebank_and_the_pooled_and_published_effects() -> None:
    few = judged("few", 4, effects=[0.3, 0.5], margin=0.1)
    ratio = judged("ratio", 4, measure="speed", than=1)
    ratio = Judged(PAPER, ratio.claim, tuple(Measured(f"t{i}", 2.0 + i, 1.5 + i, 2.5 + i) for i in range(4)))
    figure = figures.forest([few, judged("same", 4, effects=[0.1], margin=0.1), ratio])
    first, second, third = figure.axes
    names = [label.get_text() for label in first.get_yticklabels()]
    assert names == ["t0", "t1", "t2", "t3", "pooled (4 treebanks)", "published"]
    # the second panel shares the labels of the first
    assert {label.get_text() for label in second.get_yticklabels()} == {""}
    assert third.get_xscale() == "log"
    assert first.get_title(loc="left").startswith("few: ")
    (diamond,) = first.patches
    assert few.effect is not None
    assert diamond.get_xy()[:, 0].min() == pytest.approx(few.effect.low)
    assert diamond.get_xy()[:, 0].max() == pytest.approx(few.effect.high)
    published, threshold = first.lines[-2:]
    assert list(published.get_xdata()) == [0.3, 0.5]
    assert list(threshold.get_xdata()) == [0, 0]
