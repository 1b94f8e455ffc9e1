"""Count significant differences by group, as rows of a table instead of one sentence per group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from studies.site.sentences import LEVEL, from_to, short_labels, significant
from studies.site.show import NOTHING, typeset

NAMED = 2  #: largest number of significant differences of a group that `outcomes` names


def columns_in_words(level: float = LEVEL) -> str:
    """Explain the columns of `outcomes`, for captions."""
    return (
        "number of tests, range of the differences, and the significant differences by name (the largest, if there are "
        f"more than {NAMED}). By chance alone, {100 * level:g} % of the tests would be significant"
    )


def outcomes(data: pd.DataFrame, by: Sequence[str], level: float = LEVEL) -> pd.DataFrame:
    """Count the significant differences in each group of comparisons.

    data   one row per comparison with difference, and p or an interval (low, high) at this level
    by     index levels that form the groups; the other index levels name a comparison of a group
    level  significance level

    Rows: groups, in the order of `data`. Columns: tests (their number), differences (from the lowest to the highest),
    significantly better, significantly worse (names with differences, or their number and the largest difference), and
    not significant (the number of tests).
    """
    rows = [(place, _outcome(group.droplevel(list(by)), level)) for place, group in _groups(data, list(by))]
    index = pd.MultiIndex.from_tuples([place for place, _ in rows] or [("",) * len(by)], names=list(by))[: len(rows)]
    return pd.DataFrame([row for _, row in rows], index=index)


def _named(differences: list[str]) -> str:
    """List differences, the largest first. If there are more than NAMED, return their number and the largest."""
    if len(differences) > NAMED:
        return typeset(f"{len(differences)}, the largest: {differences[0]}")
    return typeset("; ".join(differences) or NOTHING)


def _groups(data: pd.DataFrame, by: list[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yield the groups of a table with their labels, in the order of its rows."""
    for place, group in data.groupby(level=by, sort=False):
        yield place if isinstance(place, tuple) else (place,), group


def _outcome(rows: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return the columns of `outcomes` for the comparisons of one group."""
    is_significant, difference = significant(rows, level), rows["difference"].astype(float)
    names = pd.Series(short_labels(rows.index) if len(rows) > 1 else [str(rows.index[0])], index=range(len(rows)))
    sides = {}
    for side, sign in (("significantly better", 1), ("significantly worse", -1)):
        chosen = (is_significant & (sign * difference > 0)).to_numpy()
        shown = sorted(zip(-abs(difference[chosen]), names[chosen], difference[chosen], strict=True))
        sides[side] = _named([f"{name} {value:+.2f}" for _, name, value in shown])
    differences = typeset(from_to(difference, "{:+.2f}"))
    not_significant = int((~is_significant).sum())
    return {"tests": len(rows), "differences": differences, **sides, "not significant": not_significant}
