"""The sentences about judged claims, word by word, and verdicts of intervals that end exactly at a threshold."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from studies.site import collect, sources
from studies.site.claims.judge import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_EFFECT,
    NOT_TESTED,
    REPLICATED,
    SMALLER,
    Effect,
    Judged,
    effect_of,
    judge,
    least_favourable,
    threshold,
    verdict_of,
)
from studies.site.claims.load import Claim, Paper, load
from studies.site.claims.measured import Measured, Scale, exact, share

PAPER = Paper(key="p", cite="P", title="T")
TEXTS = {"name": "a", "claim": "It helps.", "section": "4", "published": "1.0"}
EVERYWHERE = {"measure": "proved", "rows": ("a",), "test": "all", "than": None}
SPEED = {"measure": "speed", "than": 2, "effects": [4, 9]}
NULL = "-0.05 UAS points [-1.96, +1.86] over 2 treebanks. The values range from -0.20 (t1) to +0.10 UAS points (t0)."
ALONE = "This was measured on one treebank, which says nothing about others."


def claim(**settings: object) -> Claim:
    return Claim.model_validate(TEXTS | {"measure": "UAS", "rows": ("a", "b"), "than": 0} | settings)


def shown(*values: float, seeds: int = 1) -> tuple[Measured, ...]:
    return tuple(Measured(f"t{i}", value, value - 0.05, value + 0.05, seeds=seeds) for i, value in enumerate(values))


@pytest.mark.parametrize(
    ("settings", "places", "because"),
    [
        (
            EVERYWHERE,
            (share("x", 50, 50), share("y", 60, 60)),
            "Row a: 100 % on all 2 treebanks.",
        ),
        (EVERYWHERE, (share("x", 50, 50),), "Row a: 100 % on the only treebank, x."),
        (
            EVERYWHERE,
            (share("x", 49, 50), share("y", 50, 60)),
            "Row a: below 100 % on 2 of 2 treebanks; the lowest value is 83.3 % [72.0, 90.7] (y).",
        ),
        ({}, shown(0.4), f"+0.40 UAS points [+0.35, +0.45] (t0). {ALONE}"),
        ({}, shown(0.4, seeds=2), f"+0.40 UAS points [+0.35, +0.45] (t0), mean of 2 seeds. {ALONE}"),
        (
            {},
            (exact("x", 0.4),),
            f"+0.40 UAS points (x). {ALONE} The value has no interval, so the claim stays undecided.",
        ),
        (
            {},
            (Measured("x, dev", 0.4, 0.3, 0.5), Measured("x, test", 0.6, 0.5, 0.7)),
            f"+0.50 UAS points [+0.40, +0.60] (x), mean of 2 measurements. {ALONE}",
        ),
        (
            {"test": "within", "tolerance": 0.1},
            shown(0.1, -0.2, 0.05),
            "-0.02 UAS points [-0.42, +0.38] over 3 treebanks. The values range from -0.20 (t1) to +0.10 UAS points "
            "(t0). The effect expected on one more treebank lies between -0.82 and +0.78 UAS points; I² is 97 %.",
        ),
        (
            {"measure": "speed", "than": 1},
            shown(1.1, 0.9, 1.2),
            "1.06 times (geometric mean) [0.73, 1.53] over 3 treebanks. The values range from 0.90 (t1) to 1.20 times "
            "(t2). The effect expected on one more treebank lies between 0.51 and 2.20 times; I² is 97 %.",
        ),
        (
            {},
            shown(0.4, 0.5, seeds=2),
            "+0.45 UAS points [-0.19, +1.09] over 2 treebanks, 2 seeds. The values range from +0.40 (t0) to +0.50 UAS "
            "points (t1). Each of the 2 treebanks lies on the claimed side by its own interval.",
        ),
        (
            {},
            shown(-0.4, -0.5),
            "-0.45 UAS points [-1.09, +0.19] over 2 treebanks. The values range from -0.50 (t1) to -0.40 UAS points "
            "(t0). Each of the 2 treebanks lies on the other side by its own interval.",
        ),
        (
            {"otherwise": "fewer epochs"},
            shown(0.2, -0.2, 0.0),
            "+0.00 UAS points [-0.50, +0.50] over 3 treebanks. The values range from -0.20 (t1) to +0.20 UAS points "
            "(t0). The effect expected on one more treebank lies between -0.99 and +0.99 UAS points; I² is 98 %. With "
            "an interval of this width, an estimate of at least +0.50 UAS points would be significant. The test "
            "differs from the claim: fewer epochs.",
        ),
        (
            {"effects": [2.0], "margin": 0.01},
            shown(0.1, -0.2),
            f"{NULL} The published effect, +2.00 UAS points, lies outside the interval.",
        ),
        (
            {"effects": [1.0], "margin": 0.01, "otherwise": "fewer epochs"},
            shown(0.1, -0.2),
            f"{NULL} The test differs from the claim: fewer epochs.",
        ),
    ],
)
def test_the_reasons_of_verdicts(settings: dict, places: tuple[Measured, ...], because: str) -> None:
    assert Judged(PAPER, claim(**settings), places).because == because


def test_a_claim_about_several_pairs_is_judged_by_the_pair_that_speaks_least_for_it() -> None:
    """Check that pairs are pooled before they are compared: noise on single treebanks must not decide."""
    noise = (0.3, -0.3, 0.3, -0.3)
    better = [m._replace(value=m.value + 1, low=m.low + 1, high=m.high + 1, pair="a and b") for m in shown(*noise)]
    equal = [place._replace(pair="a and c") for place in shown(0.0, 0.1, 0.0, 0.1)]
    assert least_favourable(claim(), [*better, *equal]) == equal
    assert least_favourable(claim(test="less"), [*better, *equal]) == better
    assert least_favourable(claim(), better) == better
    entry = Judged(PAPER, claim(), tuple(equal))
    least = "Of several pairs, the interval of a and c speaks least for the claim: "
    assert entry.brief == f"{least}+0.05 UAS points [-0.04, +0.14] over 4 treebanks."
    alone = Judged(PAPER, claim(), tuple(equal[1:2]))
    assert alone.brief == f"{least}+0.10 UAS points [+0.05, +0.15] (t1), one treebank."
    without = [exact(place, value)._replace(pair=pair) for place, value, pair in (("x", 1.0, "p"), ("x", 2.0, "q"))]
    assert least_favourable(claim(), without) == without[:1]
    assert least_favourable(claim(test="less"), without) == without[1:]


def test_tables_name_verdicts_on_one_treebank_and_on_claims_of_this_project() -> None:
    assert Judged(PAPER, claim(), shown(0.4)).words == "replicated (one treebank)"
    assert Judged(PAPER, claim(), shown(0.4, 0.4, 0.4)).words == "replicated"
    assert Judged(PAPER, claim(), shown(0.0)).words == "inconclusive: wide interval"
    assert Judged(PAPER, claim(), (exact("x", 1.0),)).words == "inconclusive: no interval"
    assert Judged(PAPER, claim(ours=True), shown(0.4, 0.4, 0.4)).words == "holds"
    assert Judged(PAPER, claim(ours=True), shown(-0.4)).words == "does not hold (one treebank)"
    assert Judged(PAPER, claim(ours=True), ()).words == "not tested"


def test_a_margin_ends_at_the_published_effect() -> None:
    near = claim(effects=[0.05], margin=0.1)
    assert threshold(near) == "more than +0.00 UAS points, published +0.05, no effect if between -0.10 and +0.05"
    assert threshold(claim(effects=[0.5], margin=0.1)).endswith("between -0.10 and +0.10")
    less = claim(test="less", effects=[-0.05], margin=0.1)
    assert threshold(less).endswith("between -0.05 and +0.10")
    assert threshold(claim(effects=[0.5])) == "more than +0.00 UAS points, published +0.50"


def test_brief_reasons_and_lists_of_values() -> None:
    several = Judged(PAPER, claim(), (*shown(0.4, 0.5), Measured("u", 0.3, 0.2, 0.4, seeds=3)))
    assert several.brief == "+0.40 UAS points [+0.15, +0.65] over 3 treebanks, 1 to 3 seeds each."
    assert (
        several.figures == "+0.40 UAS points [+0.35, +0.45] (t0); +0.50 UAS points [+0.45, +0.55] (t1); "
        "+0.30 UAS points [+0.20, +0.40] (u, 3 seeds)"
    )
    unwritten = Judged(PAPER, None)
    assert unwritten.because == unwritten.brief == "The claims of this paper have not been written down yet."
    assert (unwritten.spread, unwritten.figures, unwritten.effect, unwritten.p) == ("", "", None, None)
    for places, settings in ((shown(0.4), {}), ((share("x", 50, 50),), EVERYWHERE)):
        assert Judged(PAPER, claim(**settings), places).spread == ""


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "more than +0.00 UAS points"),
        ({"test": "at least", "than": -0.18}, "at least -0.18 UAS points"),
        ({"test": "within", "tolerance": 0.5, "than": 1}, "+0.50 to +1.50 UAS points"),
        (
            {"effects": [0.5], "margin": 0.1},
            "more than +0.00 UAS points, published +0.50, no effect if between -0.10 and +0.10",
        ),
        (SPEED | {"margin": 1.25}, "more than 2.00 times, published 6.00, no effect if between 1.60 and 2.50"),
        (EVERYWHERE, "100 % everywhere"),
        ({"measure": "", "rows": (), "than": None, "needs": "a licence"}, ""),
    ],
)
def test_the_line_of_a_test(settings: dict, line: str) -> None:
    assert threshold(claim(**settings)) == line


@pytest.mark.parametrize(
    ("settings", "ends", "verdict"),
    [
        ({"effects": [0.5], "margin": 0.1}, (0.25, 0.5), REPLICATED),
        ({"effects": [0.5], "margin": 0.1}, (0.25, 0.375), SMALLER),
        ({"effects": [0.5], "margin": 0.125}, (-0.125, 0.125), NO_EFFECT),
        ({"effects": [0.5], "margin": 0.125}, (-0.25, 0.125), INCONCLUSIVE),
        ({"effects": [0.5], "margin": 0.125}, (-0.125, 0.25), INCONCLUSIVE),
        ({"test": "less", "effects": [-0.5], "margin": 0.1}, (-0.5, -0.25), REPLICATED),
        ({"test": "within", "tolerance": 0.5}, (-0.5, 0.5), REPLICATED),
        ({"test": "within", "tolerance": 0.5}, (0.5, 0.75), INCONCLUSIVE),
        ({"test": "within", "tolerance": 0.5}, (-0.75, -0.5), INCONCLUSIVE),
        ({"test": "within", "tolerance": 0.5}, (-0.75, -0.625), CONTRADICTED),
        ({"test": "within", "tolerance": 0.5}, (0.625, 0.75), CONTRADICTED),
        (SPEED | {"margin": 1.25}, (1.6, 2.5), NO_EFFECT),
        (SPEED | {"margin": 1.25}, (1.5, 2.5), INCONCLUSIVE),
    ],
)
def test_intervals_that_end_at_a_threshold(settings: dict, ends: tuple[float, float], verdict: str) -> None:
    assert verdict_of(claim(**settings), Effect(2, sum(ends) / 2, *ends, None)) == verdict


def test_the_p_value_tests_the_threshold_on_the_scale_of_the_measure() -> None:
    different = effect_of(shown(0.4, 0.5)).pooled
    equal = effect_of(shown(0.4, 0.5), null=0.45).pooled
    assert different is not None
    assert equal is not None
    assert different.p < 0.1
    assert effect_of(shown(0.4, 0.5), null=0.0).pooled == different
    assert equal.p == pytest.approx(1)
    ratio = effect_of(shown(1.0, 4.0), Scale.LOG, 1.0).pooled
    assert ratio is not None
    assert 0 < ratio.p < 1
    for untested in (effect_of(shown(0.4, 0.5), null=None), effect_of(shown(1.0, 4.0), Scale.LOG, 0.0)):
        assert untested.pooled is not None
        assert math.isnan(untested.pooled.p)


def test_claims_are_judged_together_by_the_corpora_that_they_name(monkeypatch: pytest.MonkeyPatch) -> None:
    committed = collect.reference(Path(__file__).parents[1])
    assert committed is not None
    rows = ("all factors", "carreras")
    claims = (
        claim(name="calls", measure="calls", rows=("k = 3", "no pruning"), than=1, page="one"),
        claim(name="accuracy", rows=rows, page="two"),
        claim(name="english", rows=rows, corpora=("en_ewt",), page="two"),
        claim(name="absent", rows=("no such row", "carreras"), page="two"),
        Claim.model_validate(TEXTS | {"name": "needs", "needs": "a licence"}),
    )
    alone = Paper(key="p", cite="P", title="T", claims=claims[1:2])
    unwritten = Paper(key="q", cite="Q", title="T")
    calls, accuracy, english, absent, needs, nothing = judge(
        [committed], [Paper(key="p", cite="P", title="T", claims=claims), unwritten]
    )
    assert [m.treebank for m in accuracy.measured] == committed.corpora
    assert [m.treebank for m in english.measured] == ["en_ewt"]
    assert (english.p, english.adjusted) == (None, None)
    assert calls.p is not None
    assert accuracy.p is not None
    low, high = sorted((calls, accuracy), key=lambda judged: judged.p)
    assert low.p < 0.05
    # there are two p-values: Holm doubles the smaller one
    assert low.adjusted == pytest.approx(2 * low.p)
    assert high.adjusted == pytest.approx(max(2 * low.p, high.p))
    assert [x.verdict for x in (absent, needs, nothing)] == [NOT_TESTED] * 3
    assert (nothing.paper, nothing.claim) == (unwritten, None)
    (twice,) = judge([committed, committed], [alone])
    assert twice.measured == accuracy.measured * 2
    for page, is_recorded in (("three", False), ("two", True), ("", True)):
        monkeypatch.setattr(sources, "_stages", {})
        judge([committed], [alone], page)
        assert bool(sources._stages) == is_recorded


def test_a_claim_about_several_pairs_keeps_the_least_favourable_one() -> None:
    committed = collect.reference(Path(__file__).parents[1])
    assert committed is not None
    judged = [x for x in judge([committed], load()) if x.claim is not None and x.claim.test != "all"]
    pairs = [{place.pair for place in entry.measured} for entry in judged]
    assert max(map(len, pairs)) == 1
    assert any(pair - {""} for pair in pairs)
