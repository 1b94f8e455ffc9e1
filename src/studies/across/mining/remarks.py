"""Generated sentences about annotation errors, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.across.mining.rankings import OURS
from studies.site.sentences import Sentences, about, from_to, listing, span
from treebound.mining.groups import SYSTEMATIC

HOW = "No run on this page mines a treebank. Run `python -m studies.pipeline.run mining`."


@about(HOW)
def answer(first: pd.DataFrame) -> Sentences:
    """Report how many of the first suspects are errors. first: `summaries.first_suspects`."""
    judged, short = first[first["k"].notna()], first[first["k"].isna()]
    if len(judged):
        yield (
            f"Among the first {from_to(judged['k'])} suspects of the heads, {span(judged['errors, %'], '{:.1f} %')} "
            f"are errors. Among all words, {span(judged['errors among all words, %'], '{:.1f} %')} are errors.",
            first,
        )
    if len(short):
        yield (
            f"The lists of {listing(short.index)} are shorter, or have fewer errors, than every length that is "
            "measured.",
            short,
        )
    yield (
        "The intervals treat words as independent, although errors of one sentence are not. Each model was trained "
        "once, with one seed.",
        first,
    )


@about(HOW)
def rivals(first: pd.DataFrame) -> Sentences:
    """Compare the precision of the rankings. first: `summaries.first_suspects`."""
    judged = first[first["k"].notna()]
    ahead = int((judged["errors, %"] >= judged["its errors, %"].fillna(0)).sum())
    yield (
        f"No other ranking has more errors among the first words than {OURS} on {ahead} of {len(judged)} treebanks. "
        "The differences were not tested.",
        first,
    )


@about(HOW)
def recall(data: pd.DataFrame) -> Sentences:
    """Report how many errors the whole list contains, and how many proposed heads equal the right head.

    data: `tables.measured`.
    """
    places = data["in"] + " · " + data["run"]
    listed = 100 * data["heads"].map(lambda heads: heads[OURS]["hits"]) / data["heads_changed"]
    exact = 100 * data["exact"].map(lambda entry: entry["exact"] / entry["errors"] if entry["errors"] else float("nan"))
    proposed = span(exact.set_axis(places), "{:.1f} %") if exact.notna().any() else "none"
    yield (
        f"The whole list of a treebank contains {span(listed.set_axis(places), '{:.1f} %')} of its wrong heads. The "
        f"list proposes the right head for {proposed} of the wrong heads in the list.",
        data,
    )


@about(HOW)
def sporadic(totals: pd.DataFrame) -> Sentences:
    """Report the systematic changes, their rows in the group view, and the other errors.

    totals: `summaries.systematic_totals`.
    """
    changes, named = int(totals["systematic changes"].sum()), int(totals["with a row"].sum())
    without = listing(totals.index[totals["systematic changes"] == 0])
    yield (
        f"{changes} changes are systematic (they occur more than {SYSTEMATIC} times). The group view has a row for "
        f"{named} of them; for {int(totals['row has half the words'].sum())}, the row contains at least half of the "
        f"changed words. Treebanks without a systematic change: {without}.",
        totals,
    )
    if totals["errors, %"].notna().any():
        yield (
            f"Without the systematic changes, {span(totals['errors, %'], '{:.1f} %')} of the first "
            f"{from_to(totals['k'].dropna())} suspects are errors.",
            totals,
        )
