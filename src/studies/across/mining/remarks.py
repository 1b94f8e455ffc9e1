"""Generated sentences about annotation errors, computed from the data of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.across.mining.rankings import OURS
from studies.across.mining.tables import PLACE, RELEASE
from studies.site.sentences import Sentences, about, from_to, joined, listing, short_labels, span
from studies.site.show import Remarks
from treebound.mining.groups import SYSTEMATIC

HOW = "No run on this page mines a treebank. Run `python -m studies.pipeline.run mining`."
#: models of the two ways to mine a treebank, in sentences
FOLDS = "models of the other folds of the treebank (`treebound mine TREEBANK`)"
REFERENCE = "a model of the corrected later release (`--reference`)"


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of mined treebanks with one name per row, which leaves out the only run of the pipeline.

    rows  indexed by PLACE
    """
    single = rows.index.get_level_values("in").nunique() == 1
    return rows.droplevel("in") if single else rows.set_axis(short_labels(rows.index))


def _shares(rows: pd.DataFrame) -> str:
    """List the shares of errors among the first k suspects, with their intervals. rows: see `_named`."""
    return listing(
        f"{row['errors, %']:.1f} % [{row['low']:.1f}, {row['high']:.1f}] of {row['k']:,.0f} ({name})"
        for name, row in rows.iterrows()
    )


@about(HOW)
def answer(first: pd.DataFrame) -> Sentences:
    """Report how many of the first suspects are errors, for each kind of models. first: `summaries.first_suspects`."""
    rows = _named(first)
    judged, short = rows[rows["k"].notna()], rows[rows["k"].isna()]
    if len(judged):
        kinds = ((FOLDS, judged[judged["models"] != RELEASE]), (REFERENCE, judged[judged["models"] == RELEASE]))
        shares = joined([f"{_shares(of_kind)} with {models}" for models, of_kind in kinds if len(of_kind)])
        yield f"The share of errors among the first suspects of the heads is {shares}.", first
        yield f"Among all words, {span(judged['errors among all words, %'], '{:.1f} %')} are errors.", first
    if len(short):
        yield (
            f"The lists of {listing(short.index)} are shorter, or have fewer errors, than every length that is "
            "measured.",
            first,
        )
    yield (
        "The intervals treat words as independent, although errors of one sentence are not. Each model was trained "
        "once, with one seed.",
        first,
    )


@about()
def proofs(sizes: pd.DataFrame) -> Sentences:
    """Report how many margins are proved. sizes: `tables.sizes`."""
    if len(sizes):
        proved = from_to(sizes["margins proved, %"], "{:.1f}")
        yield f"Both trees, and with them the margin, are proved for {proved} % of the suspects of a run.", sizes


@about(HOW)
def rivals(first: pd.DataFrame) -> Sentences:
    """Compare the precision of the rankings. first: `summaries.first_suspects`."""
    rows = _named(first[first["k"].notna()])
    behind = rows[rows["its errors, %"] > rows["errors, %"]]
    others = listing(f"{name} ({row['best other ranking']})" for name, row in behind.iterrows())
    better = f"; in {len(behind)}, another ranking has more: {others}" if len(behind) else ""
    yield (
        f"In {len(rows) - len(behind)} of {len(rows)} runs, no other ranking has more errors among the first words "
        f"than {OURS}{better}.",
        first,
    )
    yield "The differences were not tested.", first


@about(HOW)
def recall(data: pd.DataFrame) -> Sentences:
    """Report how many errors the whole list contains, and how many proposed heads equal the right head.

    data: `tables.measured`.
    """
    rows = _named(data.set_index(PLACE))
    listed = 100 * rows["heads"].map(lambda heads: heads[OURS]["hits"]) / rows["heads_changed"]
    exact = 100 * rows["exact"].map(lambda entry: entry["exact"] / entry["errors"] if entry["errors"] else float("nan"))
    proposed = span(exact, "{:.1f} %") if exact.notna().any() else "none"
    yield (
        f"The whole list of a run contains {span(listed, '{:.1f} %')} of its wrong heads. The list proposes the right "
        f"head for {proposed} of the wrong heads in the list.",
        data,
    )


@about(HOW)
def sporadic(totals: pd.DataFrame, data: pd.DataFrame) -> Sentences:
    """Report the systematic changes, their rows in the group view, and the other errors.

    totals  `summaries.systematic_totals`
    data    `tables.measured`. Several runs may mine the same treebank, whose changes count once
    """
    changes = {(row["treebank"], change["change"]) for row in data.to_dict("records") for change in row["systematic"]}
    rows = _named(totals)
    some = rows[rows["systematic changes"] > 0]
    releases = len({treebank for treebank, _ in changes})
    yield (
        f"{len(changes)} changes of {releases} later {'release' if releases == 1 else 'releases'} are systematic (they "
        f"occur more than {SYSTEMATIC} times).",
        totals,
    )
    if len(some):
        with_row, with_half = (
            listing(f"{row[column]:.0f} of {row['systematic changes']:.0f} ({name})" for name, row in some.iterrows())
            for column in ("with a row", "row has half the words")
        )
        yield f"Changes with a row in the group view: {with_row}.", totals
        yield f"Changes whose row contains at least half of the changed words: {with_half}.", totals
    if totals["errors, %"].notna().any():
        yield (
            f"Without the systematic changes, {span(rows['errors, %'], '{:.1f} %')} of the first "
            f"{from_to(rows['k'].dropna())} suspects are errors.",
            totals,
        )


def hidden(examples: Sequence[dict[str, Any]]) -> Remarks:
    """Say why numbers stand for the words of the examples, if they do. examples: `tables.examples`."""
    if not any(entry["hidden"] for entry in examples):
        return Remarks(())
    return Remarks(
        (
            "Numbers stand for the words, because `forms` is false in the parameters of the run: not every treebank "
            "allows copies of its text in a published report.",
        )
    )
