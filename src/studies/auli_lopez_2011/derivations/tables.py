"""Treebanks that were translated to CCG derivations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg.tables import _indexed
from studies.site.collect import Results


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Corpus -> what its translation to CCG counted. None where no corpus is listed."""
    return {corpus: results.read("derivations", f"{corpus}.json") for corpus in results.params.section(CCG).derivations}


def translated(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, corpus): sentences with a derivation, and how many lexical categories their words have."""
    rows = []
    for r in results:
        for corpus, report in measured(r).items():
            whole = report["all"]
            why = next(iter(whole["failures"]), "")
            rows.append(
                {"run": r.name, "corpus": corpus, "sentences": whole["sentences"], "coverage, %": whole["coverage"]}
                | {"words": whole["tokens"], "categories": whole["categories"], "five times": whole["categories_5"]}
                | {"mostly fails for": why}
            )
    return _indexed(rows, ["run", "corpus"])
