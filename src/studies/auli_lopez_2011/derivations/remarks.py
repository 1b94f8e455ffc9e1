"""Generated sentences about the translation to CCG derivations, computed from the data of the table."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, span

NO_DERIVATIONS = "No run on this page translates a corpus. List corpora under `ccg: derivations:` in params.yaml."


@about(NO_DERIVATIONS)
def translated(data: pd.DataFrame) -> Sentences:
    """Report the share of sentences with a derivation. data: `tables.translated`."""
    data = data[~data.index.get_level_values("corpus").duplicated()]  # two runs have the same derivations of a corpus
    yield (
        f"The {len(data)} corpora have {data['sentences'].sum():,.0f} sentences, and "
        f"{span(data['coverage, %'], '{:.1f} %')} of a corpus have a derivation. The table gives the most frequent "
        "reason for a failure."
    )
