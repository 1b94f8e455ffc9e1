"""Table of verdicts by paper, with the reasons for which claims stay undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from studies.across.overview.claimed import of_papers
from studies.site.claims.judge import INCONCLUSIVE, VERDICTS, Judged

#: reasons for which a claim stays undecided, in the order of the table
DIFFERS, STOPPED, BELOW, WIDE = (
    "undecided: the test differs",
    "undecided: searches without proof",
    "undecided: not as large as published",
    "undecided: wide interval, or none",
)


def reasons(judged: Sequence[Judged]) -> pd.DataFrame:
    """Count the claims of each paper by verdict; undecided claims are counted by their reasons.

    Rows: papers, without claims of this project. Columns: claims (their number), then the verdicts and reasons that
    occur.
    """
    rows: dict[str, Counter[str]] = {}
    for entry in of_papers(judged):
        kind = _reason(entry) if entry.verdict == INCONCLUSIVE else entry.verdict
        rows.setdefault(entry.paper.cite, Counter())[kind] += 1
    kinds = [*(verdict for verdict in VERDICTS if verdict != INCONCLUSIVE), DIFFERS, STOPPED, BELOW, WIDE]
    shown = [kind for kind in kinds if any(row[kind] for row in rows.values())]
    cells = [{"claims": row.total(), **{kind: row[kind] for kind in shown}} for row in rows.values()]
    return pd.DataFrame(cells, index=pd.Index(list(rows), name="paper"), columns=["claims", *shown])


def _reason(entry: Judged) -> str:
    """Return the reason for which an inconclusive claim stays undecided."""
    assert entry.claim is not None
    if entry.claim.otherwise:
        return DIFFERS
    if entry.claim.test == "all":
        return STOPPED
    return BELOW if entry.misses_published else WIDE
