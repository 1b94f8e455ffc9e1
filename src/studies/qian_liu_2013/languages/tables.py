"""Gains over the baseline on many treebanks: the reference's run on more corpora."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

import pandas as pd

from studies.qian_liu_2013.comparison.repeats import FIGURES
from studies.qian_liu_2013.comparison.tables import AGAINST, BASELINE, significance
from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import at, main_rows, metrics_of, sweep
from treebound.core.errors import InputError


def multilingual(results: Results | None) -> pd.DataFrame:
    """The systems of a run over many corpora, if there was one. Rows (language, corpus).

    Columns: share of test sentences with crossing arcs (%); UAS and LAS (%) of every system and the share of sentences
    that it proves optimal; UAS of each system less that of the one before it, and less that of the baseline, with p
    (`significance`: a bootstrap over sentences) where the run kept it.
    """
    if results is None:
        return pd.DataFrame()
    data, converted = metrics_of(results), frames.convert(results)
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
