"""Accuracy of one row less that of another on the same corpus, with an interval, whatever a run has kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import nan, sqrt

import pandas as pd

from studies.common.params import SYSTEMS, Row
from studies.qian_liu_2013.comparison.tables import BASELINE, FIGURES, scored, significance
from studies.site import frames
from studies.site.collect import Results
from studies.site.pooled import Z
from studies.site.rows import at, learners_of, metrics_of, named_rows, seeds_of
from treebound.metrics.significance import paired_bootstrap

KEYS = ["corpus", "learner", "figure", "row", "other", "seed"]


def differences(results: Results, pairs: Iterable[tuple[str, str, str]], wanted: Collection[str] = ()) -> pd.DataFrame:
    """One row a seed that both rows have. Index KEYS; columns difference, low, high
    (points, 95 % interval), interval (its kind).

    pairs   (figure of comparison.FIGURES, row, other row), by the names of `rows.named_rows` or of a row of another
            system; where a corpus lacks one of the two there is no line
    wanted  corpora; empty: all

    `paired`: a bootstrap over sentences, or what a reference kept of one. `unpaired`: neither is there, and the words
    of the two rows are taken for two samples; as both rows err on much the same words, that interval is the wider one.
    """
    kept, metrics, found = _kept(results), metrics_of(results), {}
    others = set(SYSTEMS) - {"graph"}
    of_others = {(row["corpus"], row["row"]): row for row in frames.of_systems(results, *others)}
    for figure, row, other in dict.fromkeys(pairs):
        column = FIGURES[figure][0]
        for corpus in wanted or results.corpora:
            for learner in learners_of(results.params):
                rows = named_rows(results.params, corpus, learner)
                rows |= {name: results.params.rows[name] for of, name in of_others if of == corpus}
                if row not in rows or other not in rows:
                    continue
                names = [corpus, learner, figure, *(_model(rows, name) for name in (row, other))]
                mine = seeds_of(results.params, corpus, rows[row])
                theirs = seeds_of(results.params, corpus, rows[other])
                for seed in mine:
                    if seed not in theirs:
                        continue
                    a, b, key = mine[seed], theirs[seed], (*names, seed)
                    if key in kept.index:
                        found[key] = kept.loc[key].to_list()
                        continue
                    if results.keeps_sentences:
                        one, two = (scored(results, corpus, which, figure) for which in (a, b))
                        if len(one):
                            test = paired_bootstrap(one, two, seed=results.params.seed)
                            found[key] = [test["difference"], test["low"], test["high"], "paired"]
                        continue
                    own, its = (
                        metrics.loc[at(corpus, x)] if x.system == "graph" else of_others[corpus, x.name] for x in (a, b)
                    )
                    shares, n = (own[column] / 100, its[column] / 100), own["scored_words"]
                    half = Z * sqrt(sum(share * (1 - share) for share in shares) / n) if n else nan
                    value = 100 * (shares[0] - shares[1])
                    if value == value:  # a corpus without labels has no labelled figure
                        found[key] = [value, value - 100 * half, value + 100 * half, "unpaired"]
    data = pd.DataFrame(list(found.values()), columns=["difference", "low", "high", "interval"])
    return data.set_index(pd.MultiIndex.from_tuples(list(found) or [("",) * len(KEYS)], names=KEYS)[: len(found)])


def _model(rows: Mapping[str, Row], name: str) -> str:
    """The name of the model whose row of the main comparison `name` is another name of; else `name`."""
    run = rows.get(name)
    return run.model if run is not None and rows.get(run.model) == run else name


def _kept(results: Results) -> pd.DataFrame:
    """What a reference that is committed without its sentences keeps of `differences`, or of `significance`."""
    if results.keeps_sentences:
        return pd.DataFrame()
    parts = []
    for figure in ("UAS", "LAS"):
        tested = significance(results, figure=figure).rename_axis(["corpus", "learner", "row"]).reset_index()
        parts.append(tested.assign(figure=figure, other=BASELINE, interval="paired"))
    data = pd.concat([results.kept_table("differences"), *parts])
    data = data.assign(
        seed=data["seed"].fillna(results.params.seed).astype(int) if "seed" in data else results.params.seed
    )
    data = data.drop_duplicates(KEYS)
    return data.set_index(KEYS)[["difference", "low", "high", "interval"]]
