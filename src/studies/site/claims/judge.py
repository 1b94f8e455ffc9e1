"""The verdict of a run on a claim: the effects of all treebanks pooled into one, beside what was published."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measured, Scale, by_treebank
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.pooled import Pooled, Z, holm, pool

VERDICTS = REPLICATED, SMALLER, NO_EFFECT, CONTRADICTED, INCONCLUSIVE, NOT_TESTED = (
    "replicated",
    "replicated, smaller",
    "no effect of that size",
    "contradicted",
    "inconclusive",
    "not tested",
)
_PASSES: dict[str, Callable[[float, float], bool]] = {
    "more": operator.gt,
    "less": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
}


class Effect(NamedTuple):
    """The pooled effect of all places of a claim, in the unit of its measure.

    treebanks   how many
    value, low, high   with the 95 % interval, NaN where none is known
    pooled      the analysis behind it, on the scale of the measure; None for one treebank
    """

    treebanks: int
    value: float
    low: float
    high: float
    pooled: Pooled | None

    @property
    def sure(self) -> bool:
        """Whether there is an interval."""
        return self.low == self.low


@dataclass(frozen=True)
class Judged:
    """A claim, what was measured of it, and the verdict. claim: None where a paper has none yet.

    adjusted  p-value of `effect` adjusted for the other claims of the paper (Holm); None: there is no p-value
    """

    paper: Paper
    claim: Claim | None
    measured: tuple[Measured, ...] = ()
    adjusted: float | None = None

    @cached_property
    def effect(self) -> Effect | None:
        """The pooled effect; None where nothing was measured."""
        if self.claim is None or not self.measured or self.claim.test == "all":
            return None
        return effect_of(self.measured, MEASURES[self.claim.measure].scale, self.claim.than)

    @property
    def p(self) -> float | None:
        """Two-sided p-value of the pooled effect being the threshold of the claim; of one treebank there is none."""
        return None if self.effect is None or self.effect.pooled is None else float(self.effect.pooled.p)

    @property
    def verdict(self) -> str:
        """One of VERDICTS, see `verdict_of`."""
        if self.claim is None or not self.measured:
            return NOT_TESTED
        if self.claim.otherwise:
            return INCONCLUSIVE
        if self.claim.test == "all":
            missed = CONTRADICTED if not self.claim.limit else INCONCLUSIVE
            return REPLICATED if all(one.value == 100 for one in self.measured) else missed
        assert self.effect is not None
        return verdict_of(self.claim, self.effect)

    @property
    def because(self) -> str:
        """One or two sentences with the figures that the verdict rests on."""
        if self.claim is None:
            return "Its claims are not written down yet."
        if self.claim.needs:
            return f"It needs {self.claim.needs}."
        if not self.measured:
            return "The rows or corpora that it reads are not there."
        text = MEASURES[self.claim.measure].text
        if self.effect is None:
            missed = [one for one in self.measured if one.value != 100]
            places = f"{len(self.measured)} place{'s' * (len(self.measured) > 1)}"
            if not missed:
                return f"All of them, in {places}."
            worst = min(missed, key=lambda one: one.value)
            stopped = f" The rest was stopped after {self.claim.limit}, which proves nothing." * bool(self.claim.limit)
            return f"Not all in {len(missed)} of {places}, the least {said(worst, text)}.{stopped}"
        told = _told(self.claim, self.effect, self.measured, self.verdict)
        return f"{told} Tested otherwise than claimed: {self.claim.otherwise}." if self.claim.otherwise else told

    @property
    def figures(self) -> str:
        """Every value with its place and interval."""
        text = MEASURES[self.claim.measure].text if self.claim and self.measured else ""
        return "; ".join(said(one, text) for one in self.measured)


def effect_of(places: Sequence[Measured], scale: Scale = Scale.LINEAR, null: float | None = 0.0) -> Effect:
    """Pool the values of at least one place. Ratios are pooled as logarithms, shares as log odds.

    null  effect that the p-value tests, in the unit of the measure; None, or one that has no place on the scale: none
    """
    found = by_treebank(places, scale)
    if len(found) == 1:
        _, value, variance = found[0]
        half = Z * np.sqrt(variance)
        low, high = scale.back(value - half), scale.back(value + half)
        value = scale.back(value)
        if all(np.isnan(one.low) for one in places):
            low = high = float("nan")
        if len(places) == 1:  # as it was measured, intervals that are not symmetric included
            value, low, high = places[0].value, places[0].low, places[0].high
        return Effect(1, value, low, high, None)
    _, effects, variances = zip(*found, strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = scale.to(null) if null is not None else float("nan")
    pooled = pool(effects, variances, at if np.isfinite(at) else 0.0)
    if not np.isfinite(at):
        pooled = pooled._replace(p=np.asarray(float("nan")))
    value, low, high = (scale.back(float(x)) for x in (pooled.mean.effect, pooled.mean.low, pooled.mean.high))
    return Effect(len(found), value, low, high, pooled)


def verdict_of(claim: Claim, effect: Effect) -> str:
    """Compare a pooled effect with a claim.

    Replicated: the interval lies on the claimed side of the threshold and reaches the published effect, or beyond it.
    Replicated, smaller: it lies on that side and ends below the published effect. Contradicted: it lies on the other
    side. No effect of that size: it ends below the published effect and lies within the margin around the threshold.
    Inconclusive: anything else, and whatever has no interval. Within a tolerance: the whole interval inside or outside.
    """
    if not effect.sure:
        return INCONCLUSIVE
    low, high = effect.low, effect.high
    if claim.test == "within":
        assert claim.tolerance is not None
        assert claim.than is not None
        first, last = claim.than - claim.tolerance, claim.than + claim.tolerance
        if first <= low and high <= last:
            return REPLICATED
        return CONTRADICTED if high < first or last < low else INCONCLUSIVE
    assert claim.than is not None
    passed = [_PASSES[claim.test](end, claim.than) for end in (low, high)]
    upwards = claim.test in ("more", "at least")
    published = claim.effect
    reached = published is None or (high >= published if upwards else low <= published)
    if all(passed):
        return REPLICATED if reached else SMALLER
    if not any(passed):
        return CONTRADICTED
    ends = _margin(claim)
    if not reached and ends is not None and ends[0] <= low and high <= ends[1]:
        return NO_EFFECT
    return INCONCLUSIVE


def _margin(claim: Claim) -> tuple[float, float] | None:
    """Ends of the margin around the threshold of a claim; None: it has no margin."""
    if claim.margin is None or claim.than is None:
        return None
    if MEASURES[claim.measure].scale is Scale.LOG:
        return claim.than / claim.margin, claim.than * claim.margin
    return claim.than - claim.margin, claim.than + claim.margin


def threshold(claim: Claim) -> str:
    """Describe the test of a claim in one line: threshold, published effect and margin."""
    if not claim.measure:
        return ""
    if claim.test == "all":
        return "every one"
    assert claim.than is not None
    text = MEASURES[claim.measure].text
    if claim.test == "within":
        assert claim.tolerance is not None
        first, last = (_number(text).format(claim.than + x) for x in (-claim.tolerance, claim.tolerance))
        return f"{first} to {last}"
    parts = [f"{claim.test if claim.test.startswith('at') else f'{claim.test} than'} {text.format(claim.than)}"]
    if claim.effect is not None:
        parts.append(f"published {_number(text).format(claim.effect)}")
        if (ends := _margin(claim)) is not None:
            parts.append(f"none within {_number(text).format(ends[0])} to {_number(text).format(ends[1])}")
    return ", ".join(parts)


def _told(claim: Claim, effect: Effect, measured: Sequence[Measured], verdict: str) -> str:
    """The pooled effect in words."""
    measure = MEASURES[claim.measure]
    text, number = measure.text, _number(measure.text)
    if effect.pooled is None:
        (treebank,) = {one.treebank for one in measured}
        value = said(Measured(treebank, effect.value, effect.low, effect.high), text)
        many = f", mean of {len(measured)}" if len(measured) > 1 else ""
        seeds = f", mean of {measured[0].seeds} seeds" if measured[0].seeds > 1 else ""
        without = "" if effect.sure else " One value without an interval decides nothing."
        return f"{value}{many}{seeds}: one treebank, which says nothing of others.{without}"
    pooled = effect.pooled
    interval = f"[{number.format(effect.low)}, {number.format(effect.high)}]"
    counts = sorted({one.seeds for one in measured})
    each = f", {counts[0]} seeds" if counts[0] > 1 else ""
    each = f", {counts[0]} to {counts[-1]} seeds each" if len(counts) > 1 else each
    out = f"{text.format(effect.value)} {interval} over {effect.treebanks} treebanks{each}."
    if effect.treebanks > 2:
        ends = [number.format(measure.scale.back(float(x))) for x in (pooled.predicted_low, pooled.predicted_high)]
        out += f" Expected on one more: {ends[0]} to {ends[1]}; I² {float(pooled.I2):.0f} %."
    if verdict == INCONCLUSIVE and measure.scale is Scale.LINEAR and claim.test != "within":
        out += f" An effect of {number.format((effect.high - effect.low) / 2).lstrip('+')} would have been seen."
        if claim.effect is not None and not effect.low <= claim.effect <= effect.high:
            out += f" The published one, {number.format(claim.effect)}, is outside."
    return out


def _number(text: str) -> str:
    """The format of a value without its unit."""
    return text[text.index("{") : text.index("}") + 1]


def said(one: Measured, text: str) -> str:
    """A value with its interval, where it has one, and its place."""
    low, high = (_number(text).format(end) for end in (one.low, one.high))
    ends = f" [{low}, {high}]" if one.low < one.high else ""
    seeds = f", {one.seeds} seeds" if one.seeds > 1 else ""
    return f"{text.format(one.value)}{ends} ({one.place}{seeds})"


def judge(runs: Sequence[Results], papers: Sequence[Paper]) -> list[Judged]:
    """Every claim of these papers, judged by runs that belong together: a main one, and one over more corpora."""
    out = []
    for paper in papers:
        every = []
        for claim in paper.claims or (None,):
            found: list[Measured] = []
            if claim is not None and claim.measure:
                for results in runs:
                    measured = MEASURES[claim.measure].read(results, claim.rows, claim.compare)
                    found += [m for m in measured if not claim.corpora or m.treebank in claim.corpora]
            every.append(Judged(paper, claim, tuple(one for one in found if one.value == one.value)))
        out += _adjusted(every)
    return out


def _adjusted(every: Sequence[Judged]) -> list[Judged]:
    """The claims of one paper with p-values adjusted for each other."""
    p = {i: one.p for i, one in enumerate(every) if one.p is not None and one.p == one.p}
    adjusted = dict(zip(p, holm(list(p.values())), strict=True)) if p else {}
    return [replace(one, adjusted=float(adjusted[i])) if i in adjusted else one for i, one in enumerate(every)]
