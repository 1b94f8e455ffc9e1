"""Table of verdicts by paper, with the reasons for which claims stay undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from studies.across.overview.claimed import of_papers
from studies.site.claims.judge import CONTRADICTED, INCONCLUSIVE, NO_EFFECT, NOT_TESTED, REPLICATED, SMALLER, Judged

DECIDED, UNDECIDED = "decided", "undecided"
#: reasons for which a claim stays undecided, in the order of the table
REASONS = DIFFERS, STOPPED, BELOW, WIDE = ("test differs", "no proof", "below published", "wide interval")


def reasons(judged: Sequence[Judged]) -> pd.DataFrame:
    """Count the claims of each paper by verdict; undecided claims are counted by their reasons.

    Rows: papers, without claims of this project. Columns: ("", "claims") is the number of claims, ("decided", verdict)
    and ("undecided", reason) are its parts, and so is ("", "not tested"). Verdicts and reasons that do not occur are
    left out. An effect that is replicated but smaller counts as replicated.
    """
    rows: dict[str, Counter[tuple[str, str]]] = {}
    for entry in of_papers(judged):
        verdict = REPLICATED if entry.verdict == SMALLER else entry.verdict
        kind = (UNDECIDED, _reason(entry)) if verdict == INCONCLUSIVE else (DECIDED, verdict)
        counts = rows.setdefault(entry.paper.cite, Counter())
        counts["", "claims"] += 1
        counts[("", verdict) if verdict == NOT_TESTED else kind] += 1
    kinds = [("", "claims"), *((DECIDED, verdict) for verdict in (REPLICATED, NO_EFFECT, CONTRADICTED))]
    kinds += [*((UNDECIDED, reason) for reason in REASONS), ("", NOT_TESTED)]
    shown = [kind for kind in kinds if any(row[kind] for row in rows.values())]
    cells = [[row[kind] for kind in shown] for row in rows.values()]
    return pd.DataFrame(cells, pd.Index(list(rows), name="paper"), pd.MultiIndex.from_tuples(shown or kinds[:1]))


def _reason(entry: Judged) -> str:
    """Return the reason for which an inconclusive claim stays undecided."""
    assert entry.claim is not None
    if entry.claim.otherwise:
        return DIFFERS
    if entry.claim.test == "all":
        return STOPPED
    return BELOW if entry.misses_published else WIDE
