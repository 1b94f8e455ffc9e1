"""Sentences about speed, pruning, length and single searches, computed from the data that pages show beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from studies.common.params import Row
from studies.site.seen import NAMES, in_words
from studies.site.sentences import ONE_SEED, Said, about, difference, each, how_many_corpora, listing, span

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
            gains = f"{span(rows['speed'], '{:.1f}')} times the speed, at {span(rows['UAS'], '{:+.2f}')} UAS"
            yield f"{who}: {gains} ({how_many_corpora(rows.index.get_level_values(0))}; not tested).", rows
    if printed.all():
        yield "No k was compared with no pruning here."
        return
    for name, k in trained.items():
        if str(k) != "none":
            yield (
                f"All models of {name} were trained with k = {k}, which may be why no pruning is worse where it is: "
                "none was trained without pruning."
            )


@about()
def frontier(points: pd.DataFrame) -> Said:
    """Describe `tables.accuracy_and_speed`: where the parsers of others stand, and what those that beat them see."""
    rows = points[points["group"] == "others"]
    found = []
    for other in rows.itertuples():
        ours = points[(points["group"] != "others") & (points["corpus"] == other.corpus)]
        better = ours[(ours["uas"] >= other.uas) & (ours["words_per_cpu_s"] >= other.words_per_cpu_s)]
        more = better[better["sees"].map(len) > len(other.sees)]
        also = f", {len(more)} of which see more of the treebank's own columns" if len(more) else ""
        found.append(f"{other.system} on {other.corpus} ({len(better)} of {len(ours)} rows of ours{also})")
    yield (
        f"Beaten on the test set in both accuracy and speed: {listing(found)}. Rows of ours include every decoder and "
        f"every k that was timed. {_seeds(points)} No difference was tested here.",
        rows,
    )


def _seeds(points: pd.DataFrame) -> str:
    """Say of how many trainings the accuracies are means."""
    several = points[points["seeds"] > 1]
    if several.empty:
        return ONE_SEED
    return (
        f"Accuracies of {len(several)} of {len(points)} rows are means of {span(several['seeds'], '{:.0f}')} seeds, "
        "the others are one training each."
    )


#: trainings of the steps of learning that take a column away -> the column in words
WITHOUT = {"no-lemmas": NAMES["lemma"], "no-features": NAMES["feats"]}


@about("No parser of others was run: name some under peers in params.yaml.")
def peers(data: pd.DataFrame, seen: Mapping[str, list[str]], steps: pd.DataFrame) -> Said:
    """Describe `tables.peers`, which may have no rows: what the parsers of others see, and ours do besides.

    seen   corpus -> columns of the treebank that graph-based parsers and those that sample see
    steps  `tables.step_tests`, which tell what a graph-based parser is without such a column
    """
    corpora = list(dict.fromkeys(data.index.get_level_values("corpus")))
    if same := [corpus for corpus in corpora if not seen.get(corpus)]:
        yield f"On {listing(same)} ours see forms and tags only, as they do."
    for corpus in (corpus for corpus in corpora if seen.get(corpus)):
        worth = [
            f"{figure} without {WITHOUT[training]} {difference(row)}"
            for (place, figure, training), row in steps.iterrows()
            if str(place).startswith(f"{corpus}, ") and training in WITHOUT
        ]
        more = (
            f" What the base of the steps of learning, a graph-based parser, loses on the development set (one "
            f"training each): {'; '.join(worth)}."
            if worth
            else ""
        )
        yield (
            f"On {corpus} they see forms and tags only. Our graph-based parsers and those that sample see the "
            f"treebank's own {in_words(seen[corpus])} besides: the difference there is not one of parsers alone, and "
            f"neither was trained with what the other sees.{more}",
            steps if worth else data,
        )


@about()
def repeats(data: pd.DataFrame) -> Said:
    """About `tables.benchmarked`: what its medians are made of."""
    once, many = int((data["repeats"] == 1).sum()), data.loc[data["repeats"] > 1, "spread, %"]
    said = f"; {once} of the {len(data)} rows were timed once only, so that theirs have no spread" if once else ""
    said += f"; the largest spread is {many.max():.1f} %" if len(many) else ""
    yield f"Times are medians over the repeats, after one that compiles{said}."


@about()
def length(data: pd.DataFrame) -> Said:
    """About `tables.lengths`: how the work grows between the bins that hold enough sentences, end to end and over the
    last step, pruned and not.
    """
    steps = []
    for (corpus, k), rows in data[data["k"].isin(_shown(data))].groupby(["corpus", "k"], sort=False):
        curve = rows[rows["sentences"] >= ENOUGH].sort_values("lo")
        if len(curve) > 1:
            first, before, last = curve.iloc[0], curve.iloc[-2], curve.iloc[-1]
            step = {"whole": power(first, last), "end": power(before, last), "longest": 1e3 * last["mean_s"]}
            steps.append({"k": "without pruning" if k == "none" else f"at k = {k}", "corpus": corpus, **step})
    if not steps:
        yield f"No two bins of lengths hold {ENOUGH} sentences: too few for a trend."
        return
    grown = pd.DataFrame(steps).set_index(["k", "corpus"])
    powers = "; ".join(f"{name}: {span(rows['whole'], '{:.1f}')}" for name, rows in each(grown, "k"))
    steeper = int((grown["end"] > grown["whole"]).sum())
    yield (
        f"End to end the mean time grows as a power of the length, {powers}. Over the last step {steeper} of the "
        f"{len(grown)} curves are steeper, as exponential growth would be, and as a few hard sentences in a small bin "
        "look, too: these figures do not settle it.",
        grown,
    )
    for name, rows in each(grown, "k"):
        yield (
            f"Over the last step, {name}, the power is {span(rows['end'], '{:.1f}')}, and a sentence takes "
            f"{span(rows['longest'], '{:,.1f} ms')}.",
            rows,
        )
    yield f"Bins of fewer than {ENOUGH} sentences are left out."


def _shown(data: pd.DataFrame) -> list[str]:
    """The settings of pruning that are spoken of: k = 10 and none, or the last there is."""
    there = list(dict.fromkeys(data["k"]))
    return [k for k in ("10", "none") if k in there] or there[-1:]


def power(low: pd.Series, high: pd.Series) -> float:
    """p of time ~ length ** p between the middles of two bins."""
    middle = [(row["lo"] + row["hi"]) / 2 for row in (low, high)]
    return math.log(high["mean_s"] / low["mean_s"]) / math.log(middle[1] / middle[0])


@about()
def proofs(searched: pd.DataFrame, corpus: str, row: Row) -> Said:
    """Describe `frames.sentences` of one row: how many trees are proved, and how soon."""
    proved, once = int((searched["status"] == "optimal").sum()), int((searched["dp_calls"] <= 1).sum())
    yield (
        f"Of {len(searched):,} test sentences of {corpus}, parsed with {row.model} ({row.learner}, k = {row.k}, "
        f"decoder {row.decoder}), {proved:,} come with a proof that no other tree scores more, "
        f"{once:,} at the first call of the dynamic program; the most that one took is "
        f"{searched['dp_calls'].max():,.0f} calls and {searched['nodes'].max():,.0f} nodes of a search tree.",
        searched[["n", "status", "dp_calls", "nodes"]],
    )


@about()
def own_scores(table: pd.DataFrame, sentences: int) -> Said:
    """About accuracies (UAS) and shares of best trees of several ways to decode the same scores."""
    first, last = table.iloc[0], table.iloc[-1]
    yield (
        f"On {sentences:,} test sentences the {table.index[0]} makes the best tree of the scores in "
        f"{first['the best tree, %']:.1f} % ({first['UAS']:.2f} UAS); searched as trees they have "
        f"{span(table['UAS'].iloc[1:])} UAS, with {last['the best tree, %']:.1f} % proved in the last case. "
        f"{ONE_SEED} No difference was tested."
    )
