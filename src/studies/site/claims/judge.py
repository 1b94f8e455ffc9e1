"""The verdict of a run on a claim: what its values say in every place that has them, and all of them together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measured
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results

VERDICTS = HOLDS, MIXED, CONTRADICTED, UNDECIDED, NOT_TESTED = (
    "holds",
    "mixed",
    "contradicted",
    "undecided",
    "not tested",
)
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "more": operator.gt,
    "less": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
}


@dataclass(frozen=True)
class Judged:
    """A claim, what was measured of it, and the verdict. claim: None where a paper has none yet."""

    paper: Paper
    claim: Claim | None
    measured: tuple[Measured, ...] = ()

    @property
    def sides(self) -> tuple[int, ...]:
        """For every place: 1 it bears the claim out, -1 it contradicts it, 0 its interval allows both."""
        assert self.claim is not None
        return tuple(side(self.claim, one) for one in self.measured)

    @property
    def verdict(self) -> str:
        """One of VERDICTS.

        It holds where more than half of the places bear it out and none contradicts it, is contradicted where it is the
        other way round, undecided where no place tells, and not tested where there is none.
        """
        if self.claim is None or not self.sides:
            return NOT_TESTED
        if not any(self.sides):
            return UNDECIDED
        out, against = self.sides.count(1), self.sides.count(-1)
        if not against and 2 * out > len(self.sides):
            return HOLDS
        return CONTRADICTED if not out and 2 * against > len(self.sides) else MIXED

    @property
    def because(self) -> str:
        """One sentence with the figures that the verdict rests on."""
        if self.claim is None:
            return "Its claims are not written down yet."
        if self.claim.needs:
            return f"It needs {self.claim.needs}."
        if not self.measured:
            return "The rows or corpora that it reads are not there."
        text, values = MEASURES[self.claim.measure].text, [one.value for one in self.measured]
        if len(self.measured) == 1:
            (one,) = self.measured
            return f"{said(one, text)}, {_TOLD[self.sides[0]]}."
        out, against, n = self.sides.count(1), self.sides.count(-1), len(self.sides)
        low, middle = (_number(text).format(value) for value in (min(values), median(values)))
        spread = f"{low} to {text.format(max(values))}, median {middle}"
        if text.format(max(values)) == text.format(min(values)):
            spread = f"{text.format(max(values))} everywhere"
        return f"{spread}; of {n} tests {out} for it, {against} against it, {n - out - against} undecided."

    @property
    def figures(self) -> str:
        """Every value with its place and interval."""
        text = MEASURES[self.claim.measure].text if self.claim and self.measured else ""
        return "; ".join(said(one, text) for one in self.measured)


_TOLD = {1: "which is for it", -1: "which is against it", 0: "whose interval allows both"}


def _number(text: str) -> str:
    """The format of a value without its unit."""
    return text[text.index("{") : text.index("}") + 1]


def said(one: Measured, text: str) -> str:
    """A value with its interval, where it has one, and its place."""
    low, high = (_number(text).format(end) for end in (one.low, one.high))
    ends = f" [{low}, {high}]" if one.low < one.high else ""
    return f"{text.format(one.value)}{ends} ({one.place})"


def side(claim: Claim, one: Measured) -> int:
    """1, -1 or 0: the test of a claim on one value, whose whole interval must pass, or fail."""
    assert claim.than is not None
    if claim.test == "within":
        assert claim.tolerance is not None
        low, high = claim.than - claim.tolerance, claim.than + claim.tolerance
        return 1 if low <= one.low and one.high <= high else -1 if one.high < low or high < one.low else 0
    passed = [_TESTS[claim.test](end, claim.than) for end in (one.low, one.high)]
    return 1 if all(passed) else 0 if any(passed) else -1


def judge(runs: Sequence[Results], papers: Sequence[Paper]) -> list[Judged]:
    """Every claim of these papers, judged by runs that belong together: a main one, and one over more corpora."""
    out = []
    for paper in papers:
        for claim in paper.claims or (None,):
            found: list[Measured] = []
            if claim is not None and claim.measure:
                for results in runs:
                    measured = MEASURES[claim.measure].read(results, claim.rows, claim.compare)
                    found += [m for m in measured if not claim.corpora or m.place.partition(",")[0] in claim.corpora]
            out.append(Judged(paper, claim, tuple(one for one in found if one.value == one.value)))
    return out
