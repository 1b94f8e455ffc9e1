"""The same system trained again: with other seeds, with gold instead of predicted tags."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.site.collect import Results
from studies.site.rows import at, corpora_of, find, main_rows, metrics_of

FIGURES = {"UAS": "uas", "LAS": "las"}


def seeds(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Systems that were trained with several seeds, all else alike. May have no rows.

    Rows (run, corpus, learner, system); columns: number of seeds; UAS and LAS (%), each with mean and sample standard
    deviation; the same of the difference in UAS from the baseline of the same seed.
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        for corpus in keep[r.name]:
            own = [row for row in r.params.rows_of(corpus) if _seeded(r, corpus, row)]
            for learner, model in dict.fromkeys((row.learner, row.model) for row in own):
                found = _by_seed(r, own, corpus, learner, model)
                base = _by_seed(r, own, corpus, learner, BASELINE)
                gain = (found["uas"] - base["uas"]).dropna() if model != BASELINE else found["uas"].iloc[:0]
                row: dict[tuple[str, str], float] = {("", "seeds"): len(found)}
                for name, values in (("UAS", found["uas"]), ("LAS", found["las"]), ("UAS over the baseline", gain)):
                    row[name, "mean"], row[name, "deviation"] = values.mean(), values.std()
                rows[r.name, corpus, learner, model] = row
    columns = [("", "seeds"), *((n, f) for n in ("UAS", "LAS", "UAS over the baseline") for f in ("mean", "deviation"))]
    index = pd.MultiIndex.from_tuples(list(rows) or [], names=["", "corpus", "learner", "system"]) if rows else None
    data = pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(columns))
    return data.astype({("", "seeds"): int})


def _seeded(results: Results, corpus: str, row: Row) -> bool:
    """Whether a row has another seed than its corpus, all else alike."""
    params = results.params
    tags, seed = params.tags_and_seed(corpus, row)
    return row.system == "graph" and tags == params.tags_of(corpus) and seed != params.seed


def _by_seed(results: Results, own: Sequence[Row], corpus: str, learner: str, model: str) -> pd.DataFrame:
    """uas and las by seed: of the row of the tables, and of those of `own` that are like it."""
    main = main_rows(results.params, learner, corpus).get(model)
    like = [row for row in own if (row.learner, row.model) == (learner, model)]
    if main is not None:
        like = [main, *(row for row in like if (row.decoder, row.k) == (main.decoder, main.k))]
    data = metrics_of(results)
    found = {results.params.tags_and_seed(corpus, row)[1]: data.loc[at(corpus, row), ["uas", "las"]] for row in like}
    return pd.DataFrame(found, index=["uas", "las"], dtype=float).T.sort_index()


def tags(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Systems that were trained and tested with predicted and with gold tags. May have no rows.

    Rows (run, corpus, learner, system); columns: UAS and LAS (%) with predicted tags, with gold tags, and what gold
    tags bring.
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        data, params = metrics_of(r), r.params
        for corpus in keep[r.name]:
            for v in params.rows_of(corpus) if params.tags_of(corpus) == "predicted" else ():
                same = find(params, corpus, model=v.model, learner=v.learner, decoder=v.decoder, k=v.k)
                if not same or params.tags_and_seed(corpus, v) != ("gold", params.seed):
                    continue
                row: dict[tuple[str, str], float] = {}
                for name, column in FIGURES.items():
                    predicted, gold = (float(data.loc[at(corpus, x), column]) for x in (same[0], v))
                    row |= {(name, "predicted"): predicted, (name, "gold"): gold}
                    row[name, "difference"] = gold - predicted
                rows[r.name, corpus, v.learner, v.model] = row
    columns = pd.MultiIndex.from_product([list(FIGURES), ["predicted", "gold", "difference"]])
    index = pd.MultiIndex.from_tuples(list(rows), names=["", "corpus", "learner", "system"]) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)
