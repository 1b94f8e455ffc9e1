"""Tables of repeated trainings of one system: with other seeds, and with gold instead of predicted tags."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.comparison.headline import gains
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.site.collect import Results
from studies.site.rows import at, corpora_of, find, main_rows, metrics_of

FIGURES = {"UAS": "uas", "LAS": "las"}
OVER_BASELINE = "UAS over the baseline"  #: heading of the columns of `seeds` about the difference from the baseline


def seeds(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return systems that were trained with several seeds under otherwise equal settings. May have no rows.

    Rows: (run, corpus, learner, system). Columns: the number of seeds; mean and sample standard deviation of UAS (%),
    of LAS (%), and of the difference in UAS from the baseline of the same seed. `low` and `high` are the ends of the
    95 % interval of this difference over seeds and test sentences.
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        for corpus in keep[r.name]:
            repeats = [row for row in r.params.rows_of(corpus) if _seeded(r, corpus, row)]
            for learner, model in dict.fromkeys((row.learner, row.model) for row in repeats):
                by_seed = _by_seed(r, repeats, corpus, learner, model)
                base = _by_seed(r, repeats, corpus, learner, BASELINE)
                gain = (by_seed["uas"] - base["uas"]).dropna() if model != BASELINE else by_seed["uas"].iloc[:0]
                row: dict[tuple[str, str], float] = {("", "seeds"): len(by_seed)}
                for name, values in (("UAS", by_seed["uas"]), ("LAS", by_seed["las"]), (OVER_BASELINE, gain)):
                    row[name, "mean"], row[name, "deviation"] = values.mean(), values.std()
                rows[r.name, corpus, learner, model] = row
    columns = [("", "seeds"), *((n, f) for n in ("UAS", "LAS", OVER_BASELINE) for f in ("mean", "deviation"))]
    index = pd.MultiIndex.from_tuples(list(rows) or [], names=["", "corpus", "learner", "system"]) if rows else None
    data = pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(columns))
    data = data.astype({("", "seeds"): int})
    models = list(dict.fromkeys(key[-1] for key in rows if key[-1] != BASELINE))
    gained = gains(results, wanted, models).reindex(data.index) if models else None
    for end in ("low", "high"):
        data[OVER_BASELINE, end] = float("nan") if gained is None else gained[end].to_numpy()
    return data


def _seeded(results: Results, corpus: str, row: Row) -> bool:
    """Return whether a row is graph-based and has the tags of the corpus, but another seed than the run."""
    params = results.params
    tags, seed = params.tags_and_seed(corpus, row)
    return row.system == "graph" and tags == params.tags_of(corpus) and seed != params.seed


def _by_seed(results: Results, repeats: Sequence[Row], corpus: str, learner: str, model: str) -> pd.DataFrame:
    """Return UAS and LAS of one model: one row per seed.

    The results come from the main row of the model, and from the rows of `repeats` with the same model, learner,
    decoder and k.
    """
    main = main_rows(results.params, learner, corpus).get(model)
    alike = [row for row in repeats if (row.learner, row.model) == (learner, model)]
    if main is not None:
        alike = [main, *(row for row in alike if (row.decoder, row.k) == (main.decoder, main.k))]
    data = metrics_of(results)
    by_seed = {results.params.tags_and_seed(corpus, row)[1]: data.loc[at(corpus, row), ["uas", "las"]] for row in alike}
    return pd.DataFrame(by_seed, index=["uas", "las"], dtype=float).T.sort_index()


def tags(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return systems that were trained and tested with predicted and with gold tags. May have no rows.

    Rows: (run, corpus, learner, system). Columns: UAS and LAS (%) with predicted tags, with gold tags, and their
    difference.
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        data, params = metrics_of(r), r.params
        for corpus in keep[r.name]:
            for variant in params.rows_of(corpus) if params.tags_of(corpus) == "predicted" else ():
                originals = find(
                    params, corpus, model=variant.model, learner=variant.learner, decoder=variant.decoder, k=variant.k
                )
                if not originals or params.tags_and_seed(corpus, variant) != ("gold", params.seed):
                    continue
                row: dict[tuple[str, str], float] = {}
                for name, column in FIGURES.items():
                    predicted, gold = (float(data.loc[at(corpus, run), column]) for run in (originals[0], variant))
                    row |= {(name, "predicted"): predicted, (name, "gold"): gold}
                    row[name, "difference"] = gold - predicted
                rows[r.name, corpus, variant.learner, variant.model] = row
    columns = pd.MultiIndex.from_product([list(FIGURES), ["predicted", "gold", "difference"]])
    index = pd.MultiIndex.from_tuples(list(rows), names=["", "corpus", "learner", "system"]) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)
