"""Compare a run on this machine with the reference run: confirmed, differs, undecided, or not run here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan, nan

from studies.site.claims.judge import INCONCLUSIVE, NOT_TESTED, Judged
from studies.site.claims.measures import MEASURES

CONFIRMED, DIFFERS, NOT_RUN, ONLY = "confirmed here", "differs here", "not run here", "only run here"
OPEN = "undecided here"  #: the reference decides a claim that this run leaves undecided


def of_claim(reference: Judged, here: Judged) -> str:
    """Say whether two runs agree on a claim.

    They agree if their verdicts have the same direction, or if all values that both runs measured in the same place are
    the same as printed. A run on one treebank often leaves a claim undecided, which contradicts nothing.
    """
    if not here.measured:
        return NOT_RUN
    if not reference.measured:
        return ONLY
    if reference.counted_as == here.counted_as:
        return CONFIRMED
    assert reference.claim is not None
    text = MEASURES[reference.claim.measure].text
    values = {place.place: text.format(place.value) for place in reference.measured}
    shared = [(values[place.place], text.format(place.value)) for place in here.measured if place.place in values]
    if shared and all(a == b for a, b in shared):
        return CONFIRMED
    return OPEN if here.verdict == INCONCLUSIVE else DIFFERS


def of_claims(reference: Sequence[Judged], here: Sequence[Judged]) -> Counter[str]:
    """Count the answers of `of_claim` over the claims that at least one of the two runs tests.

    Both lists hold the same claims in the same order.
    """
    pairs = zip(reference, here, strict=True)
    return Counter(of_claim(a, b) for a, b in pairs if (a.verdict, b.verdict) != (NOT_TESTED, NOT_TESTED))


def of_values(reference: Mapping[str, float], here: Mapping[str, float], digits: int = 2) -> str:
    """Say whether all values that both runs have are equal after rounding to `digits` decimals.

    reference, here  values by place, for instance the UAS by corpus; NaN counts as missing
    """
    shared = [name for name, value in here.items() if not isnan(value) and not isnan(reference.get(name, nan))]
    if not shared:
        return NOT_RUN
    return CONFIRMED if all(f"{reference[n]:.{digits}f}" == f"{here[n]:.{digits}f}" for n in shared) else DIFFERS


def under_heading(answer: str) -> str:
    """Return an answer without `here`, for a column whose heading says where."""
    return answer.replace(" here", "")


def counted(counts: Mapping[str, int]) -> str:
    """Describe the counts of `of_claims` in words, for instance `12 confirmed here, 3 differ here, 15 not run here`."""
    names = {CONFIRMED: CONFIRMED, DIFFERS: "differ here" if counts.get(DIFFERS, 0) > 1 else DIFFERS, NOT_RUN: NOT_RUN}
    names |= {OPEN: OPEN, ONLY: ONLY}
    return ", ".join(f"{counts[kind]} {name}" for kind, name in names.items() if counts.get(kind))
