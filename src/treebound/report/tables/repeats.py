"""The same system trained again: with other seeds, with gold instead of predicted tags."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pandas as pd

from treebound.experiments.params import Variant
from treebound.report.collect import Results
from treebound.report.tables.comparison import BASELINE
from treebound.report.tables.rows import at, corpora_of, corpus_rows, metrics_of

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
        own = [v for v in r.params.variants if v.tags == r.params.tags_of(v.corpus) and not r.params.plain(v)]
        for corpus in keep[r.name]:
            names = dict.fromkeys((v.learner, v.model) for v in own if v.corpus == corpus)
            for learner, model in names:
                found = _by_seed(r, [v for v in own if v.corpus == corpus], corpus, learner, model)
                base = _by_seed(r, [v for v in own if v.corpus == corpus], corpus, learner, BASELINE)
                gain = (found["uas"] - base["uas"]).dropna() if model != BASELINE else found["uas"].iloc[:0]
                row: dict[tuple[str, str], float] = {("", "seeds"): len(found)}
                for name, values in (("UAS", found["uas"]), ("LAS", found["las"]), ("UAS over the baseline", gain)):
                    row[name, "mean"], row[name, "deviation"] = values.mean(), values.std()
                rows[r.name, corpus, learner, model] = row
    columns = [("", "seeds"), *((n, f) for n in ("UAS", "LAS", "UAS over the baseline") for f in ("mean", "deviation"))]
    index = pd.MultiIndex.from_tuples(list(rows) or [], names=["", "corpus", "learner", "system"]) if rows else None
    data = pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(columns))
    return data.astype({("", "seeds"): int})


def _by_seed(results: Results, variants: Sequence[Variant], corpus: str, learner: str, model: str) -> pd.DataFrame:
    """uas and las by seed: of the row of the tables, and of its variants with other seeds."""
    main = corpus_rows(results.params, corpus, learner).get(model)
    varied = results.variants()
    like = [v for v in variants if (v.learner, v.model) == (learner, model)]
    if main is not None:
        like = [v for v in like if (v.decoder, v.k) == (main.decoder, main.k)]
    found = {v.seed: varied.iloc[results.params.variants.index(v)][["uas", "las"]] for v in like}
    if main is not None:
        found[results.params.seed] = metrics_of(results).loc[at(corpus, main), ["uas", "las"]]
    return pd.DataFrame(found, index=["uas", "las"], dtype=float).T.sort_index()


def tags(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Systems that were trained and tested with predicted and with gold tags. May have no rows.

    Rows (run, corpus, learner, system); columns: UAS and LAS (%) with predicted tags, with gold tags, and what gold
    tags bring.
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        base, varied = metrics_of(r), r.variants()
        for i, v in enumerate(r.params.variants):
            same = v.corpus in keep[r.name] and v.seed == r.params.seed and at(v.corpus, v) in base.index
            if not same or v.tags != "gold" or r.params.tags_of(v.corpus) != "predicted":
                continue
            row: dict[tuple[str, str], float] = {}
            for name, column in FIGURES.items():
                predicted, gold = float(base.loc[at(v.corpus, v), column]), float(varied.iloc[i][column])
                row |= {(name, "predicted"): predicted, (name, "gold"): gold, (name, "difference"): gold - predicted}
            rows[r.name, v.corpus, v.learner, v.model] = row
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
        runs = corpus_rows(results.params, corpus, learner)
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
