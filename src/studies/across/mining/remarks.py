"""Generated sentences about annotation errors, computed from the data of the tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.across.mining.rankings import ENTROPY, LIST, MARGIN, MARGINAL, OURS, RANDOM, VARIATION
from studies.site.sentences import Sentences, about, listing, share
from treebound.mining.groups import SYSTEMATIC

HOW = "No run on this page mines a treebank. Run `python -m studies.pipeline.run mining`."
RIVALS = (MARGIN, MARGINAL, LIST, ENTROPY, VARIATION, RANDOM)
USUAL = 200  #: largest list length k for which remarks report results, see `usual`


@about(HOW)
def answer(data: pd.DataFrame) -> Sentences:
    """Report how many of the first suspects are errors. data: `tables.measured`."""
    for row in data.to_dict("records"):
        k = usual(row)
        if k is None:
            yield f"The list of {_place(row)} is shorter, or has fewer errors, than every length that is measured."
            continue
        hits = row["heads"][OURS]["at"][str(k)]["hits"]
        yield (
            f"Errors among the first {k} suspects of the heads of {_place(row)}: {share(hits, k)} "
            f"({_truth(row)}; {_models(row)}). Among all {row['words_known']:,} words, "
            f"{100 * row['heads_changed'] / row['words_known']:.1f} % are errors.",
            pd.Series(row),
        )
    yield (
        "The intervals treat words as independent, although errors of one sentence are not. Each model was trained "
        "once, with one seed."
    )


@about(HOW)
def rivals(data: pd.DataFrame) -> Sentences:
    """Compare the precision of the rankings. data: `tables.measured`."""
    for row in data.to_dict("records"):
        k = usual(row)
        if k is None:
            continue
        others = listing(
            f"{name} {100 * row['heads'][name]['at'][str(k)]['hits'] / k:.1f} %"
            for name in RIVALS
            if str(k) in row["heads"][name]["at"]
        )
        ours = 100 * row["heads"][OURS]["at"][str(k)]["hits"] / k
        yield (
            f"Precision among the first {k} words of {_place(row)}: {OURS} {ours:.1f} %; {others}. "
            "The differences were not tested.",
            pd.Series(row),
        )


@about(HOW)
def recall(data: pd.DataFrame) -> Sentences:
    """Report how many errors the whole list contains, and how many proposed heads equal the right head.

    data: `tables.measured`.
    """
    for row in data.to_dict("records"):
        listed, exact = row["heads"][OURS]["hits"], row["exact"]
        yield (
            f"The whole list of {_place(row)} has {row['disagreements']:,} suspects and contains "
            f"{share(listed, row['heads_changed'])} wrong heads. The list proposes the right head for "
            f"{share(exact['exact'], exact['errors'])} wrong heads in the list.",
            pd.Series(row),
        )


@about(HOW)
def sporadic(data: pd.DataFrame) -> Sentences:
    """Report the systematic changes, their rows in the group view, and the other errors. data: `tables.measured`."""
    for row in data.to_dict("records"):
        changes = row["systematic"]
        if not changes:
            yield (
                f"No change of {_place(row)} occurs more than {SYSTEMATIC} times, so no error is systematic.",
                pd.Series(row),
            )
            continue
        many = row["heads_changed"] - row["sporadic"]
        named = sum(change["row"] > 0 for change in changes)
        half = sum(change["hits"] >= change["count"] / 2 for change in changes)
        judged = row["sporadic_heads"][OURS]
        k = usual(row, "sporadic_heads")
        ranked = (
            f" Without the systematic changes, {share(judged['at'][str(k)]['hits'], k)} suspects at the top are errors."
            if k
            else ""
        )
        yield (
            f"{len(changes)} changes of {_place(row)} are systematic (they occur more than {SYSTEMATIC} times) and "
            f"make up {many:,} of {row['heads_changed']:,} wrong heads. The group view has a row for {named} of "
            f"{len(changes)} systematic changes; for {half} of them, the row contains at least half of the changed "
            f"words.{ranked}",
            pd.Series(row),
        )


def usual(row: dict[str, Any], kind: str = "heads") -> int | None:
    """Return the list length k for which remarks report results, or None.

    It is the largest measured length that exceeds neither `USUAL` nor the number of errors.
    """
    limit = min(USUAL, row["sporadic" if kind == "sporadic_heads" else "heads_changed"])
    reached = [int(k) for k in row[kind][OURS]["at"] if int(k) <= limit]
    return max(reached, default=None)


def _place(row: dict[str, Any]) -> str:
    """Return the treebank, its splits and the run, in words."""
    return f"{row['treebank']} ({row['splits']}, {row['in']})"


def _truth(row: dict[str, Any]) -> str:
    """Describe in words which heads count as errors."""
    if row["later"]:
        return f"heads that {row['later']} annotates differently"
    return f"planted in {100 * row['planted']:g} % of the heads"


def _models(row: dict[str, Any]) -> str:
    """Describe in words the models that judge the treebank."""
    if row["trained"] == "later release":
        return f"one model trained on the training part of {row['later']}"
    return f"cross-validation with {row['trained']}"
