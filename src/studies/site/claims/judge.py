"""Judge a claim by the results of a run.

The effects of all treebanks are pooled into one, which is compared with the published effect.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from studies.site import sources
from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measure, Measured, Scale, by_treebank
from studies.site.claims.measures import MEASURES
from studies.site.claims.untested import missing
from studies.site.collect import Results
from studies.site.pooled import LEVEL, Pooled, Z, holm, p_within, pool

VERDICTS = REPLICATED, SMALLER, NO_EFFECT, CONTRADICTED, INCONCLUSIVE, NOT_TESTED = (
    "replicated",
    "replicated, smaller",
    "no effect this large",
    "contradicted",
    "inconclusive",
    "not tested",
)
UNDECIDED = INCONCLUSIVE, NOT_TESTED
#: why a measured claim stays inconclusive
REASONS = DIFFERS, UNPROVED, BELOW, WIDE, NO_INTERVAL = (
    "test differs",
    "sentences without proof",
    "not as large as published",
    "wide interval",
    "no interval",
)
#: what the tables call the verdicts on claims of this project, which no paper makes
OURS = {REPLICATED: "holds", SMALLER: "holds", CONTRADICTED: "does not hold"}
#: verdicts in the order of the rows of a table of claims: first what a reader looks for, last what has no result
SHOWN = (CONTRADICTED, REPLICATED, SMALLER, NO_EFFECT, INCONCLUSIVE, NOT_TESTED)
_PASSES: dict[str, Callable[[float, float], bool]] = {
    "more": operator.gt,
    "less": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
}


#: how values that are not pooled unchanged are pooled, in words
_POOLED_AS = {
    Scale.LOG: " (geometric mean)",
    Scale.ODDS: " (pooled as log odds)",
    Scale.FISHER: " (pooled by Fisher's transformation)",
}


class Effect(NamedTuple):
    """The effect of a claim, pooled over all corpora where it was measured, in the unit of its measure.

    treebanks   number of treebanks
    value, low, high   the effect with its 95 % interval; low and high are NaN if there is no interval
    pooled      the meta-analysis behind the effect, on the scale of the measure; None for one treebank
    """

    treebanks: int
    value: float
    low: float
    high: float
    pooled: Pooled | None

    @property
    def has_interval(self) -> bool:
        """Return True if the effect has a 95 % interval, which means that `low` is not NaN."""
        return self.low == self.low


@dataclass(frozen=True)
class Judged:
    """A claim, the measured values that bear on it, and the verdict.

    claim     the claim; None if the file of the paper has no claims yet
    beside    the values of the rows `beside` of the claim, which decide nothing
    adjusted  p-value of `effect`, adjusted for all claims of the paper, or for all of ours beside them (Holm); None if
              there is no p-value
    missing   what the run lacks to test the claim, as a clause, see `untested.missing`; empty if something was measured
    """

    paper: Paper
    claim: Claim | None
    measured: tuple[Measured, ...] = ()
    beside: tuple[Measured, ...] = ()
    adjusted: float | None = None
    missing: str = ""

    @cached_property
    def effect(self) -> Effect | None:
        """Return the pooled effect, or None if nothing was measured or the test is `all`."""
        if self.claim is None or not self.measured or self.claim.test == "all":
            return None
        return effect_of(self.measured, MEASURES[self.claim.measure].scale, self.claim.than)

    @property
    def p(self) -> float | None:
        """Return the two-sided p-value of the hypothesis that the effect equals the threshold of the claim.

        For the test `within` it is the p-value of `pooled.p_within`. Return None if no effects were pooled, for
        instance because there is a single treebank.
        """
        if self.claim is None or self.effect is None or self.effect.pooled is None:
            return None
        if self.claim.test != "within":
            return float(self.effect.pooled.p)
        return p_within(self.effect.pooled, *map(MEASURES[self.claim.measure].scale.to, _tolerated(self.claim)))

    @property
    def verdict(self) -> str:
        """Return the verdict, one of VERDICTS; see `verdict_of`."""
        if self.claim is None or not self.measured:
            return NOT_TESTED
        if self.claim.otherwise:
            return INCONCLUSIVE
        if self.claim.test == "all":
            missed = CONTRADICTED if not self.claim.limit else INCONCLUSIVE
            return REPLICATED if all(place.value == 100 for place in self.measured) else missed
        assert self.effect is not None
        return verdict_of(self.claim, self.effect)

    @property
    def counted_as(self) -> str:
        """Return the verdict for counts, where an effect that is replicated but smaller counts as replicated."""
        return REPLICATED if self.verdict == SMALLER else self.verdict

    @property
    def reason(self) -> str:
        """Return why the claim stays inconclusive, one of REASONS; empty for all other verdicts."""
        if self.claim is None or self.verdict != INCONCLUSIVE:
            return ""
        if self.claim.otherwise:
            return DIFFERS
        if self.effect is None:
            return UNPROVED
        if not self.effect.has_interval:
            return NO_INTERVAL
        return WIDE if self.claim.test == "within" or _reached(self.claim, self.effect) else BELOW

    @property
    def on_one_treebank(self) -> bool:
        """Return True if the claim was measured, but on a single treebank, which says nothing about other treebanks."""
        return len({place.treebank for place in self.measured}) == 1

    @property
    def significant(self) -> bool:
        """Return True if the effect is significant after adjustment for the number of claims of the paper."""
        return self.adjusted is not None and self.adjusted <= 1 - LEVEL

    @property
    def words(self) -> str:
        """Return the verdict for tables.

        It says why a claim stays inconclusive, and if a decided claim was measured on a single treebank.
        """
        verdict = self.verdict
        words = OURS.get(verdict, verdict) if self.claim is not None and self.claim.ours else verdict
        if verdict in UNDECIDED:
            return f"{words}: {self.reason}" if self.reason else words
        return f"{words} (one treebank)" if self.on_one_treebank else words

    @property
    def because(self) -> str:
        """Explain the verdict in a few sentences, with the values on which it is based.

        The sentences can be read without the table of the claim.
        """
        return self._explained(brief=False)

    @property
    def brief(self) -> str:
        """Explain the verdict as `because`, but without the sentences that `spread` returns."""
        return self._explained(brief=True)

    def _explained(self, brief: bool) -> str:
        """Return the text of `brief` or of `because`."""
        if self.claim is None:
            return "The claims of this paper have not been written down yet."
        if self.claim.needs:
            return f"A test of this claim needs {self.claim.needs}."
        if not self.measured:
            return f"Not tested: {self.missing or 'the run has no figure for it'}."
        if self.effect is None:
            return _all_in_words(self.claim, self.measured)
        description = _effect_in_words(self.effect, self.measured, MEASURES[self.claim.measure], brief)
        if not brief and self.spread:
            description += f" {self.spread}"
        if self.claim.otherwise:
            description += f" The test differs from the claim: {self.claim.otherwise}."
        return f"{description} {_beside_in_words(self.claim, self.beside)}" if self.beside else description

    @property
    def spread(self) -> str:
        """Describe how the effect varies between treebanks and what could be detected; empty without a pooled effect.

        The table of all claims has these sentences; the tables of single pages leave them out.
        """
        if self.claim is None or self.effect is None:
            return ""
        return _spread_in_words(self.claim, self.measured, self.effect, self.verdict)

    @property
    def figures(self) -> str:
        """List all measured values, each with the corpus where it was measured and its interval."""
        text = MEASURES[self.claim.measure].text if self.claim and self.measured else ""
        return "; ".join(value_in_words(place, text) for place in self.measured)


def of_papers(judged: Iterable[Judged]) -> list[Judged]:
    """Return the judged claims of papers, without claims of this project."""
    return [entry for entry in judged if entry.claim is not None and not entry.claim.ours]


def effect_of(places: Sequence[Measured], scale: Scale = Scale.LINEAR, null: float | None = 0.0) -> Effect:
    """Pool one or more measured values. Ratios are pooled as logarithms, shares as log odds.

    If all shares are 0 or all are 100 %, so is the pooled share, which is not finite as log odds.

    places  values measured on different corpora, or on different splits of a corpus
    null    the effect that the p-value tests, in the unit of the measure. There is no p-value if `null` is None or not
            finite on the scale
    """
    treebanks = by_treebank(places, scale)
    if len(treebanks) == 1:
        _, value, variance = treebanks[0]
        half = Z * np.sqrt(variance)
        low, high = scale.back(value - half), scale.back(value + half)
        value = _between(scale.back(value), places) if scale is Scale.ODDS else scale.back(value)
        low, high = min(low, value), max(high, value)
        if all(np.isnan(place.low) for place in places):
            low = high = float("nan")
        if len(places) == 1:  # keep the interval as measured: it may be asymmetric
            value, low, high = places[0].value, places[0].low, places[0].high
        return Effect(1, value, low, high, None)
    _, effects, variances = zip(*treebanks, strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        threshold_on_scale = scale.to(null) if null is not None else float("nan")
    pooled = pool(effects, variances, threshold_on_scale if np.isfinite(threshold_on_scale) else 0.0)
    if not np.isfinite(threshold_on_scale):
        pooled = pooled._replace(p=np.asarray(float("nan")))
    value, low, high = (scale.back(float(x)) for x in (pooled.mean.effect, pooled.mean.low, pooled.mean.high))
    if scale is Scale.ODDS:
        value = _between(value, places)
        low, high = min(low, value), max(high, value)
    return Effect(len(treebanks), value, low, high, pooled)


def _between(value: float, places: Sequence[Measured]) -> float:
    """Return a pooled share that lies between the smallest and the largest share.

    Half a case is added to each share to pool it, so that the mean of several shares of 100 % would be less than 100 %.
    """
    shares = [place.value for place in places]
    return min(max(value, min(shares)), max(shares))


def verdict_of(claim: Claim, effect: Effect) -> str:
    """Compare the pooled effect with the published effect and the threshold of a claim, and return the verdict.

    Replicated: the interval lies on the claimed side of the threshold, and reaches or exceeds the published effect.
    Replicated, smaller: the interval lies on the claimed side, but does not reach the published effect.
    Contradicted: the interval lies on the other side.
    No effect this large: the interval does not reach the published effect, and lies within the margin around the
    threshold.
    Inconclusive: all other cases, and every effect without an interval.

    A claim with a tolerance is replicated if the whole interval lies within the tolerance, and contradicted if the
    whole interval lies outside.
    """
    if not effect.has_interval:
        return INCONCLUSIVE
    low, high = effect.low, effect.high
    if claim.test == "within":
        first, last = _tolerated(claim)
        if first <= low and high <= last:
            return REPLICATED
        return CONTRADICTED if high < first or last < low else INCONCLUSIVE
    assert claim.than is not None
    passed = [_PASSES[claim.test](end, claim.than) for end in (low, high)]
    reached = _reached(claim, effect)
    if all(passed):
        return REPLICATED if reached else SMALLER
    if not any(passed):
        return CONTRADICTED
    ends = _margin(claim)
    if not reached and ends is not None and ends[0] <= low and high <= ends[1]:
        return NO_EFFECT
    return INCONCLUSIVE


def _tolerated(claim: Claim) -> tuple[float, float]:
    """Return the ends of the values that a claim with the test `within` allows."""
    assert claim.than is not None
    assert claim.tolerance is not None
    return claim.than - claim.tolerance, claim.than + claim.tolerance


def _reached(claim: Claim, effect: Effect) -> bool:
    """Return True if the interval reaches or exceeds the published effect, or if none is published."""
    if claim.effect is None:
        return True
    return effect.high >= claim.effect if claim.test in ("more", "at least") else effect.low <= claim.effect


def least_favourable(claim: Claim, places: Sequence[Measured]) -> list[Measured]:
    """Return the measured values of the pair of rows that speaks least for a claim about several pairs.

    A claim about several pairs holds if it holds for each of them. Each pair is pooled over its treebanks. The smallest
    difference on every single treebank would be biased against the claim, because noise makes it smaller.
    """
    groups: dict[str, list[Measured]] = {}
    for place in places:
        groups.setdefault(place.pair, []).append(place)
    if len(groups) < 2 or claim.test == "all":
        return list(places)
    upwards = claim.test in ("more", "at least")

    def support(pair: str) -> float:
        """Return the end of the pooled interval that is nearer to the other side; without an interval, the value."""
        effect = effect_of(groups[pair], MEASURES[claim.measure].scale, claim.than)
        if not effect.has_interval:
            return effect.value if upwards else -effect.value
        return effect.low if upwards else -effect.high

    return groups[min(groups, key=support)]


def _margin(claim: Claim) -> tuple[float, float] | None:
    """Return the ends of the margin around the threshold of a claim, or None if the claim has no margin.

    The margin ends at the published effect if it is nearer to the threshold.
    """
    if claim.margin is None or claim.than is None or claim.effect is None:
        return None
    ratio = MEASURES[claim.measure].scale is Scale.LOG
    low = claim.than / claim.margin if ratio else claim.than - claim.margin
    high = claim.than * claim.margin if ratio else claim.than + claim.margin
    return (low, min(high, claim.effect)) if claim.test in ("more", "at least") else (max(low, claim.effect), high)


def _away_from_zero(value: float) -> float:
    """Return a published effect, so that its format rounds ties away from zero: 0.175 becomes 0.18, and not 0.17."""
    return value * (1 + 1e-12)


def threshold(claim: Claim) -> str:
    """Describe the test of a claim in one line: threshold, published effect and margin."""
    if not claim.measure:
        return ""
    if claim.test == "all":
        return "100 % everywhere"
    assert claim.than is not None
    text = MEASURES[claim.measure].text
    if claim.test == "within":
        first, last = _tolerated(claim)
        return f"{_number(text).format(first)} to {text.format(last)}"
    parts = [f"{claim.test if claim.test.startswith('at') else f'{claim.test} than'} {text.format(claim.than)}"]
    if claim.effect is not None:
        parts.append(f"published {_number(text).format(_away_from_zero(claim.effect))}")
        if (ends := _margin(claim)) is not None:
            shown = [_number(text).format(_away_from_zero(end)) for end in ends]
            parts.append(f"no effect if between {shown[0]} and {shown[1]}")
    return ", ".join(parts)


def _all_in_words(claim: Claim, measured: Sequence[Measured]) -> str:
    """Describe the values of a claim whose test is `all`: rows, places of measurement, and values below 100 %."""
    treebanks = list(dict.fromkeys(place.treebank for place in measured))
    rows = f"Row {' and '.join(claim.rows)}: " if claim.rows else ""
    every = f"all {len(measured)} treebanks" if len(measured) > 1 else f"the only treebank, {treebanks[0]}"
    some = f"{len(measured)} treebanks" if len(measured) > 1 else "one treebank"
    if len(treebanks) < len(measured):
        some = f"{len(measured)} measurements ({'; '.join(place.place for place in measured)})"
        every = f"each of {some}"
    below = [place for place in measured if place.value != 100]
    if not below:
        return f"{rows}100 % on {every}."
    lowest = min(below, key=lambda place: place.value)
    stopped = f" The sentences without a proof were {claim.limit}, so they do not contradict the claim." * bool(
        claim.limit
    )
    return (
        f"{rows}below 100 % on {len(below)} of {some}; the lowest value is "
        f"{value_in_words(lowest, MEASURES[claim.measure].text)}.{stopped}"
    )


def _effect_in_words(effect: Effect, measured: Sequence[Measured], measure: Measure, brief: bool) -> str:
    """Describe the effect of a claim, pooled over treebanks or measured on one.

    brief  True says in two words that there is one treebank
    """
    text, number = measure.text, _number(measure.text)
    pair = measured[0].pair
    pair = f"Of several pairs, the interval of {pair} speaks least for the claim: " if pair else ""
    if effect.pooled is None:
        (treebank,) = {place.treebank for place in measured}
        value = pair + value_in_words(Measured(treebank, effect.value, effect.low, effect.high), text)
        mean_of = f", mean of {len(measured)} measurements" if len(measured) > 1 else ""
        seeds = f", mean of {measured[0].seeds} seeds" if measured[0].seeds > 1 else ""
        places = ", one treebank." if brief else ". This was measured on one treebank, which says nothing about others."
        without = "" if effect.has_interval else " The value has no interval, so the claim stays undecided."
        return f"{value}{mean_of}{seeds}{places}{without}"
    interval = f"[{number.format(effect.low)}, {number.format(effect.high)}]"
    counts = sorted({place.seeds for place in measured})
    seeds_text = f", {counts[0]} seeds" if counts[0] > 1 else ""
    seeds_text = f", {counts[0]} to {counts[-1]} seeds each" if len(counts) > 1 else seeds_text
    mean = _POOLED_AS.get(measure.scale, "")
    width = ", its least width," * bool(effect.pooled.narrowest)
    return f"{pair}{text.format(effect.value)}{mean} {interval}{width} over {effect.treebanks} treebanks{seeds_text}."


def _beside_in_words(claim: Claim, places: Sequence[Measured]) -> str:
    """Describe the values of the rows `beside` of a claim: each value, or the pooled effect of more than two values."""
    measure, rows = MEASURES[claim.measure], " against ".join(claim.beside)
    if len(places) > 2:
        values = _effect_in_words(effect_of(places, measure.scale, claim.than), places, measure, brief=True)
    else:
        values = f"{'; '.join(value_in_words(place, measure.text) for place in places)}."
    return f"Beside this test, {rows}: {values}"


def _spread_in_words(claim: Claim, measured: Sequence[Measured], effect: Effect, verdict: str) -> str:
    """Describe how much the pooled effect varies between treebanks, and which effects the test could detect."""
    measure, pooled = MEASURES[claim.measure], effect.pooled
    number = _number(measure.text)
    text = number if "(" in measure.text else measure.text  # a unit in brackets would follow each number
    if pooled is None:
        return ""
    lowest, highest = (choose(measured, key=lambda place: place.value) for choose in (min, max))
    description = (
        f"The values range from {number.format(lowest.value)} ({lowest.place}) to {text.format(highest.value)} "
        f"({highest.place})."
        if lowest.value < highest.value
        else f"All values are {text.format(lowest.value)}."
    )
    if pooled.narrowest:
        description += (
            " The treebanks agree more closely than their own errors explain. The interval therefore has its "
            "least width, which these errors alone would give it."
        )
    if effect.treebanks > 2:
        low, high = (measure.scale.back(float(x)) for x in (pooled.predicted_low, pooled.predicted_high))
        share = f"; I² is {float(pooled.I2):.0f} %" * has_own_errors(measured)
        between = f"{number.format(low)} and {text.format(high)}"
        description += f" The effect expected on one more treebank lies between {between}{share}."
    if verdict == INCONCLUSIVE and claim.test != "within" and has_own_errors(measured):
        assert claim.than is not None
        passed = [_PASSES[claim.test](end, claim.than) for place in measured for end in (place.low, place.high)]
        if all(passed) or not any(passed):
            which, side = "For this pair, each" if measured[0].pair else "Each", "claimed" if all(passed) else "other"
            description += f" {which} of the {effect.treebanks} treebanks lies on the {side} side by its own interval."
    if verdict == INCONCLUSIVE and measure.scale is Scale.LINEAR and claim.test != "within" and effect.treebanks > 2:
        assert claim.than is not None
        upwards, half = claim.test in ("more", "at least"), (effect.high - effect.low) / 2
        description += (
            f" With an interval of this width, an estimate of {'at least' if upwards else 'at most'} "
            f"{text.format(claim.than + (half if upwards else -half))} would be significant."
        )
    if claim.effect is not None and not effect.low <= claim.effect <= effect.high:
        description += (
            f" The published effect, {text.format(_away_from_zero(claim.effect))}, lies outside the interval."
        )
    return description


def has_own_errors(measured: Sequence[Measured]) -> bool:
    """Return True if every value has an interval, so that the errors of single treebanks are known."""
    return all(place.low < place.high for place in measured)


def _number(text: str) -> str:
    """Return the replacement field of a format string, for instance `{:.1f}` of `{:.1f} %`."""
    return text[text.index("{") : text.index("}") + 1]


def value_in_words(measured: Measured, text: str) -> str:
    """Describe a measured value with the corpus where it was measured and, if it has one, its interval.

    text  format of a value with its unit, see `Measure`
    """
    low, high = (_number(text).format(end) for end in (measured.low, measured.high))
    ends = f" [{low}, {high}]" if measured.low < measured.high else ""
    seeds = f", {measured.seeds} seeds" if measured.seeds > 1 else ""
    return f"{text.format(measured.value)}{ends} ({measured.place}{seeds})"


def judge(runs: Sequence[Results], papers: Sequence[Paper], page: str = "") -> list[Judged]:
    """Judge every claim of the given papers by the results of the runs.

    runs  runs whose results are judged together: a main run, and optionally a run over more corpora
    page  name of a notebook: only the results behind its own claims are recorded as its sources; empty: all results are
    """
    verdicts = []
    for paper in papers:
        judged = []
        for claim in paper.claims or (None,):
            places: list[Measured] = []
            beside: list[Measured] = []
            if claim is not None and claim.measure:
                with nullcontext() if page in ("", claim.page) else sources.unrecorded():
                    for results in runs:
                        places += _measured(results, claim, claim.rows)
                        beside += _measured(results, claim, claim.beside) if claim.beside else ()
            known, lacks = tuple(place for place in places if place.value == place.value), ""
            if claim is not None:
                known = tuple(least_favourable(claim, known))
            if claim is not None and claim.measure and not known:
                with sources.unrecorded():
                    lacks = missing(claim, runs)
            judged.append(Judged(paper, claim, known, tuple(beside), missing=lacks))
        verdicts += _adjusted(judged)
    return verdicts


def _measured(results: Results, claim: Claim, rows: Sequence[str]) -> list[Measured]:
    """Return the values of the measure of a claim for some rows of a run, on the treebanks of the claim."""
    values = MEASURES[claim.measure].read(results, rows, claim.compare)
    return [value for value in values if not claim.corpora or value.treebank in claim.corpora]


def _adjusted(judged: Sequence[Judged]) -> list[Judged]:
    """Return the judged claims of one paper, with each p-value adjusted for the number of claims (Holm).

    The claims of the paper and the claims of this project beside them are two families, each adjusted alone.
    """
    adjusted: dict[int, float] = {}
    for ours in (False, True):
        p = {
            i: entry.p
            for i, entry in enumerate(judged)
            if entry.claim is not None and entry.claim.ours == ours and entry.p is not None and entry.p == entry.p
        }
        if p:
            adjusted |= dict(zip(p, holm(list(p.values())), strict=True))
    return [replace(claim, adjusted=float(adjusted[i])) if i in adjusted else claim for i, claim in enumerate(judged)]
