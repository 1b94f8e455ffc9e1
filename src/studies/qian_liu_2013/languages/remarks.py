"""Sentences about gains on many treebanks, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison.remarks import against, over_corpora
from studies.site.sentences import UNTESTED, Sentences, about, correlation, span

#: the system whose trees may cross
CROSSING = "non-projective"
#: fewest corpora for a correlation over corpora
FEWEST = 8


@about("The reference run has no such part yet (`make reference`).")
def multilingual(data: pd.DataFrame) -> Sentences:
    """Describe `tables.multilingual`, which may have no rows: gains, and their correlation with crossing arcs."""
    tested = against(data)
    for system, rows in tested:
        yield over_corpora(system, rows, data.attrs.get("learner", "")), rows
    for system, gain in data["UAS gained over the one before"].items() if not tested else ():
        ends = span(gain.droplevel("language"), "{:+.2f}")
        yield f"{system}, UAS over the system before it: {gain.mean():+.2f} on average of {len(gain)} corpora, {ends}."
    crossing, steps = data["", "crossing, %"], data["UAS gained over the one before"]
    last = steps[CROSSING] if CROSSING in steps else steps.iloc[:, -1]
    if len(data) >= FEWEST and crossing.std() > 0 and last.std() > 0:
        language = pd.Series(data.index.get_level_values("language"), data.index, name="language")
        yield (
            f"The share of test sentences with crossing arcs and what {last.name} gains over the system before it have "
            f"a rank correlation over corpora of {correlation(crossing, last, language)}."
        )
    if not tested:
        yield UNTESTED
