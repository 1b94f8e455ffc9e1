"""Sentences about speed, pruning and sentence length, computed from the very data that the tables beside them show."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from treebound.plots.figures import pareto
from treebound.report.published import QIAN_LIU, table
from treebound.report.sentences import UNTESTED, Said, about, difference, each, listing, span
from treebound.report.show import Remarks

#: sentences that a bin of lengths must hold to be spoken of
ENOUGH = 10


@about()
def pruning(uas: pd.DataFrame, speed: pd.DataFrame, trained: Mapping[str, object]) -> Said:
    """About the accuracy and the speed half of Table 3 (`tables.pruning_table`): k = 10 against no pruning.

    trained  run -> the k of training
    """
    ten, none = "branch and bound, k = 10", "branch and bound, no pruning"
    both = ten in uas.index and none in uas.index
    every = [column for column in uas.columns if column[0]]
    found = pd.DataFrame(
        {"UAS": uas.loc[ten, every] - uas.loc[none, every], "speed": speed.loc[ten, every] / speed.loc[none, every]}
        if both
        else {},
        dtype=float,
    ).dropna()
    found.index = pd.MultiIndex.from_tuples([(corpus, run) for run, corpus in found.index], names=["", "run"])
    printed = found.index.get_level_values("run") == "published"
    for rows, who in ((found[~printed], "k = 10 against no pruning"), (found[printed], "Published")):
        if len(rows):
            yield (
                f"{who}: {span(rows['speed'], '{:.1f}')} times the speed, at {span(rows['UAS'], '{:+.2f}')} UAS.",
                rows,
            )
    if printed.all():
        yield "No k was compared with no pruning here."
        return
    yield f"{UNTESTED} The note of a row says where trees are not proved."
    for name, k in trained.items():
        if str(k) != "none":
            yield (
                f"All models of {name} were trained with k = {k}, which may be why no pruning is worse where it is: "
                "none was trained without pruning."
            )


@about()
def calls(total: pd.DataFrame) -> Said:
    """About Table 3's total of DP calls (`tables.pruning_table`): what pruning saves the search."""
    swept = total[[column for column in total.columns if column[0]]].astype(float)
    factor = (swept.max() / swept.min())[swept.count() > 1].dropna()
    yield (
        "Between the k with the fewest calls and the one with the most lies a factor of "
        f"{span(factor, '{:.1f}')}, {factor.median():.1f} in the median."
        if len(factor)
        else "Nothing was decoded with several k."
    )


@about()
def frontier(points: pd.DataFrame, seen: Mapping[str, list[str]]) -> Said:
    """About `tables.accuracy_and_speed`: what no other system beats in both, and where others' parsers stand.

    seen  corpus -> columns of the treebank that ours see and others' do not
    """
    for corpus, rows in each(points, "corpus"):
        best = pareto(rows)
        names = (f"{r.system} ({r.label})" if r.label and r.label != r.system else r.system for r in best.itertuples())
        yield f"On {corpus} nothing beats, from slow to fast: {listing(names)}.", best
        ours = rows[rows["group"] != "others"]
        more = f", which also see {_columns(seen[str(corpus)])}" if seen.get(str(corpus)) else ""
        for other in rows[rows["group"] == "others"].itertuples():
            better = ours[(ours["uas"] >= other.uas) & (ours["words_per_cpu_s"] >= other.words_per_cpu_s)]
            yield (
                f"On {corpus} {other.system} ({other.uas:.2f} UAS, {other.words_per_cpu_s:,.0f} words/s) is beaten in "
                f"both by {len(better) or 'none'} of ours{more}.",
                rows,
            )
    yield "Each dot is one training with one seed: dots that are close are not told from chance by this figure."


NAMES = {"lemma": "lemmas", "feats": "morphological features"}
#: trainings of the steps of learning that take such a column away -> the column in words
WITHOUT = {"no-lemmas": NAMES["lemma"], "no-features": NAMES["feats"]}


def _columns(names: list[str]) -> str:
    """Columns of a treebank in words."""
    return "the treebank's own " + " and ".join(NAMES[name] for name in names)


@about("No parser of others was run: name some under peers in params.yaml.")
def peers(data: pd.DataFrame, seen: Mapping[str, list[str]], steps: pd.DataFrame) -> Said:
    """About `tables.peers`, which may have no rows: what the parsers of others see, and ours do besides.

    seen   corpus -> columns of the treebank that ours see and others' do not
    steps  `tables.step_tests`, which tell what ours are without such a column
    """
    yield (
        "Parsers of others are trained on the same splits with the same tags, run on one thread and are timed without "
        "loading their model; their training picks the epoch on the same development set."
    )
    for corpus in dict.fromkeys(data.index.get_level_values("corpus")):
        if not seen.get(corpus):
            yield f"On {corpus} ours see forms and tags only, as they do."
            continue
        yield (
            f"On {corpus} they see forms and tags only, ours {_columns(seen[corpus])} besides: the difference there "
            "is not one of parsers alone, and neither was trained with what the other sees."
        )
        worth = [
            f"{figure} without {WITHOUT[training]} {difference(row)}"
            for (place, figure, training), row in steps.iterrows()
            if str(place).startswith(f"{corpus}, ") and training in WITHOUT
        ]
        if worth:
            yield f"What ours lose on its development set: {'; '.join(worth)}: see [the steps](42-steps.ipynb).", steps


