"""Sentences about speed, pruning and sentence length, computed from the very data that the tables beside them show."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from treebound.plots.figures import pareto
from treebound.report.published import QIAN_LIU, table
from treebound.report.show import Remarks, said_p

#: sentences that a bin of lengths must hold to be spoken of
ENOUGH = 10


def pruning(uas: pd.DataFrame, speed: pd.DataFrame, trained: Mapping[str, object]) -> Remarks:
    """About the accuracy and the speed half of Table 3 (`tables.pruning_table`): k = 10 against no pruning.

    trained  run -> the k of training
    """
    said = []
    for name, corpus in (c for c in uas.columns if c[0]):
        ten, none = "branch and bound, k = 10", "branch and bound, no pruning"
        if ten not in uas.index or none not in uas.index:
            continue
        loss = uas.loc[ten, (name, corpus)] - uas.loc[none, (name, corpus)]
        ratio = speed.loc[ten, (name, corpus)] / speed.loc[none, (name, corpus)]
        if not (math.isnan(loss) or math.isnan(ratio)):
            said.append(f"{corpus} ({name}): {ratio:.1f} times the speed at {loss:+.2f} UAS.")
    if not said:
        return Remarks(("No k was compared with no pruning.",))
    limits = [
        "These differences of UAS were not tested, and the note of a row says where trees are not proved.",
        *(
            f"All models of {name} were trained with k = {k}, which may be why no pruning is worse where it is: none "
            "was trained without pruning."
            for name, k in trained.items()
            if str(k) != "none"
        ),
    ]
    return Remarks(("k = 10 against no pruning.", *said, *limits))


def calls(total: pd.DataFrame) -> Remarks:
    """About Table 3's total of DP calls (`tables.pruning_table`): what pruning saves the search."""
    said = []
    for name, corpus in (c for c in total.columns if c[0]):
        swept = total[name, corpus].dropna()
        if len(swept) > 1 and swept.min() > 0:
            said.append(
                f"{corpus} ({name}): from {swept.min():,.0f} calls ({swept.idxmin()}) to {swept.max():,.0f} "
                f"({swept.idxmax()}), a factor of {swept.max() / swept.min():.1f}."
            )
    return Remarks(tuple(said) or ("Nothing was decoded with several k.",))


def frontier(points: pd.DataFrame, seen: Mapping[str, list[str]]) -> Remarks:
    """About `tables.accuracy_and_speed`: what no other system beats in both, and where others' parsers stand.

    seen  corpus -> columns of the treebank that ours see and others' do not
    """
    said = []
    for corpus, rows in points.groupby("corpus", sort=False):
        best = pareto(rows)
        names = [f"{r.system} ({r.label})" if r.label and r.label != r.system else r.system for r in best.itertuples()]
        said.append(f"On {corpus} nothing beats, from slow to fast: {', '.join(names)}.")
        ours = rows[rows["group"] != "others"]
        for other in rows[rows["group"] == "others"].itertuples():
            better = ours[(ours["uas"] >= other.uas) & (ours["words_per_cpu_s"] >= other.words_per_cpu_s)]
            verdict = f"beaten in both by {len(better)} of ours" if len(better) else "beaten in both by none of ours"
            more = f", which also see {_columns(seen[str(corpus)])}" if seen.get(str(corpus)) else ""
            said.append(
                f"{other.system} ({other.uas:.2f} UAS, {other.words_per_cpu_s:,.0f} words/s) is {verdict}{more}."
            )
    said.append("Each dot is one training with one seed: dots that are close are not told from chance by this figure.")
    return Remarks(tuple(said))


NAMES = {"lemma": "lemmas", "feats": "morphological features"}


#: trainings of the steps of learning that take such a column away -> the column in words
WITHOUT = {"no-lemmas": NAMES["lemma"], "no-features": NAMES["feats"]}


def _columns(names: list[str]) -> str:
    """Columns of a treebank in words."""
    return "the treebank's own " + " and ".join(NAMES[name] for name in names)


def peers(data: pd.DataFrame, seen: Mapping[str, list[str]], steps: pd.DataFrame) -> Remarks:
    """About `tables.peers`, which may have no rows: what the parsers of others see, and ours do besides.

    seen   corpus -> columns of the treebank that ours see and others' do not
    steps  `tables.step_tests`, which tell what ours are without such a column
    """
    if not len(data):
        return Remarks(("No parser of others was run: name some under peers in params.yaml.",))
    said = [
        "Parsers of others are trained on the same splits with the same tags, run on one thread and are timed without "
        "loading their model; their training picks the epoch on the same development set."
    ]
    for corpus in dict.fromkeys(data.index.get_level_values("corpus")):
        if not seen.get(corpus):
            said.append(f"On {corpus} ours see forms and tags only, as they do.")
            continue
        said.append(
            f"On {corpus} they see forms and tags only, ours {_columns(seen[corpus])} besides: the difference there "
            "is not one of parsers alone, and neither was trained with what the other sees."
        )
        worth = [
            f"{row['difference']:+.2f} {figure} without {WITHOUT[training]} ({said_p(row['p'])})"
            for (place, figure, training), row in steps.iterrows()
            if str(place).startswith(f"{corpus}, ") and training in WITHOUT
        ]
        if worth:
            said.append(f"On its development set ours is {', '.join(worth)}: see [the steps](42-steps.ipynb).")
    return Remarks(tuple(said))


