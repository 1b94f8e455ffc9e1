"""Whose fault is a wrong tree: that of the search, of the scores, or of what the parser could not return at all?"""

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
    ("the search", "of these, gold scores more, %"),
    ("the search", "UAS"),
    ("the search", "UAS less than exact"),
    ("the exact tree", "is the gold tree, %"),
    ("the exact tree", "gold scores less, %"),
    ("the exact tree", "gold out of reach, %"),
]


def errors(results: Results, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Searches that give up against the exact search, on the same scores and sentences of one run. May have no rows.

    Rows (corpus, system, search): the rows whose decoder scores the gold trees as well (`gold: true`). Columns COLUMNS:
    a search error is a tree that scores less than the best one. Where the exact tree is not the gold one, either the
    model gives the gold tree less, or the parser cannot return it, as it crosses or an arc of it was pruned. Of a
    reference, whose sentences are not kept, the rows that it kept.
    """
    rows = {}
    keep = corpora_of([results], wanted)[results.name]
    if not results.keeps_sentences:
        kept = results.kept_table("errors", header=[0, 1], index_col=[0, 1, 2])
        if len(kept):
            kept = kept.set_axis(pd.MultiIndex.from_tuples(COLUMNS), axis=1)
            return kept[kept.index.get_level_values("corpus").isin(keep)]
    for corpus in keep if results.keeps_sentences else ():
        for run in find(results.params):
            exact = main_rows(results.params, run.learner).get(run.model)
            if results.params.decoders[run.decoder].gold and exact is not None and exact != run and exact.k == run.k:
                rows[corpus, run.model, run.decoder] = _compared(results, corpus, run, exact)
    index = pd.MultiIndex.from_tuples(list(rows), names=["corpus", "system", "search"]) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(COLUMNS))


def _compared(results: Results, corpus: str, run: Row, exact: Row) -> dict[tuple[str, str], float]:
    found, best = frames.sentences(results, corpus, run), frames.sentences(results, corpus, exact)
    best = best.loc[found.index]
    short = found["value"] < best["value"]
    reach = np.isfinite(found["gold"])
    uas = [100 * data["correct"].sum() / max(data["scored"].sum(), 1) for data in (found, best)]
    values = [
        len(found),
        100 * (found["status"] == "optimal").mean(),
        100 * short.mean(),
        100 * (short & reach & (found["gold"] > found["value"])).sum() / max(short.sum(), 1),
        uas[0],
        uas[1] - uas[0],
        100 * (reach & (found["gold"] == best["value"])).mean(),
        100 * (reach & (found["gold"] < best["value"])).mean(),
        100 * (~reach).mean(),
    ]
    return dict(zip(COLUMNS, values, strict=True))
