"""Table of verdicts by paper, with the reasons for which claims stay undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from studies.site.claims.judge import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_EFFECT,
    NOT_TESTED,
    REASONS,
    REPLICATED,
    Judged,
    of_papers,
)

DECIDED, UNDECIDED = "decided", "undecided"


def reasons(judged: Sequence[Judged]) -> pd.DataFrame:
    """Count the claims of each paper by `Judged.counted_as`; undecided claims are counted by their reasons.

    Rows: papers, without claims of this project. Columns: ("", "claims") is the number of claims, ("decided", verdict)
    and ("undecided", reason) are its parts, and so is ("", "not tested"). Verdicts and reasons that do not occur are
    left out.
    """
    rows: dict[str, Counter[tuple[str, str]]] = {}
    for entry in of_papers(judged):
        verdict = entry.counted_as
        kind = (UNDECIDED, entry.reason) if verdict == INCONCLUSIVE else (DECIDED, verdict)
        counts = rows.setdefault(entry.paper.cite, Counter())
        counts["", "claims"] += 1
        counts[("", verdict) if verdict == NOT_TESTED else kind] += 1
    kinds = [("", "claims"), *((DECIDED, verdict) for verdict in (REPLICATED, NO_EFFECT, CONTRADICTED))]
    kinds += [*((UNDECIDED, reason) for reason in REASONS), ("", NOT_TESTED)]
    shown = [kind for kind in kinds if any(row[kind] for row in rows.values())]
    cells = [[row[kind] for kind in shown] for row in rows.values()]
    return pd.DataFrame(cells, pd.Index(list(rows), name="paper"), pd.MultiIndex.from_tuples(shown or kinds[:1]))