def speeds() -> Remarks:
    """What a words-per-second figure is, and what it may not be used for."""
    return Remarks(
        (
            "Published speeds are of 2013, in C++ on another machine and with other features; ours count CPU seconds "
            "on one core from features to heads, without reading files and without compilation. "
            "Compare ratios within a column, not figures across columns.",
        )
    )


@about()
def repeats(data: pd.DataFrame) -> Said:
    """About `tables.benchmarked`: what its medians are made of."""
    once, many = int((data["repeats"] == 1).sum()), data.loc[data["repeats"] > 1, "spread, %"]
    said = "Times are medians over the repeats of that column, after one that compiles"
    said += f"; {once} of the {len(data)} rows were timed once only, so that theirs have no spread" if once else ""
    if len(many):
        said += (
            f". The spread of the others, largest repeat less smallest in % of the median, is at most {many.max():.1f}"
        )
    yield f"{said}."


@about()
def length(data: pd.DataFrame) -> Said:
    """About `tables.lengths`: how the work grows between the bins that hold enough sentences, end to end and over the
    last step, pruned and not.
    """
    steps, small = [], set()
    for (corpus, k), rows in data[data["k"].isin(_shown(data))].groupby(["corpus", "k"], sort=False):
        every = rows.sort_values("lo")
        curve = every[every["sentences"] >= ENOUGH]
        small |= {f"{row.lo}-{row.hi} ({corpus})" for row in every.itertuples() if row.sentences < ENOUGH}
        if len(curve) > 1:
            first, before, last = curve.iloc[0], curve.iloc[-2], curve.iloc[-1]
            step = {"whole": power(first, last), "end": power(before, last), "longest": 1e3 * last["mean_s"]}
            steps.append({"k": "without pruning" if k == "none" else f"at k = {k}", "corpus": corpus, **step})
    if not steps:
        yield f"No two bins of lengths hold {ENOUGH} sentences: too few for a trend."
        return
    grown = pd.DataFrame(steps).set_index(["k", "corpus"])
    parts = (
        f"{name} as the power {span(rows['whole'], '{:.1f}')} of the length end to end, {span(rows['end'], '{:.1f}')} "
        f"over the last step, where a sentence takes {span(rows['longest'], '{:,.1f} ms')}"
        for name, rows in each(grown, "k")
    )
    yield f"Is the search exponential in practice? The mean time grows {'; '.join(parts)}.", grown
    steeper = int((grown["end"] > grown["whole"]).sum())
    yield (
        f"On {steeper} of the {len(grown)} curves the last step is steeper than the whole: that is what exponential "
        "growth would look like, and also what a few hard sentences in a small bin look like. These figures do not "
        "settle it.",
        grown,
    )
    if small:
        yield f"Fewer than {ENOUGH} sentences stand behind the bins {listing(sorted(small))}, which are left out here."


def _shown(data: pd.DataFrame) -> list[str]:
    """The settings of pruning that are spoken of: k = 10 and none, or the last there is."""
    there = list(dict.fromkeys(data["k"]))
    return [k for k in ("10", "none") if k in there] or there[-1:]


def power(low: pd.Series, high: pd.Series) -> float:
    """p of time ~ length ** p between the middles of two bins."""
    middle = [(row["lo"] + row["hi"]) / 2 for row in (low, high)]
    return math.log(high["mean_s"] / low["mean_s"]) / math.log(middle[1] / middle[0])


@about()
def axes(data: pd.DataFrame) -> Said:
    """About `tables.lengths` without pruning, beside the printed axes of the paper's figures."""
    printed = table(QIAN_LIU, "axes")
    ends = "; ".join(
        f"{row['corpus']} {row['words']} words, {row['seconds']} s and {row['DP calls']:,} calls"
        for row in printed.to_dict("records")
    )
    yield f"The printed axes of the paper's Figures 4 and 5 end at: {ends} ({printed.attrs['source']}).", printed
    full = data[data["k"] == "none"]
    for corpus, rows in each(full, "corpus"):
        slow, many = rows.loc[rows["mean_s"].idxmax()], rows.loc[rows["mean_dp_calls"].idxmax()]
        yield (
            f"Without pruning the largest mean of a bin on {corpus} is {slow['mean_s']:.2g} s ({_bin(slow)}) and "
            f"{many['mean_dp_calls']:,.0f} calls ({_bin(many)}).",
            rows,
        )
    if len(full):
        yield "The dynamic program that is called is another one, and so are machine, model and corpus."


def _bin(row: pd.Series) -> str:
    return f"{row['lo']}-{row['hi']} words, {row['sentences']} sentences"
