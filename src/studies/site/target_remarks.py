"""Make sentences about the results of the benchmarks from the cells of their table."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about


@about(
    "No benchmark has stored its figures here. Run `make bench`, or a benchmark of docs/benchmarks.md with `--keep`."
)
def targets(table: pd.DataFrame) -> Sentences:
    """Describe the table of `targets.targets`: how many targets are missed."""
    missed, total = table[table["met"] == "no"], len(table)
    if len(missed):
        yield f"{len(missed)} of {total} targets {'is' if len(missed) == 1 else 'are'} missed.", missed
    else:
        yield f"All {total} targets are met." if total > 1 else "The only target is met."
    yield "Each figure was measured once, on one machine, by the command in its row; none has an interval."