def speeds() -> Remarks:
    """What a words-per-second figure is, and what it may not be used for."""
    return Remarks(
        (
            "Published speeds are of 2013, in C++ on another machine and with other features; ours count CPU seconds "
            "on one core from features to heads, without reading files and without compilation. "
            "Compare ratios within a column, not figures across columns.",
        )
    )


def repeats(data: pd.DataFrame) -> Remarks:
    """About `tables.benchmarked`: what its medians are made of."""
    once = int((data["repeats"] == 1).sum())
    many = data.loc[data["repeats"] > 1, "spread, %"]
    said = "Times are medians over the repeats of that column, after one that compiles"
    said += f"; {once} of the {len(data)} rows were timed once only, so that theirs have no spread" if once else ""
    if len(many):
        said += (
            f". The spread of the others, largest repeat less smallest in % of the median, is at most {many.max():.1f}"
        )
    return Remarks((said + ".",))


def length(data: pd.DataFrame) -> Remarks:
    """About `tables.lengths`: how the work grows between the bins that hold enough sentences, end to end and over the
    last step, pruned and not.
    """
    said, steps = [], []
    for corpus, rows in data.groupby("corpus", sort=False):
        for k in dict.fromkeys(k for k in ("10", "none") if k in set(rows["k"])) or rows["k"].tail(1):
            every = rows[rows["k"] == k].sort_values("lo")
            curve, few = every[every["sentences"] >= ENOUGH], every[every["sentences"] < ENOUGH]
            name = "without pruning" if k == "none" else f"at k = {k}"
            if len(curve) < 2:
                said.append(f"{corpus} has too few sentences for a trend {name}.")
                continue
            first, before, last = curve.iloc[0], curve.iloc[-2], curve.iloc[-1]
            whole, end = power(first, last), power(before, last)
            steps.append({"k": name, "corpus": corpus, "whole": whole, "end": end})
            said.append(
                f"On {corpus} {name} the mean time grows from {_ms(first)} ({_words(first)}) to {_ms(last)} "
                f"({_words(last)}, {last['sentences']} sentences): end to end as the power {whole:.1f} of the length, "
                f"over the last step, from {_words(before)}, as the power {end:.1f}."
            )
            if len(few) and k != "none":
                bins = ", ".join(f"{row.lo}-{row.hi}" for row in few.itertuples())
                said.append(f"Fewer than {ENOUGH} sentences stand behind the bins {bins}, which are left out here.")
    return Remarks((*_verdict(pd.DataFrame(steps)), *said))


def _verdict(steps: pd.DataFrame) -> list[str]:
    """The answer to the question of the page, as far as these bins give one; `steps`: k, corpus, whole, end."""
    if steps.empty:
        return []
    parts = [
        f"{name} as the power {rows['whole'].min():.1f} to {rows['whole'].max():.1f} of the length end to end and "
        f"{rows['end'].min():.1f} to {rows['end'].max():.1f} over the last step (most on "
        f"{rows.loc[rows['end'].idxmax(), 'corpus']})"
        for name, rows in steps.groupby("k", sort=False)
    ]
    steeper = int((steps["end"] > steps["whole"]).sum())
    return [
        f"Is the search exponential in practice? The mean time grows {'; '.join(parts)}. On {steeper} of the "
        f"{len(steps)} curves the last step is steeper than the whole: that is what exponential growth would look "
        "like, and also what a few hard sentences in a small bin look like. These figures do not settle it."
    ]


def _ms(row: pd.Series) -> str:
    ms = 1e3 * row["mean_s"]
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.2g} ms"


def _words(row: pd.Series) -> str:
    return f"{row['lo']}-{row['hi']} words"


def power(low: pd.Series, high: pd.Series) -> float:
    """p of time ~ length ** p between the middles of two bins."""
    middle = [(row["lo"] + row["hi"]) / 2 for row in (low, high)]
    return math.log(high["mean_s"] / low["mean_s"]) / math.log(middle[1] / middle[0])


def axes(data: pd.DataFrame) -> Remarks:
    """About `tables.lengths` without pruning, beside the printed axes of the paper's figures."""
    printed = table(QIAN_LIU, "axes")
    ends = "; ".join(
        f"{row['corpus']} {row['words']} words, {row['seconds']} s and {row['DP calls']:,} calls"
        for row in printed.to_dict("records")
    )
    said = [f"The printed axes of the paper's Figures 4 and 5 end at: {ends} ({printed.attrs['source']})."]
    for corpus, rows in data[data["k"] == "none"].groupby("corpus", sort=False):
        slow, many = rows.loc[rows["mean_s"].idxmax()], rows.loc[rows["mean_dp_calls"].idxmax()]
        said.append(
            f"Without pruning the largest mean of a bin on {corpus} is {slow['mean_s']:.2g} s "
            f"({slow['lo']}-{slow['hi']} "
            f"words, {slow['sentences']} sentences) and {many['mean_dp_calls']:,.0f} calls "
            f"({many['lo']}-{many['hi']} words)."
        )
    if len(said) > 1:
        said.append("The dynamic program that is called is another one, and so are machine, model and corpus.")
    return Remarks(tuple(said))
