"""Table of the treebanks that were translated to CCG derivations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg.tables import _indexed
from studies.site.collect import Results


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Return the report of the translation to CCG, by corpus. The result is empty if the run lists no corpus."""
    return {corpus: results.read("derivations", f"{corpus}.json") for corpus in results.params.section(CCG).derivations}


def translated(results: Sequence[Results]) -> pd.DataFrame:
    """Return the share of sentences with a derivation, and the number of lexical categories. Rows: (run, corpus)."""
    rows = []
    for r in results:
        for corpus, report in measured(r).items():
            counts = report["all"]
            reason = next(iter(counts["failures"]), "")
            rows.append(
                {"run": r.name, "corpus": corpus, "sentences": counts["sentences"], "coverage, %": counts["coverage"]}
                | {"words": counts["tokens"], "categories": counts["categories"], "five times": counts["categories_5"]}
                | {"mostly fails for": reason}
            )
    return _indexed(rows, ["run", "corpus"])
