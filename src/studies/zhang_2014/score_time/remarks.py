"""Sentences about sampling and proof, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, listing, span
from studies.zhang_2014.score_time.measure import LONG

NO_CURVES = "No run here has sampling beside proved optima: run `dvc repro score_time` if params.yaml lists that stage."


@about(NO_CURVES)
def curves(last: pd.DataFrame) -> Sentences:
    """Describe `tables.largest_budget`: the optima that sampling finds, and its speed compared with the proof.

    Long sentences are described separately if there are any.
    """
    long_shares, speed = last["of long sentences, %"].dropna(), last["times the speed of the proof"]
    long = f" and {span(long_shares, '{:.2f} %')} in sentences of more than {LONG} words," if len(long_shares) else ""
    yield (
        f"With the largest budget, sampling finds {span(last['optima found, %'], '{:.2f} %')} of the proved optima"
        f"{long} at {span(speed, '{:.2g}')} times the speed of the proof (means of the seeds, not tested).",
        last,
    )
    whole = int((last["optima found, %"] >= 100).sum())
    faster = int((speed > 1).sum())
    yield (
        f"In {whole} of {len(last)} combinations of corpus, space of trees and method, sampling finds all proved "
        f"optima, and in {faster} it is faster than the proof.",
        last,
    )


@about(NO_CURVES)
def targets(table: pd.DataFrame) -> Sentences:
    """Count the targets of `tables.targets` that are met, and name the others."""
    met = table["met"] == "yes"
    open_ = table.get("interval contains target", pd.Series("no", table.index)) == "yes"
    missed = "" if met.all() else f" Missed: {listing(table.index[~met])}."
    yield (
        f"{int(met.sum())} of {len(table)} targets are met; for {int(open_.sum())} targets, the 95 % interval over "
        f"sentences contains the target, so that other sentences could decide differently.{missed}",
        table,
    )
    slow = table.index[table["method"] == ""]
    if len(slow):
        yield f"No method is fast enough for {len(slow)} targets: {listing(slow)}.", table
    yield (
        "The targets are about whole test sets, and about features and decoding together. The figures here are about "
        "sentences spaced evenly over the test split and about decoding alone, with the method and budget that are "
        "best on these sentences.",
        table,
    )
    yield "A target that is met here need not be met on the whole test set."
