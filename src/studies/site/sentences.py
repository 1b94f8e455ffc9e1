"""The makers of sentences: what every remark is put together from.

A figure that differs comes with its interval and p, or is said not to be tested; a range with the places of its ends; a
share with its whole; several tests with how many of them chance alone would pass. A remark is a generator of sentences
under `about`, which keeps the cells that each rests on, so that they can be read beside it (`report.statements`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd

from studies.site.collect import REFERENCE, THIS_RUN
from studies.site.pooled import Z, pool
from studies.site.show import Remarks, Sentence, said_p
from treebound.metrics.calibration import wilson

LEVEL = 0.05  #: p below which a difference counts as significant
FEW = 8  #: rows of a comparison that are all named; of more, the significant ones
RUNS = (f", {REFERENCE}", f", {THIS_RUN}")  #: ends of labels, said once a page
ONE_SEED = "Each figure is one training with one seed."
UNTESTED = "These differences were not tested."

Said = Iterator[str | tuple[str, Any]]  #: sentences, alone or with the rows that they rest on


def about(absent: str = "") -> Callable[[Callable[..., Said]], Callable[..., Remarks]]:
    """A remark of what a generator says about its first argument, a table; `absent`: of one without rows."""

    def made(remark: Callable[..., Said]) -> Callable[..., Remarks]:
        @wraps(remark)
        def say(data: Any, *more: Any, **named: Any) -> Remarks:
            if absent and not len(data):
                return Remarks((absent,))
            pairs = (said if isinstance(said, tuple) else (said, data) for said in remark(data, *more, **named))
            return Remarks(tuple(Sentence.on(text, rows) for text, rows in pairs))

        return say

    return made


def named(label: Any) -> str:
    """The label of a row, levels joined."""
    return " · ".join(str(part) for part in label if str(part)) if isinstance(label, tuple) else str(label)


def told_apart(index: pd.Index) -> list[str]:
    """The labels of rows, without levels, and without the name of a run, that are the same in all of them."""
    same = [level for level in range(index.nlevels) if index.get_level_values(level).nunique() == 1]
    labels = [named(label) for label in (index.droplevel(same) if 0 < len(same) < index.nlevels else index)]
    run = next((run for run in RUNS if all(label.endswith(run) for label in labels)), "")
    return [label.removesuffix(run) for label in labels]


def listing(parts: Iterable[Any], nothing: str = "none") -> str:
    """Things side by side, or that there are none."""
    return ", ".join(map(named, parts)) or nothing


def how_many_corpora(names: Iterable[str]) -> str:
    """How many corpora rows of such names have, `tr_twt` or `tr_twt, this run`: one that two runs have is one."""
    counted = Counter(name.partition(", ")[0] for name in names)
    twice = [name for name, count in counted.items() if count > 1]
    more = f" ({listing(twice)} in two runs)" if twice else ""
    return f"{len(counted)} {'corpus' if len(counted) == 1 else 'corpora'}{more}"


def difference(row: Any) -> str:
    """A difference in points with its interval and its p, as far as it has them; or that it was not tested.

    row  difference; low, high, p, and the number of seeds that it is a mean of, as far as there are any
    """
    low, high, p = (row.get(name, float("nan")) for name in ("low", "high", "p"))
    ends = f" [{low:+.2f}, {high:+.2f}]" if low == low and high == high else ""
    tested = f", {said_p(p)}" if p == p else "" if ends else ", not tested"
    seeds = f", mean of {row['seeds']:.0f} seeds" if row.get("seeds", 1) > 1 else ""
    return f"{row['difference']:+.2f}{ends}{tested}{seeds}"


def differences(rows: pd.DataFrame) -> str:
    """Every difference with the name of its row, the largest first."""
    order = rows["difference"].abs().argsort(kind="stable")[::-1]
    return listing(f"{rows.index[i]} ({difference(rows.iloc[i])})" for i in order)


def by_chance(tests: int, level: float = LEVEL) -> str:
    """How many of so many tests would pass a level where nothing differs."""
    expected = level * tests
    return f"about {expected:.0f}" if expected >= 1 else "fewer than one"


def told(rows: pd.DataFrame, level: float = LEVEL, short: bool = False) -> str:
    """Which differences are significant and which way, how many are not, and how many chance alone would pass.

    rows   difference, p or an interval of that level (low, high) or both; indexed by what they are of
    short  for the answer of a page: without those that are not, and without chance
    """
    rows = rows.set_axis(told_apart(rows.index))
    sure, of = rows["p"] < level if "p" in rows else (rows["low"] > 0) | (rows["high"] < 0), len(rows)
    better, worse = (rows[sure & (rows["difference"] * sign > 0)] for sign in (1, -1))
    rest = rows[~sure]
    said = f"significant at {100 * level:g} %, better: {differences(better)}; worse: {differences(worse)}"
    said += f"; not significant: {len(rest)} of {of}"
    if short:
        return said
    said += f" ({differences(rest)})" if len(rest) and of <= FEW else ""
    return said + (f"; of {of} tests {by_chance(of, level)} would pass by chance alone" if of > 1 else "")


def share(right: int, of: int) -> str:
    """A share in % of single things taken for independent, with its 95 % interval and its whole."""
    low, high = (100 * end for end in wilson(right, of))
    return f"{100 * right / of if of else float('nan'):.1f} % [{low:.1f}, {high:.1f}] of {of:,}"


def span(values: pd.Series, text: str = "{:.2f}") -> str:
    """The least and the largest of some figures with their places; of one, that."""
    values = values.dropna()
    values = values.set_axis(told_apart(values.index))
    ends = [
        f"{text.format(values.iloc[at])} ({values.index[at]})"
        for at in dict.fromkeys((values.argmin(), values.argmax()))
    ]
    return " to ".join(ends)


def ranked(values: pd.Series, text: str = "{:.2f}") -> str:
    """Figures with their places, the largest first, and that they were not tested."""
    order = values.set_axis(told_apart(values.index)).dropna().sort_values(ascending=False, kind="stable")
    return f"{listing(f'{place} {text.format(value)}' for place, value in order.items())}. {ONE_SEED} {UNTESTED}"


def correlation(x: pd.Series, y: pd.Series, groups: pd.Series | None = None) -> str:
    """Spearman's rank correlation with its interval, and between which values it lies without any one pair or group.

    groups  name of the group that each pair belongs to, for instance its language; None: every pair is its own group

    A few extreme pairs make Pearson's correlation. Ranks are less at their mercy, and the values without one pair or
    group show how much. The 95 % interval is Fisher's with the variance of Bonett & Wright (2000). There must be five
    pairs.
    """
    both = pd.DataFrame({"x": x, "y": y}).dropna()
    n = len(both)
    r = float(both["x"].corr(both["y"], method="spearman"))
    middle, half = np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), Z * np.sqrt((1 + r**2 / 2) / (n - 3))
    said = f"{r:+.2f} [{np.tanh(middle - half):+.2f}, {np.tanh(middle + half):+.2f}] (Spearman, {n} pairs)"
    parts = {"pair": pd.Series(range(n), both.index)}
    if groups is not None:
        parts["group"] = groups.reindex(both.index)
    for what, of in parts.items():
        rest = [both[(of != name).to_numpy()] for name in of.unique()]
        without = [float(data["x"].corr(data["y"], method="spearman")) for data in rest if len(data) > 2]
        if without:
            label = groups.name if what == "group" and groups is not None else what
            said += f", without any one {label} {min(without):+.2f} to {max(without):+.2f}"
    return said


def mean_with_interval(values: pd.Series) -> str:
    """Return the mean of one figure for each treebank with its 95 % interval over treebanks, if there are several."""
    values = values.dropna().astype(float)
    if len(values) < 2:
        return f"{values.mean():+.2f}"
    mean = pool(values.to_numpy(), 0.0).mean
    return f"{float(mean.effect):+.2f} [{float(mean.low):+.2f}, {float(mean.high):+.2f}]"


def seeds_in_words(seeds: pd.Series) -> str:
    """Say how many trainings figures are means of; the index names their places."""
    places: dict[int, list[str]] = {}
    for place, count in zip(told_apart(seeds.index), seeds.astype(int), strict=True):
        places.setdefault(count, []).append(place)
    if list(places) == [1]:
        return "one training each"
    if len(places) == 1:
        return f"means of {next(iter(places))} seeds"
    several = [f"{count} seeds on {listing(names)}" for count, names in sorted(places.items()) if count > 1]
    rest = "; one training each elsewhere" if 1 in places else ""
    return f"means of {' and of '.join(several)}{rest}"


def each(data: pd.DataFrame, by: str | list[str]) -> Iterator[tuple[Any, pd.DataFrame]]:
    """The groups of a table in the order of its rows, by columns or levels of its index, which their rows lose."""
    columns = [by] if isinstance(by, str) else by
    inside = all(name in data.index.names for name in columns)
    for place, rows in data.groupby(level=by, sort=False) if inside else data.groupby(by, sort=False):
        yield place, rows.droplevel(by) if inside and rows.index.nlevels > len(columns) else rows


def unproved(shares: pd.Series, what: str) -> str:
    """Which rows a limit on the search left with fewer proofs than sentences; `shares`: % proved."""
    left = shares[shares < 100]
    if left.empty:
        return f"Every tree of {what} is proved optimal for its model."
    return (
        f"Every tree of {len(shares) - len(left)} of {len(shares)} rows is proved optimal for its model; a limit on "
        "the search left fewer proofs in the others, whose figures may be due to that: "
        f"{listing(f'{share:.1f} % of {named(at)}' for at, share in left.items())}."
    )
