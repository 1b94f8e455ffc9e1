"""Make sentences about the results of the benchmarks from the cells of their table."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, listing


@about(
    "No benchmark has stored its figures here. Run `make bench`, or a benchmark of docs/benchmarks.md with `--keep`."
)
def targets(table: pd.DataFrame) -> Sentences:
    """Describe the table of `targets.targets`: how many targets are met, and which are missed."""
    missed = table[table["met"] == "no"]
    figures = (f"{name} ({_short(row['measured'])}, target {_short(row['target'])})" for name, row in missed.iterrows())
    list_of_missed = f"; missed: {listing(figures)}" if len(missed) else ""
    yield (
        f"{len(table) - len(missed)} of {len(table)} targets are met{list_of_missed}.",
        missed if len(missed) else table,
    )
    yield "Each figure was measured once, on one machine, by the command in its row; none has an interval."


def _short(value: float) -> str:
    """Format a number with four significant digits, or without decimals from 1,000."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
