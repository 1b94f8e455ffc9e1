"""Round shares in percent so that only a complete share is shown as 100 %."""

from __future__ import annotations

from math import floor

POINT = 1.0  #: loss in UAS points that the search for a fast and accurate parser accepts


def rounded(share: float, digits: int = 1) -> float:
    """Return a share in % that a table with `digits` decimals can show. NaN stays NaN.

    A share below 100 is rounded down if it would be shown as 100, because a reader takes 100 % for `all`.
    """
    if share < 100 and round(share, digits) >= 100:
        return floor(share * 10**digits) / 10**digits
    return share


def percent(part: int, whole: int) -> str:
    """Return a share in % with one decimal. Only a complete share is 100 %."""
    return f"{rounded(100 * part / whole):.1f} %"


def of_all(part: int, whole: int) -> str:
    """Return `all 20` for a complete count, and otherwise the share with its total, for instance `95.0 % of 20`."""
    return f"all {whole:,}" if part == whole else f"{percent(part, whole)} of {whole:,}"
