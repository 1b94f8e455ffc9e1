"""Sentences about what the benchmarks measured, computed from the table's own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, listing


@about("No benchmark has kept its figures here: run `make bench`, or one of docs/benchmarks.md with `--keep`.")
def targets(table: pd.DataFrame) -> Said:
    """About `targets.targets`: how many are met, and which are not."""
    missed = table[table["met"] == "no"]
    worst = (f"{name} ({_short(row['measured'])}, target {_short(row['target'])})" for name, row in missed.iterrows())
    rest = f"; missed: {listing(worst)}" if len(missed) else ""
    yield f"{len(table) - len(missed)} of {len(table)} targets are met{rest}.", missed if len(missed) else table
    yield "Each was measured by the command beside it, on one machine and at its own time: none is an interval."


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
