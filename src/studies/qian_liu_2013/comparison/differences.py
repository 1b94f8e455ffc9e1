"""Differences in accuracy between two rows on the same corpus, with intervals."""

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
    """Return how much more accurate one row is than another: one line for each seed that both rows have.

    Index: KEYS. Columns: difference (points), low and high (ends of its 95 % interval), interval (the method).

    pairs   (key of `comparison.tables.FIGURES`, name of a row, name of another row). Names of graph-based rows are keys
            of `rows.named_rows`. A pair has no line for a corpus that lacks one of the two rows
    wanted  corpora; empty means all

    The method `paired` is a bootstrap over sentences, computed or read from a stored table. The method `unpaired` is
    used if neither the sentences nor a stored result exist. It treats the words of the two rows as two independent
    samples. In fact both rows err on much the same words, so this interval is wider.
    """
    stored, metrics, lines = _kept(results), metrics_of(results), {}
    other_systems = set(SYSTEMS) - {"graph"}
    of_others = {(row["corpus"], row["row"]): row for row in frames.of_systems(results, *other_systems)}
    for figure, row, other in dict.fromkeys(pairs):
        column = FIGURES[figure][0]
        for corpus in wanted or results.corpora:
            for learner in learners_of(results.params):
                rows = named_rows(results.params, corpus, learner)
                rows |= {name: results.params.rows[name] for place, name in of_others if place == corpus}
                if row not in rows or other not in rows:
                    continue
                names = [corpus, learner, figure, *(_model(rows, name) for name in (row, other))]
                by_seed = seeds_of(results.params, corpus, rows[row])
                other_by_seed = seeds_of(results.params, corpus, rows[other])
                for seed in by_seed:
                    if seed not in other_by_seed:
                        continue
                    a, b, key = by_seed[seed], other_by_seed[seed], (*names, seed)
                    if key in stored.index:
                        lines[key] = stored.loc[key].to_list()
                        continue
                    if results.keeps_sentences:
                        first, second = (scored(results, corpus, which, figure) for which in (a, b))
                        if len(first):
                            test = paired_bootstrap(first, second, seed=results.params.seed)
                            lines[key] = [test["difference"], test["low"], test["high"], "paired"]
                        continue
                    first_metrics, second_metrics = (
                        metrics.loc[at(corpus, x)] if x.system == "graph" else of_others[corpus, x.name] for x in (a, b)
                    )
                    shares, n = (
                        (first_metrics[column] / 100, second_metrics[column] / 100),
                        first_metrics["scored_words"],
                    )
                    half = Z * sqrt(sum(share * (1 - share) for share in shares) / n) if n else nan
                    value = 100 * (shares[0] - shares[1])
                    if value == value:  # NaN for labelled figures of a corpus without labels
                        lines[key] = [value, value - 100 * half, value + 100 * half, "unpaired"]
    data = pd.DataFrame(list(lines.values()), columns=["difference", "low", "high", "interval"])
    return data.set_index(pd.MultiIndex.from_tuples(list(lines) or [("",) * len(KEYS)], names=KEYS)[: len(lines)])


def _model(rows: Mapping[str, Row], name: str) -> str:
    """Return the model of the row `name` if that row is the main row of its model; otherwise return `name` itself."""
    run = rows.get(name)
    return run.model if run is not None and rows.get(run.model) == run else name


def _kept(results: Results) -> pd.DataFrame:
    """Return the stored `differences` and `significance` of a reference run that is committed without its sentences.

    The table is empty for any other run.
    """
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
