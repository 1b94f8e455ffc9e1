"""Choose the decoders of the anytime figure, and tabulate shares of best trees and proofs at a few CPU times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.across.approximations.synthetic import SYNTHETIC

SHOWN = 4  #: number of approximate decoders in a figure
#: CPU times of the tables in ms per sentence; `measure.WITHIN` contains them
MOMENTS = (1.0, 100.0, 10000.0)
AT = ["model", "space", "ms"]


def kinds(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split a table in two: rows on scores of trained models, and rows on synthetic scores.

    data  result of `tables.contest` or `tables.over_time`, with the column `model`
    """
    if data.empty:
        return data, data
    synthetic = data["model"].isin(SYNTHETIC)
    return data[~synthetic], data[synthetic]


def approximations(curves: pd.DataFrame) -> list[str]:
    """Return the names of all decoders except exact search, in the order of the rows of `curves`."""
    return [name for name in dict.fromkeys(curves["solver"]) if name != EXACT] if len(curves) else []


def highest(curves: pd.DataFrame, names: Sequence[str]) -> float:
    """Return the share (%) of sentences whose best tree the best decoder of `names` finds.

    The best decoder is chosen separately for each panel and time. The result is the mean over panels and times.

    curves  result of `tables.over_time`
    """
    return float(curves[curves["solver"].isin(names)].groupby(AT)["best"].max().mean())


def informative(curves: pd.DataFrame, count: int = SHOWN) -> list[str]:
    """Choose the approximate decoders that a figure shows beside exact search.

    The result is the set of `count` decoders of different methods for which `highest` is largest. Decoders whose names
    differ only after a comma use the same method. The first of several equally good sets is chosen.

    curves  result of `tables.over_time`
    """
    if curves.empty:
        return []
    shares = curves.pivot_table(index=AT, columns="solver", values="best", sort=False).fillna(0.0)
    names = approximations(curves)
    methods = {name: name.partition(",")[0] for name in names}
    columns = {name: shares[name].to_numpy(float) for name in names}
    sets = (
        chosen
        for chosen in combinations(names, min(count, len(set(methods.values()))))
        if len({methods[name] for name in chosen}) == len(chosen)
    )
    return list(max(sets, key=lambda chosen: float(np.max([columns[name] for name in chosen], axis=0).mean())))


def moments(curves: pd.DataFrame, measure: str, times: Sequence[float] = MOMENTS) -> pd.DataFrame:
    """Return the share (%) of sentences with the best tree or a proof within some CPU times, for every decoder.

    Rows: space and decoder. Columns: model and CPU time per sentence. The table leaves out decoders whose shares are
    all zero.

    curves   result of `tables.over_time`
    measure  `best` or `proved`
    """
    if curves.empty:
        return pd.DataFrame()
    rows = curves[curves["ms"].isin(times) & (curves.groupby("solver")[measure].transform("max") > 0)]
    rows = rows.assign(ms=rows["ms"].map("{:,g} ms".format))
    order = [list(dict.fromkeys(rows[name])) for name in ("space", "solver", "model", "ms")]
    wide = rows.pivot_table(index=["space", "solver"], columns=["model", "ms"], values=measure, sort=False)
    wide.columns.names = [None, None]
    shown_rows = [key for key in product(*order[:2]) if key in wide.index]
    return wide.loc[shown_rows, [key for key in product(*order[2:]) if key in wide.columns]]
