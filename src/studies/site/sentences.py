"""Build the sentences of the remarks from the figures of a run.

A difference comes with its interval and p-value, or with a note that it was not tested. A range names the rows where
its smallest and largest values occur; a share names its total. A list of several tests states how many of them would be
significant by chance alone. A remark is written as a generator of sentences with the decorator `about`. The decorator
stores the cells that each sentence was computed from, so that they can be read beside it (`studies.site.statements`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd

from studies.site.collect import REFERENCE, THIS_RUN
from studies.site.pooled import Z, pool, variance
from studies.site.show import Remarks, Sentence, p_in_words
from treebound.metrics.calibration import wilson

LEVEL = 0.05  #: p below which a difference counts as significant
FEW = 8  #: a comparison of at most this many rows names all rows; a longer comparison names only the significant rows
RUNS = (f", {REFERENCE}", f", {THIS_RUN}")  #: ends of labels that name the run; a page names it once
ONE_SEED = "Each figure comes from one training run with one seed."
UNTESTED = "These differences were not tested for significance."

Sentences = Iterator[str | tuple[str, Any]]  #: sentences, or pairs of a sentence and the table rows behind it


def about(absent: str = "") -> Callable[[Callable[..., Sentences]], Callable[..., Remarks]]:
    """Turn a generator of sentences about a table into a function that returns `Remarks`.

    absent  sentence that replaces the remark if the table has no rows; empty: the generator is run in this case, too
    """

    def decorate(generator: Callable[..., Sentences]) -> Callable[..., Remarks]:
        @wraps(generator)
        def build_remarks(data: Any, *arguments: Any, **options: Any) -> Remarks:
            if absent and not len(data):
                return Remarks((absent,), absent=True)
            pairs = (
                statement if isinstance(statement, tuple) else (statement, data)
                for statement in generator(data, *arguments, **options)
            )
            return Remarks(tuple(Sentence.on(text, rows) for text, rows in pairs))

        return build_remarks

    return decorate


def named(label: Any) -> str:
    """Return the label of a row as text, with its levels joined."""
    return " · ".join(str(part) for part in label if str(part)) if isinstance(label, tuple) else str(label)


def short_labels(index: pd.Index) -> list[str]:
    """Return the row labels as text. Index levels and run names that are the same in all rows are left out."""
    constant_levels = [level for level in range(index.nlevels) if index.get_level_values(level).nunique() == 1]
    labels = [
        named(label)
        for label in (index.droplevel(constant_levels) if 0 < len(constant_levels) < index.nlevels else index)
    ]
    run = next((run for run in RUNS if all(label.endswith(run) for label in labels)), "")
    return [label.removesuffix(run) for label in labels]


def listing(parts: Iterable[Any], nothing: str = "none") -> str:
    """Join items with commas, or return `nothing` if there are no items."""
    return ", ".join(map(named, parts)) or nothing


def joined(parts: Sequence[str]) -> str:
    """Join parts with commas and, before the last part, `and`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def how_many_corpora(names: Iterable[str]) -> str:
    """Count the corpora in names such as `tr_twt` or `tr_twt, this run`, and say so in words.

    A corpus that two runs have counts once.
    """
    counted = Counter(name.partition(", ")[0] for name in names)
    in_both_runs = [name for name, count in counted.items() if count > 1]
    note = f" ({listing(in_both_runs)} in two runs)" if in_both_runs else ""
    return f"{len(counted)} {'corpus' if len(counted) == 1 else 'corpora'}{note}"


def difference(row: Any) -> str:
    """Describe a difference in points with its interval and p-value, or say that it was not tested.

    row  has `difference`; optional: low, high, p, and seeds (number of seeds that the difference is a mean of)
    """
    low, high, p = (row.get(name, float("nan")) for name in ("low", "high", "p"))
    ends = f" [{low:+.2f}, {high:+.2f}]" if low == low and high == high else ""
    tested = f", {p_in_words(p)}" if p == p else "" if ends else ", not tested"
    seeds = f", mean of {row['seeds']:.0f} seeds" if row.get("seeds", 1) > 1 else ""
    return f"{row['difference']:+.2f}{ends}{tested}{seeds}"


def differences(rows: pd.DataFrame) -> str:
    """List all differences with the names of their rows, largest absolute value first."""
    order = rows["difference"].abs().argsort(kind="stable")[::-1]
    return listing(f"{rows.index[i]} ({difference(rows.iloc[i])})" for i in order)


def by_chance(tests: int, level: float = LEVEL) -> str:
    """Say how many of `tests` independent tests are significant by chance if there are no true differences."""
    expected = level * tests
    return f"about {expected:.0f}" if expected >= 1 else "fewer than one"


