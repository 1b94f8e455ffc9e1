"""The page about verdicts: a simulation with known truth, forest plots of pooled effects, and sentences about both."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from studies.across.verdicts import figures, remarks, simulation, tables
from studies.site.claims.judge import Judged
from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measured, exact
from treebound.plots.svg import Svg

PAPER = Paper(key="p", cite="A & B (2000)", title="T")
TEXTS = {"claim": "It helps.", "section": "4", "published": "1.0", "rows": ("a", "b"), "measure": "UAS", "than": 0}


def judged(name: str, places: int, **settings: object) -> Judged:
    values = tuple(Measured(f"t{i}", 0.1 * i, 0.1 * i - 0.2, 0.1 * i + 0.2) for i in range(places))
    return Judged(PAPER, Claim.model_validate(TEXTS | {"name": name} | settings), values)


def test_the_interval_has_at_least_its_nominal_coverage() -> None:
    """The interval contains the true effect in at least 95 % of simulated studies with the design of the page.

    The tolerance is the sampling error of the simulation. Treebanks differ in some designs and not in others. If they
    do not differ, the interval is wider than necessary, because it has at least the width that the errors alone give.
    """
    rng = np.random.default_rng(5)
    studies = 4000
    error = 4 * 100 * np.sqrt(0.05 * 0.95 / studies)
    for treebanks, seeds, tau in ((5, 1, 0.15), (5, 3, 0.0), (18, 5, 0.15)):
        simulated = simulation.simulated(rng, 0.1, tau, seeds, treebanks, studies)
        held = 100 * np.mean((simulated["low"] <= 0.1) & (simulated["high"] >= 0.1))
        assert 95 - error - 0.5 < held < (95 + error + 0.5 if treebanks == 18 else 99)
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


def test_the_forest_plots_of_a_paper_show_its_claims_alone() -> None:
    other = Paper(key="q", cite="C (2001)", title="T")
    claims = [judged("one", 5), judged("two", 5, measure="LAC")]
    elsewhere = Judged(other, claims[0].claim, claims[0].measured)
    drawn = figures.forests([*claims, elsewhere], "p")
    assert [picture.alt.split(".")[0] for picture in drawn if isinstance(picture, Svg)] == [
        f"Effects of each treebank, pooled and published: {name}" for name in figures.families(claims)
    ]
    assert len(drawn) == 2
    (none,) = figures.forests(claims, "q")
    assert str(none) == "No effect of this paper is pooled over several treebanks."


def test_the_claims_of_this_project_have_their_own_figure() -> None:
    claims = [judged("one", 5), judged("two", 5, ours=True)]
    assert {
        name: [item.claim.name for item in group if item.claim] for name, group in figures.families(claims).items()
    } == {
        "A & B (2000), UAS points": ["one"],
        "A & B (2000), claims of this project, UAS points": ["two"],
    }


def test_a_contradicted_claim_shows_its_adjusted_p_value() -> None:
    against = replace(judged("against", 5, than=2), adjusted=0.354)
    assert against.verdict == "contradicted"
    (axes,) = figures.forest([against]).axes
    (text,) = (text.get_text() for text in axes.texts)
    assert " ".join(text.split()) == "It helps: contradicted, adjusted p = 0.354"
    long = replace(against, claim=Claim.model_validate(TEXTS | {"name": "long", "claim": "It helps a lot " * 9}))
    (axes,) = figures.forest([long]).axes
    lines = axes.texts[0].get_text().split("\n")
    assert len(lines) > 2
    assert max(map(len, lines)) <= figures.LETTERS + 1


def test_the_csv_of_a_forest_plot_names_claims_and_treebanks() -> None:
    item = replace(judged("few", 3, effects=[0.3], margin=0.1), adjusted=0.2)
    (picture,) = figures.forests([item], "p")
    assert isinstance(picture, Svg)
    data = pd.read_csv(StringIO(picture.data))
    assert data["kind"].tolist() == ["treebank"] * 3 + ["pooled", "prediction interval", "published", "threshold"]
    assert set(data["claim"]) == {"few"}
    places = data[data["kind"] == "treebank"].set_index("treebank")
    assert places.loc["t2", ["effect", "low", "high"]].tolist() == pytest.approx([0.2, 0.0, 0.4])
    assert data.set_index("kind").loc["pooled", "p_adjusted"] == 0.2
    assert picture.caption == "Effects of each treebank, pooled and published: A & B (2000), UAS points"
    assert "It helps: " in picture.alt


def test_sentences_give_the_range_of_all_designs() -> None:
    data = simulation.coverage(studies=300)
    assert len(data) == 54
    text = str(remarks.simulated(data))
    held = data[simulation.HOLDS]
    assert f"contains the true effect in {held.min():.1f} to {held.max():.1f} % of the studies" in text
    none = data.xs(0.0, level="effect")[simulation.ABOVE]
    assert f"{none.min():.1f} to {none.max():.1f} % of the studies would report *replicated*" in text


def ratios() -> Judged:
    claim = judged("ratio", 4, measure="speed", than=1).claim
    return Judged(PAPER, claim, tuple(Measured(f"t{i}", 2.0 + i, 1.5 + i, 2.5 + i) for i in range(4)))


def test_claims_are_drawn_by_paper_and_unit() -> None:
    alone = Judged(PAPER, Claim.model_validate(TEXTS | {"name": "alone"}), (exact("t0", 1.0),))
    families = figures.families([judged("few", 3), judged("many", 12), ratios(), judged("more", 3), alone])
    assert {
        name: [verdict.claim.name for verdict in verdicts if verdict.claim] for name, verdicts in families.items()
    } == {
        "A & B (2000), UAS points": ["few", "many", "more"],
        "A & B (2000), times": ["ratio"],
    }


def test_a_forest_plot_has_a_row_per_claim_with_treebanks_and_pooled_and_published_effects() -> None:
    few, same = judged("few", 4, effects=[0.3, 0.5], margin=0.1), judged("same", 18, effects=[0.1], margin=0.1)
    figure = figures.forest([few, same])
    (axes,) = figure.axes
    names = [text.get_text() for text in axes.texts]
    assert [name.partition(":")[0] for name in names] == ["It helps"] * 2
    assert not any(text.get_in_layout() for text in axes.texts)
    assert names[0].endswith(few.words)
    bars, dots, _, pooled, diamond, threshold, published, *more = axes.lines
    assert len(more) == len(axes.lines) - 7 == 7
    assert dots.get_xdata().tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert np.nanmin(bars.get_xdata()) == pytest.approx(-0.2)
    assert few.effect is not None
    assert pooled.get_xdata().tolist() == [few.effect.low, few.effect.high]
    assert diamond.get_xdata() == [few.effect.value]
    assert published.get_xdata().tolist() == [0.3, 0.5]
    assert threshold.get_xdata().tolist() == [0, 0]
    rows = [line.get_ydata()[0] for line in (axes.lines[1], axes.lines[8])]
    assert rows[0] > rows[1], "the claims are below each other"
    assert f"It helps: {few.effect.value:+.2f} [" in figures.in_words([few, same])
    assert f"], {few.verdict}" in figures.in_words([few, same])


def test_shares_and_differences_of_shares_are_drawn_apart() -> None:
    claim = judged("share", 3, measure="optima found", than=90).claim
    share = Judged(PAPER, claim, tuple(Measured(f"t{i}", 95.0 + i, 94.0 + i, 96.0 + i) for i in range(3)))
    loss = judged("loss", 3, measure="score in the end", than=0)
    assert list(figures.families([share, loss])) == ["A & B (2000), %", "A & B (2000), difference in %"]


def test_ratios_have_a_logarithmic_axis_that_shows_every_interval() -> None:
    (axes,) = figures.forest([ratios()]).axes
    assert axes.get_xscale() == "log"
    low, high = axes.get_xlim()
    assert 0 < low < 1 < 5.5 < high


def test_the_power_of_designs_has_a_panel_per_number_of_treebanks() -> None:
    figure = figures.power(simulation.power(studies=50, steps=3))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["5 treebanks", "18 treebanks"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["1 seed", "3 seeds", "5 seeds"]


def test_undecided_claims_are_counted_by_their_reasons() -> None:
    all_proved = {"measure": "proved", "test": "all", "than": None, "limit": "stopped"}
    claims = [
        replace(judged("differs", 5, than=0, otherwise="fewer epochs"), paper=PAPER),
        replace(judged("unproved", 1, **all_proved), measured=(exact("t", 99.0),)),
        judged("below", 5, than=0.2, effects=[9.0], margin=0.1),
        judged("wide", 2),
        replace(judged("no interval", 1), measured=(exact("t", 1.0),)),
        judged("against", 5, than=2),
        replace(judged("untested", 1), measured=()),
        judged("ours", 5, ours=True),
    ]
    table = tables.reasons(claims)
    counts = table.loc["A & B (2000)"]
    assert counts["", "claims"] == 7
    assert counts[tables.UNDECIDED].to_dict() == dict.fromkeys(tables.REASONS, 1)
    assert [entry.reason for entry in claims] == [*tables.REASONS, "", "", ""]
    assert counts[tables.DECIDED].to_dict() == {"contradicted": 1}
    assert counts["", "not tested"] == 1
    text = str(remarks.decided(table, claims))
    counted = "Of 7 claims of 1 paper, 1 is contradicted and 1 is not tested. "
    assert text.startswith(f"{counted}Contradicted is 1. 5 are undecided: in 1 the ")
    assert "1 paper, none is decided. 1 are undecided" in str(remarks.decided(tables.reasons(claims[:1]), claims[:1]))
    named = replace(claims[5], claim=claims[5].claim.model_copy(update={"brief": "it helps"}))
    text = str(remarks.decided(table, [named]))
    assert "Contradicted is “it helps” (+0.20 UAS points, 5 treebanks). 5 are" in text
    assert all(f"in 1 the {words}" in text for words in remarks.WORDS.values())
    assert "among them" not in text
    other, same = Paper(key="q", cite="C (2001)", title="T"), tables.REASONS[0]
    more = [*claims, *(replace(claims[0], paper=other) for _ in range(2)), replace(claims[5], paper=other)]
    text = remarks.undecided(tables.reasons(more))
    assert text.startswith(f"7 are undecided: in 3 the {remarks.WORDS[same]} (among them all 2 of C (2001)), in 1 the ")
    assert not remarks.undecided(tables.reasons(claims[5:6]))
