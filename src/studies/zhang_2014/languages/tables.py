"""Parsers that sample beside exact search, language by language: Zhang et al. (2014), Table 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.pooled import Z, pool
from studies.zhang_2014.comparison import tables
from studies.zhang_2014.comparison import tables as comparison_tables

#: pairs of rows that are compared
COMPARED = (*tables.GLOBAL, *tables.LISTED, *tables.CROSSING)
#: rows that are shown, where a corpus has them
ROWS = (
    *("carreras", tables.EXACT, tables.TURBO, tables.FULL, *(other for _, other in tables.LISTED)),
    *("second-order-crossing", f"{tables.TURBO}-crossing", f"{tables.FULL}-crossing"),
)
#: languages that the paper has, too: our code -> its name, whose figures are columns of its Table 2
PUBLISHED = {
    **{"cs": "Czech", "en": "English", "es": "Spanish", "ja": "Japanese", "nl": "Dutch", "pt": "Portuguese"},
    **{"sv": "Swedish", "tr": "Turkish", "zh": "Chinese"},
}


def accuracy(runs: Sequence[Results]) -> pd.DataFrame:
    """Index (language, corpus): UAS of ROWS, search errors (%), and what the paper has of the language.

    The search errors are sentences whose right tree scores more than the one that `sampling full` finds.
    """
    printed, rows = tables.published_accuracy(), {}
    for results in runs:
        found = pd.concat([frames.decode(results), comparison_tables.measured(results)], ignore_index=True)
        for corpus, language in _places(results):
            of = found[found["corpus"] == corpus].set_index("row")
            named = {
                name.removesuffix(tables.UNLABELLED): row.name for name, row in tables.rows_of(results, corpus).items()
            }
            row = {name: float(of.loc[named[name], "uas"]) for name in ROWS if named.get(name) in of.index}
            if tables.FULL in row:
                full = of.loc[named[tables.FULL]]
                row["search errors, %"] = 100 * float(full["search_errors"]) / float(full["sentences"])
                if language in PUBLISHED:
                    row |= {f"published, {name}": value for name, value in printed.loc[PUBLISHED[language]].items()}
                rows[language, corpus] = row
    index = pd.MultiIndex.from_tuples(list(rows) or [("", "")], names=["language", "corpus"])[: len(rows)]
    data = pd.DataFrame(list(rows.values()), index=index)
    order = [name for name in ROWS if name in data] + [name for name in data if name not in ROWS]
    return data[order].sort_index(level="language", sort_remaining=False, kind="stable").dropna(axis=1, how="all")


def gains(runs: Sequence[Results]) -> pd.DataFrame:
    """Index (pair, language, corpus): `sampling.gains` of COMPARED, a pair as `A less B`."""
    parts = []
    for results in runs:
        languages = dict(_places(results))
        found = tables.gains(results, [*tables.ways(tables.GLOBAL), *tables.LISTED, *tables.CROSSING]).reset_index()
        if found.empty:
            continue
        for side in ("row", "other"):
            found[side] = found[side].str.removesuffix(tables.UNLABELLED)
        found["pair"] = found["row"] + " less " + found["other"]
        parts.append(found.assign(language=found["corpus"].map(languages)))
    data = pd.concat(parts) if parts else pd.DataFrame(columns=["pair", "language", "corpus", *tables.DIFFERENCES])
    order = list(map(_less, COMPARED))
    data["pair"] = pd.Categorical(data["pair"], order)
    data = data.sort_values(["pair", "language"], kind="stable").astype({"pair": str})
    return data.set_index(["pair", "language", "corpus"])[tables.DIFFERENCES].astype(float)


def means(gained: pd.DataFrame) -> pd.DataFrame:
    """Index pair: `gains` pooled over languages, of a language's treebanks first, with its 95 % interval; how many.

    Random effects (`site.pooled`): languages are a sample, and so are sentences and trainings. Of one language the
    interval is that of its sentences.
    """
    rows = {}
    for pair, of in gained.groupby(level="pair", sort=False):
        by = of.assign(variance=((of["high"] - of["low"]) / (2 * Z)) ** 2).groupby(level="language")
        each = by["difference"].mean()
        variances = by["variance"].agg(lambda x: x.sum() / len(x) ** 2)
        if len(each) > 1:
            mean, _, low, high = map(float, pool(each, variances).mean)
        else:
            half = Z * float(np.sqrt(variances.iloc[0]))
            mean, low, high = each.iloc[0], each.iloc[0] - half, each.iloc[0] + half
        rows[pair] = {
            **{"difference": mean, "low": low, "high": high, "languages": len(each)},
            **{"treebanks": len(of), "ahead": int((each > 0).sum())},
        }
    return pd.DataFrame(rows).T.rename_axis("pair")


def picture(gained: pd.DataFrame) -> pd.DataFrame:
    """`gains` but for those of lists, as `site.charts.gains` takes them: a line a treebank and a colour a pair."""
    data = gained.reset_index()
    data = data[data["pair"].isin(list(map(_less, tables.GLOBAL)))]
    return data.assign(corpus=data["language"] + ", " + data["corpus"], system=data["pair"])


def _less(pair: tuple[str, str]) -> str:
    """What a pair is called."""
    return f"{pair[0]} less {pair[1]}"


def _places(results: Results) -> list[tuple[str, str]]:
    """(corpus, its language)"""
    sources = frames.convert(results).attrs["sources"]
    return [(corpus, sources[corpus]["language"]) for corpus in results.corpora if corpus in sources]