def significant(rows: pd.DataFrame, level: float = LEVEL) -> pd.Series:
    """Return bool[rows]: whether each difference is significant.

    rows  has p; a table without p has an interval (low, high) at this level, which must not contain 0
    """
    return rows["p"] < level if "p" in rows else (rows["low"] > 0) | (rows["high"] < 0)


def significance_text(rows: pd.DataFrame, level: float = LEVEL, short: bool = False) -> str:
    """List the significantly better or worse rows, count the others, and say how many are expected by chance.

    rows   has difference and p, or an interval (low, high) at this level, or both; the index names the
           comparisons
    short  True leaves out the names of the other rows and the remark about chance, for the answer at the top of a page
    """
    rows = rows.set_axis(short_labels(rows.index))
    is_significant, tests = significant(rows, level), len(rows)
    better, worse = (rows[is_significant & (rows["difference"] * sign > 0)] for sign in (1, -1))
    others = rows[~is_significant]
    text = (
        f"significantly better at the {100 * level:g} % level: {differences(better)}; "
        f"significantly worse: {differences(worse)}"
    )
    text += f"; not significant: {len(others)} of {tests}"
    if short:
        return text
    text += f" ({differences(others)})" if len(others) and tests <= FEW else ""
    return text + (
        f"; by chance alone, {by_chance(tests, level)} of {tests} tests would be significant" if tests > 1 else ""
    )


def wins(rows: pd.DataFrame, level: float = LEVEL) -> tuple[int, int]:
    """Count the comparisons in which the first side, and in which the second side, is significantly better.

    rows  see `significance_text`; `difference` is the score of the first side minus the score of the second side
    """
    chosen = significant(rows, level).to_numpy(bool)
    first, second = (int((chosen & (rows["difference"] * sign > 0).to_numpy()).sum()) for sign in (1, -1))
    return first, second


def who_is_better(
    rows: pd.DataFrame, first: str, second: str, what: tuple[str, str] = ("in", "comparisons"), level: float = LEVEL
) -> str:
    """Say who is significantly better how often: `DD is significantly better in 1 of 10 comparisons, and BP in none`.

    rows    see `wins`
    first   the first side with its verb, for example `DD is`
    second  the second side
    what    preposition and noun of the comparisons
    """
    better, worse = wins(rows, level)
    preposition, noun = what
    return (
        f"{first} significantly better {preposition} {better or 'none'} of {len(rows)} {noun}, and {second} "
        f"{preposition} {worse or 'none'}"
    )


def significance_counts(rows: pd.DataFrame, first: str, second: str, level: float = LEVEL) -> str:
    """Say who is better how often in a table whose rows are listed elsewhere on the page.

    rows, first, second  see `who_is_better`
    """
    chance = f" By chance alone, {by_chance(len(rows), level)} would be significant." if len(rows) > 1 else ""
    return f"{who_is_better(rows, first, second, level=level)} ({100 * level:g} % level).{chance}"


def percent(part: int, whole: int) -> str:
    """Describe a share in % with its 95 % interval.

    The Wilson interval assumes that the counted cases are independent.
    """
    low, high = (100 * end for end in wilson(part, whole))
    return f"{100 * part / whole if whole else float('nan'):.1f} % [{low:.1f}, {high:.1f}]"


def share(part: int, whole: int) -> str:
    """Describe a share in % with its 95 % interval and its total; see `percent`."""
    return f"{percent(part, whole)} of {whole:,}"


def span(values: pd.Series, text: str = "{:.2f}") -> str:
    """Describe the smallest and the largest of several values (or a single value) with their row labels.

    If several values look the same, no label is written.
    """
    values = values.dropna()
    if len(values) > 1 and text.format(values.min()) == text.format(values.max()):
        return text.format(values.min())
    values = values.set_axis(short_labels(values.index))
    ends = [
        f"{text.format(values.iloc[position])} ({values.index[position]})"
        for position in dict.fromkeys((values.argmin(), values.argmax()))
    ]
    return " to ".join(ends)


def from_to(values: pd.Series, text: str = "{:,.0f}") -> str:
    """Describe the smallest and the largest of several numbers without their labels; equal numbers are written once."""
    ends = dict.fromkeys((text.format(values.min()), text.format(values.max())))
    return " to ".join(ends)


def ranked(values: pd.Series, text: str = "{:.2f}") -> str:
    """List values with their row labels, largest first, and say that their differences were not tested."""
    order = values.set_axis(short_labels(values.index)).dropna().sort_values(ascending=False, kind="stable")
    return f"{listing(f'{place} {text.format(value)}' for place, value in order.items())}. {ONE_SEED} {UNTESTED}"


