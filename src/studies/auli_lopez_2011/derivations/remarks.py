"""Sentences about the translation to CCG derivations, computed from the table's own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, span

NO_DERIVATIONS = "No run here translates a corpus: list some under `ccg: derivations:` in params.yaml."


@about(NO_DERIVATIONS)
def translated(data: pd.DataFrame) -> Said:
    """About `tables.translated`."""
    data = data[~data.index.get_level_values("corpus").duplicated()]  # of two runs the same
    yield (
        f"Of {data['sentences'].sum():,.0f} sentences in {len(data)} corpora, {span(data['coverage, %'], '{:.1f} %')} "
        "have a derivation; the table says what most of the others fail for."
    )
