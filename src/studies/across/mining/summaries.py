"""Summaries of the tables on annotation errors: one row per mined treebank.

Every function returns an empty table if no run has the stage `mining`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.across.mining.rankings import HEADS, OURS
from studies.across.mining.tables import PLACE
from studies.site.show import NOTHING
from treebound.metrics.calibration import wilson

USUAL = 200  #: largest list length k that summaries use, see `usual`


def usual(row: dict[str, Any], kind: str = "heads") -> int | None:
    """Return the list length k for which summaries report results, or None if all measured lengths are too large.

    The length is the largest measured one that exceeds neither `USUAL` nor the number of wrong heads.

    row   a row of `tables.measured`
    kind  "heads", or "sporadic_heads" to leave out systematic changes
    """
    limit = min(USUAL, row["sporadic" if kind == "sporadic_heads" else "heads_changed"])
    reached = [int(k) for k in row[kind][OURS]["at"] if int(k) <= limit]
    return max(reached, default=None)


def first_suspects(data: pd.DataFrame) -> pd.DataFrame:
    """Return the share of errors among the first k suspects of the heads. data: `tables.measured`.

    Columns: what the models were trained on, k, errors (%) with the 95 % interval (low, high), the best other ranking
    with its share of errors (%), and the share of errors among all words. k is NaN if the list is shorter, or has fewer
    errors, than every measured length.
    """
    rows = []
    for row in data.to_dict("records"):
        k = usual(row)
        others = {
            name: 100 * judged["at"][str(k)]["hits"] / k
            for name, judged in row["heads"].items()
            if k and name in HEADS and name != OURS and str(k) in judged["at"]
        }
        best = max(others, key=others.__getitem__, default=NOTHING)
        line = {**_place(row), "models": row["trained"], "k": k or float("nan"), **_errors(row, "heads", k)}
        line |= {"best other ranking": best, "its errors, %": others.get(best, float("nan"))}
        rows.append(line | {"errors among all words, %": 100 * row["heads_changed"] / row["words_known"]})
    return pd.DataFrame(rows).set_index(PLACE) if rows else pd.DataFrame()


def systematic_totals(data: pd.DataFrame) -> pd.DataFrame:
    """Return the number of systematic changes, and the share of errors without them. data: `tables.measured`.

    Columns: systematic changes, the wrong heads that they make up, all wrong heads, changes that have a row in the
    group view, and changes whose row contains at least half of the changed words. The last columns are the share of
    errors (%) among the first k suspects without systematic changes, with its 95 % interval.
    """
    rows = []
    for row in data.to_dict("records"):
        changes, k = row["systematic"], usual(row, "sporadic_heads")
        line = {
            **_place(row),
            "systematic changes": len(changes),
            "their wrong heads": row["heads_changed"] - row["sporadic"],
            "all wrong heads": row["heads_changed"],
            "with a row": sum(change["row"] > 0 for change in changes),
            "row has half the words": sum(change["hits"] >= change["count"] / 2 for change in changes),
            "k": k or float("nan"),
        }
        rows.append(line | _errors(row, "sporadic_heads", k))
    return pd.DataFrame(rows).set_index(PLACE) if rows else pd.DataFrame()


def _place(row: dict[str, Any]) -> dict[str, str]:
    """Return the index values of a row of a summary: the run of the pipeline, and the mined treebank."""
    return {name: row[name] for name in PLACE}


def _errors(row: dict[str, Any], kind: str, k: int | None) -> dict[str, float]:
    """Return the share of errors (%) among the first k words of the tool's ranking, with its 95 % interval."""
    if not k:
        return dict.fromkeys(("errors, %", "low", "high"), float("nan"))
    hits = row[kind][OURS]["at"][str(k)]["hits"]
    low, high = wilson(hits, k)
    return {"errors, %": 100 * hits / k, "low": 100 * low, "high": 100 * high}
