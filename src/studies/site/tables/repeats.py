"""The same system trained again: with other seeds, with gold instead of predicted tags."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

import pandas as pd

from studies.common.params import Row
from studies.site.collect import Results
from studies.site.tables.comparison import BASELINE, significance
from studies.site.tables.rows import at, corpora_of, find, main_rows, metrics_of, sweep
from treebound.core.errors import InputError

AGAINST = " against the baseline"
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


def multilingual(results: Results | None) -> pd.DataFrame:
    """The systems of a run over many corpora, if there was one. Rows (language, corpus).

    Columns: share of test sentences with crossing arcs (%); UAS and LAS (%) of every system and the share of sentences
    that it proves optimal; UAS of each system less that of the one before it, and less that of the baseline, with p
    (`significance`: a bootstrap over sentences) where the run kept it.
    """
    if results is None:
        return pd.DataFrame()
    data, converted = metrics_of(results), results.convert()
    sources, test = converted.attrs["sources"], converted[converted["split"] == "test"].set_index("corpus")
    learner = results.params.learners[0]
    kept = results.kept_table("significance-uas")
    tested = kept.set_index(["corpus", "learner", "system"])["p"] if len(kept) else {}
    rows = {}
    for corpus in results.corpora:
        runs = main_rows(results.params, learner, corpus)
        counted = test.loc[corpus]
        share = 100 * counted["nonprojective_sentences"] / counted["sentences"]
        row: dict[tuple[str, str], float] = {("", "sentences"): int(counted["sentences"]), ("", "crossing, %"): share}
        for name, column in FIGURES.items():
            for model, run in runs.items():
                row[name, model] = float(data.loc[at(corpus, run), column])
        for model, run in runs.items():
            found = data.loc[at(corpus, run)]
            row["proved optimal, %", model] = 100 * float(found["certified"]) / float(found["sentences"])
        for before, after in itertools.pairwise(runs):
            row["UAS gained over the one before", after] = row["UAS", after] - row["UAS", before]
        for model in runs if len(kept) else ():
            if model != BASELINE:
                gain = row["UAS", model] - row["UAS", BASELINE]
                row |= {(model + AGAINST, "UAS"): gain, (model + AGAINST, "p"): float(tested[corpus, learner, model])}
        rows[sources[corpus]["language"], corpus] = row
    index = pd.MultiIndex.from_tuples(list(rows), names=["language", "corpus"])
    return pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(list(row)))


#: systems that `pictured` shows, besides the one that is decoded with every k
PICTURED = ("combined", "non-projective")


def pictured(results: Results, more: Results | None, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """What `plots.gains` draws: all factors, and trees that may cross, against the baseline, on every corpus of a run
    and of another one over more corpora. Columns: corpus, system, difference, low, high.
    """
    parts = []
    for run in (results, more):
        if run is not None:
            models = list(PICTURED)
            with suppress(InputError):  # a run without a sweep over k
                models.append(sweep(run.params)[0].model)
            parts.append(significance(run, wanted if run is results else (), models=models).reset_index())
    data = pd.concat([part for part in parts if len(part)] or parts[:1])
    data["system"] = data["system"] + ", " + data["learner"]
    return data[["corpus", "system", "difference", "low", "high"]]
