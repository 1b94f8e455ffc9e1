"""Sentences about sampling and proof, generated from the data of the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site.sentences import LEVEL, Sentences, about, from_to, how_many_corpora, joined, listing
from studies.site.show import p_in_words
from studies.zhang_2014.score_time.measure import LONG

WALKS = "walk-faster"  #: name of the claim that compares random walks with Gibbs sampling in equal time

NO_CURVES = "No run here has sampling beside proved optima: run `dvc repro score_time` if params.yaml lists that stage."


@about(NO_CURVES)
def curves(last: pd.DataFrame, models: Sequence[str]) -> Sentences:
    """Describe `tables.largest_budget`: the optima that sampling finds, and its speed compared with the proof.

    Long sentences are described separately if there are any.

    models  `tables.models`
    """
    long_shares, speed = last["of long sentences, %"].dropna(), last["times the speed of the proof"]
    long = ""
    if len(long_shares):
        long = (
            f"In sentences of more than {LONG} words, sampling finds {from_to(long_shares, '{:.2f}')} % of the proved "
            "optima. "
        )
    whole = int((last["optima found, %"] >= 100).sum())
    faster = int((speed > 1).sum())
    corpora = last.index.get_level_values("corpus").nunique()
    yield (
        f"With the largest budget, sampling finds {from_to(last['optima found, %'], '{:.2f}')} % of the proved optima, "
        f"and all of them in {whole} of {len(last)} combinations of corpus, space of trees and method ({corpora} "
        f"corpora, {from_to(last['proved optima'])} proved optima each, scores of {joined(models)}, means over seeds, "
        f"not tested). It is faster than the proof in {faster} of {len(last)}.",
        last,
    )
    yield (
        f"{long}In sentences of all lengths, its speed is {from_to(speed, '{:.2g}')} times the speed of the proof.",
        last,
    )


@about("No run here has random walks beside Gibbs sampling.")
def walks(costs: pd.DataFrame, verdicts: pd.DataFrame) -> Sentences:
    """Say how far the cost of a run explains the difference between random walks and Gibbs sampling in equal time.

    costs     `tables.per_run`
    verdicts  `site.claims.frame`, which has the p-values of the claim WALKS
    """
    last = costs.xs(costs.index[-1][0], level="run")
    ratio, same, timed = (last[name] for name in ("walk / Gibbs", "score, same patience", "score, equal time"))
    yield (
        f"One more run of a random walk costs {from_to(ratio, '{:.2f}')} times the CPU time of one more run of Gibbs "
        f"sampling ({how_many_corpora(last.index)}, non-projective trees, means over seeds). "
        "The score of random walks minus the score of Gibbs sampling, in % of the best score, is "
        f"{'on average over the corpora ' * (len(last) > 1)}{same.mean():+.4f} with the same patience{_range(same)}, "
        f"and {timed.mean():+.4f} in equal time"
        f"{_range(timed)}.",
        costs,
    )
    if (ratio > 1).all() and timed.mean() < -2 * abs(same.mean()):
        yield (
            "If there is a difference, the data point to the cost of a run as the reason: a random walk is "
            "about as good run for run, but makes fewer runs in the same time. Another program may have other costs.",
            costs,
        )
    claim = verdicts[(verdicts["name"] == WALKS) & verdicts["p"].notna()]
    for row in claim.to_dict("records"):
        weight = "not significant" if row["p_adjusted"] > LEVEL else "significant"
        yield (
            f"The verdict on the claim about equal time is `{row['verdict']}` ({p_in_words(row['p'])}). Adjusted for "
            f"all claims of the paper, {p_in_words(row['p_adjusted'])}: {weight} at the {100 * LEVEL:g} % level.",
            claim,
        )


def _range(values: pd.Series) -> str:
    """Return the range of values over corpora in brackets, after a space; empty for a single corpus."""
    return f" (range over corpora: {from_to(values, '{:+.4f}')})" if len(values) > 1 else ""


@about(NO_CURVES)
def targets(table: pd.DataFrame) -> Sentences:
    """Count the targets of `tables.targets` that are met, and name the others."""
    met = table["met"] == "yes"
    open_ = table.get("interval contains target", pd.Series("no", table.index)) == "yes"
    names = table.index.droplevel(0) if table.index.get_level_values(0).nunique() == 1 else table.index  # one run
    missed = "" if met.all() else f" Missed: {listing(names[~met])}."
    contained = int(open_.sum())
    yield (
        f"{int(met.sum())} of {len(table)} targets are met; for {contained} target{'s' * (contained != 1)}, the 95 % "
        f"interval over sentences contains the target, so that other sentences could decide differently.{missed}",
        table,
    )
    slow = names[table["method"] == ""]
    if len(slow):
        yield f"No method is fast enough for {len(slow)} target{'s' * (len(slow) != 1)}: {listing(slow)}.", table
    yield (
        "The targets are about whole test sets, and about features and decoding together. The figures here are about "
        "sentences spaced evenly over the test split and about decoding alone, with the method and budget that are "
        "best on these sentences.",
        table,
    )
    yield "A target that is met here need not be met on the whole test set."