def correlation(x: pd.Series, y: pd.Series, groups: pd.Series | None = None) -> str:
    """Describe Spearman's rank correlation with its interval and its sensitivity to single pairs and groups.

    groups  name of the group that each pair belongs to, for instance its language; None: every pair is its own group

    The sensitivity is the range of the correlation when any one pair, or any one group, is left out. A few extreme
    pairs can determine Pearson's correlation; ranks depend less on them. The 95 % interval is Fisher's with the
    variance of Bonett & Wright (2000). At least five pairs are needed.
    """
    both = pd.DataFrame({"x": x, "y": y}).dropna()
    n = len(both)
    r = float(both["x"].corr(both["y"], method="spearman"))
    middle, half = np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), Z * np.sqrt((1 + r**2 / 2) / (n - 3))
    sentence = f"{r:+.2f} [{np.tanh(middle - half):+.2f}, {np.tanh(middle + half):+.2f}] (Spearman, {n} pairs)"
    partitions = {"pair": pd.Series(range(n), both.index)}
    if groups is not None:
        partitions["group"] = groups.reindex(both.index)
    for kind, members in partitions.items():
        remainders = [both[(members != name).to_numpy()] for name in members.unique()]
        without = [float(data["x"].corr(data["y"], method="spearman")) for data in remainders if len(data) > 2]
        if without:
            label = groups.name if kind == "group" and groups is not None else kind
            sentence += f"; leaving out any one {label} gives {min(without):+.2f} to {max(without):+.2f}"
    return sentence


def mean_with_interval(rows: pd.DataFrame) -> str:
    """Describe the mean of differences, one per treebank, with its 95 % interval if there are several treebanks.

    rows  difference, and low and high, the ends of its own interval
    """
    rows = rows[["difference", "low", "high"]].dropna(subset="difference").astype(float)
    if len(rows) < 2:
        return f"{rows['difference'].mean():+.2f}"
    mean, low, high = pooled_mean(rows)
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def pooled_mean(rows: pd.DataFrame) -> tuple[float, float, float]:
    """Return the mean of differences over several treebanks, and the ends of its 95 % interval.

    rows  difference, and low and high, the ends of its own interval; an interval may be missing (NaN)
    """
    mean = pool(rows["difference"], variance(rows["low"], rows["high"]).fillna(0)).mean
    return float(mean.effect), float(mean.low), float(mean.high)


def seeds_in_words(seeds: pd.Series) -> str:
    """Say over how many seeds the results are averaged. A long list of results is replaced by their number.

    seeds  number of seeds of each result; the index names the result, for instance by its corpus
    """
    places: dict[int, list[str]] = {}
    for place, count in zip(short_labels(seeds.index), seeds.astype(int), strict=True):
        places.setdefault(count, []).append(place)
    if list(places) == [1]:
        return "one training each"
    if len(places) == 1:
        return f"means of {next(iter(places))} seeds"
    named = sum(len(names) for count, names in places.items() if count > 1) <= FEW
    several = [
        f"{count} seeds {'on' if named else 'in'} {listing(names) if named else f'{len(names)} comparisons'}"
        for count, names in sorted(places.items())
        if count > 1
    ]
    elsewhere = f"; one training each {'elsewhere' if named else f'in {len(places[1])}'}" if 1 in places else ""
    return f"means of {' and of '.join(several)}{elsewhere}"


def each(data: pd.DataFrame, by: str | list[str]) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the groups of a table in the order of its rows.

    by  columns or index levels; the rows of a group lose these index levels
    """
    columns = [by] if isinstance(by, str) else by
    inside = all(name in data.index.names for name in columns)
    for place, rows in data.groupby(level=by, sort=False) if inside else data.groupby(by, sort=False):
        yield place, rows.droplevel(by) if inside and rows.index.nlevels > len(columns) else rows


def unproved(shares: pd.Series, what: str) -> str:
    """Say whether every tree is proved optimal, and list the rows that a limit on the search left unproved.

    shares  share of proved trees for each row, in %
    what    words that describe the rows, for the sentence
    """
    unfinished = shares[shares < 100]
    if unfinished.empty:
        return f"Every tree of {what} is proved optimal for its model."
    return (
        f"Every tree of {len(shares) - len(unfinished)} of {len(shares)} rows is proved optimal for its model. In "
        "the other rows, a limit stopped some searches before the proof, which may affect UAS. Shares of proved trees: "
        f"{listing(f'{share:.1f} % of {named(row)}' for row, share in unfinished.items())}."
    )
