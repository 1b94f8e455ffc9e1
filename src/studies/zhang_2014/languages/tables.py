"""Tables that compare sampling parsers with exact search by language: Zhang et al. (2014), Table 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.pooled import Z, pool, variance
from studies.zhang_2014.comparison import tables

#: pairs of rows to compare
COMPARED = (*tables.GLOBAL, *tables.LISTED, *tables.CROSSING)
#: rows to show, if a corpus has them
ROWS = (
    *("carreras", tables.EXACT, tables.TURBO, tables.FULL, *(other for _, other in tables.LISTED)),
    *("second-order-crossing", f"{tables.TURBO}-crossing", f"{tables.FULL}-crossing"),
)


def accuracy(runs: Sequence[Results]) -> pd.DataFrame:
    """Return UAS of ROWS, search errors (%), and the paper's figures for the language. Index: (language, corpus).

    UAS is a mean over seeds. Search errors are sentences whose gold tree scores more than the tree that `sampling full`
    returns.
    """
    printed, rows = tables.published_accuracy(), {}
    for results in runs:
        metrics, means = tables.measured(results), tables.means_over_seeds(results)
        for corpus, language in _places(results):
            by_row = metrics[metrics["corpus"] == corpus].set_index("row")
            uas = {name.removesuffix(tables.UNLABELLED): mean for name, mean in means[corpus].items()}
            row = {name: uas[name] for name in ROWS if name in uas}
            if tables.FULL in row:
                named = tables.rows_of(results, corpus)
                full = by_row.loc[named[tables.FULL if tables.FULL in named else tables.FULL + tables.UNLABELLED].name]
                row["search errors, %"] = 100 * float(full["search_errors"]) / float(full["sentences"])
                if language in printed.index:
                    row |= {f"published, {name}": value for name, value in printed.loc[language].items()}
                rows[language, corpus] = row
    index = pd.MultiIndex.from_tuples(list(rows) or [("", "")], names=["language", "corpus"])[: len(rows)]
    data = pd.DataFrame(list(rows.values()), index=index)
    order = [name for name in ROWS if name in data] + [name for name in data if name not in ROWS]
    return data[order].sort_index(level="language", sort_remaining=False, kind="stable").dropna(axis=1, how="all")


def gains(runs: Sequence[Results]) -> pd.DataFrame:
    """Return `comparison.tables.gains` of the pairs in COMPARED. Index: (pair, language, corpus).

    The name of a pair is made of the names of its two rows, see `_less`.
    """
    parts = []
    for results in runs:
        languages = dict(_places(results))
        gained = tables.gains(results, [*tables.ways(tables.GLOBAL), *tables.LISTED, *tables.CROSSING]).reset_index()
        if gained.empty:
            continue
        for side in ("row", "other"):
            gained[side] = gained[side].str.removesuffix(tables.UNLABELLED)
        gained["pair"] = gained["row"] + " minus " + gained["other"]
        parts.append(gained.assign(language=gained["corpus"].map(languages)))
    data = pd.concat(parts) if parts else pd.DataFrame(columns=["pair", "language", "corpus", *tables.DIFFERENCES])
    order = list(map(_less, COMPARED))
    data["pair"] = pd.Categorical(data["pair"], order)
    data = data.sort_values(["pair", "language"], kind="stable").astype({"pair": str})
    return data.set_index(["pair", "language", "corpus"])[tables.DIFFERENCES].astype(float)


def means(gained: pd.DataFrame) -> pd.DataFrame:
    """Pool `gains` over languages. Index: pair.

    Columns: the mean, its 95 % interval, the numbers of languages and treebanks, and the number of languages with a
    positive difference (`ahead`).

    The gains of a language are first averaged over its treebanks. The pooling has random effects (`site.pooled`):
    languages, sentences and trainings are all treated as samples. With a single language, the interval covers the
    variation over its sentences.
    """
    rows = {}
    for pair, treebanks in gained.groupby(level="pair", sort=False):
        by_language = treebanks.assign(variance=variance(treebanks["low"], treebanks["high"])).groupby(level="language")
        differences = by_language["difference"].mean()
        variances = by_language["variance"].agg(lambda x: x.sum() / len(x) ** 2)
        if len(differences) > 1:
            mean, _, low, high = map(float, pool(differences, variances).mean)
        else:
            half_width = Z * float(np.sqrt(variances.iloc[0]))
            mean, low, high = differences.iloc[0], differences.iloc[0] - half_width, differences.iloc[0] + half_width
        rows[pair] = {
            **{"difference": mean, "low": low, "high": high, "languages": len(differences)},
            **{"treebanks": len(treebanks), "ahead": int((differences > 0).sum())},
        }
    return pd.DataFrame(rows).T.rename_axis("pair")


def picture(gained: pd.DataFrame) -> pd.DataFrame:
    """Return `gains` without the pairs that rerank lists, for the figure `site.charts.gains`.

    The figure has one line per treebank and one colour per pair.
    """
    data = gained.reset_index()
    data = data[data["pair"].isin(list(map(_less, tables.GLOBAL)))]
    return data.assign(corpus=data["language"] + ": " + data["corpus"], system=data["pair"])


def _less(pair: tuple[str, str]) -> str:
    """Return the name of a pair of rows in tables."""
    return f"{pair[0]} minus {pair[1]}"


def _places(results: Results) -> list[tuple[str, str]]:
    """Return the pairs (corpus, name of its language) of a run."""
    sources = frames.convert(results).attrs["sources"]
    return [(corpus, sources[corpus]["language"]) for corpus in results.corpora if corpus in sources]
