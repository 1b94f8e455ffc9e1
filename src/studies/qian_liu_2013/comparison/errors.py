"""Tables that attribute wrong trees to the search, to the scores, or to trees that the parser cannot return."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.common.params import Row
from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import corpora_of, find, main_rows

COLUMNS = [
    ("", "sentences"),
    ("the search", "proved, %"),
    ("the search", "search errors, %"),
    ("the search", "search errors below gold, %"),
    ("the search", "UAS"),
    ("the search", "UAS less than exact"),
    ("the exact tree", "is the gold tree, %"),
    ("the exact tree", "gold scores less, %"),
    ("the exact tree", "gold out of reach, %"),
]


def errors(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare searches that give up with the exact search, on the same scores and sentences. May have no rows.

    Rows: (corpus, system, search), for the rows whose decoder scores the gold trees as well (`gold: true`). Columns:
    COLUMNS. A search error is a tree that scores less than the best tree. If the exact tree is not the gold tree, there
    are two cases. Either the model scores the gold tree lower, or the parser cannot return it because its arcs cross or
    one of its arcs was pruned. For a reference run without sentences, the stored rows are returned.
    """
    rows = {}
    keep = corpora_of([results], wanted)[results.name]
    if not results.keeps_sentences:
        stored = results.kept_table("errors", header=[0, 1], index_col=[0, 1, 2])
        if len(stored):
            stored = stored.set_axis(pd.MultiIndex.from_tuples(COLUMNS), axis=1)
            return stored[stored.index.get_level_values("corpus").isin(keep)]
    for corpus in keep if results.keeps_sentences else ():
        for run in find(results.params):
            exact = main_rows(results.params, run.learner).get(run.model)
            if results.params.decoders[run.decoder].gold and exact is not None and exact != run and exact.k == run.k:
                rows[corpus, run.model, run.decoder] = _compared(results, corpus, run, exact)
    index = pd.MultiIndex.from_tuples(list(rows), names=["corpus", "system", "search"]) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(COLUMNS))


def _compared(results: Results, corpus: str, run: Row, exact: Row) -> dict[tuple[str, str], float]:
    """Return the values of COLUMNS for the row `run`, compared with the row `exact` of the exact search."""
    searched, optimal = frames.sentences(results, corpus, run), frames.sentences(results, corpus, exact)
    optimal = optimal.loc[searched.index]
    short = searched["value"] < optimal["value"]
    reach = np.isfinite(searched["gold"])
    uas = [100 * data["correct"].sum() / max(data["scored"].sum(), 1) for data in (searched, optimal)]
    values = [
        len(searched),
        100 * (searched["status"] == "optimal").mean(),
        100 * short.mean(),
        100 * (short & reach & (searched["gold"] > searched["value"])).sum() / max(short.sum(), 1),
        uas[0],
        uas[1] - uas[0],
        100 * (reach & (searched["gold"] == optimal["value"])).mean(),
        100 * (reach & (searched["gold"] < optimal["value"])).mean(),
        100 * (~reach).mean(),
    ]
    return dict(zip(COLUMNS, values, strict=True))
