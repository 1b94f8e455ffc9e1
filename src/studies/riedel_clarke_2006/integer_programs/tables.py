"""Exact solvers on the same scores and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from studies.site.collect import Results

BRANCH_AND_BOUND = "branch and bound"
#: the solvers that prove nothing where the relaxation is fractional
RELAXATION = "relaxation, "
#: those that state a formulation whole, before they solve it
EXPLICIT = ("single-commodity flow", "multi-commodity flow", "explicit")


def measured(results: Results) -> pd.DataFrame:
    """One row a corpus, model, space, solver and bin of lengths; no rows in runs from before there was such a stage."""
    models = results.params.section(IntegerPrograms).models
    rows = [
        {"corpus": corpus, **row}
        for corpus in results.corpora
        for model in models
        for row in results.read("integer-programs", corpus, f"{model}.json")
    ]
    return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])


def contest(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """`measured` of every run that has one, with columns `run` and `limit`, the seconds that a program has for a
    sentence; branch and bound has no limit.
    """
    parts = [measured(r).assign(run=r.name, limit=r.params.section(IntegerPrograms).seconds) for r in results]
    data = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return data[data["corpus"].isin(wanted)] if wanted and len(data) else data


KEYS = ["run", "corpus", "model", "space"]
ADDED = ["sentences", "words", "proved", "best", "found", "bounded", "seconds", "gap", "loss", "solves"]


def arena_table(data: pd.DataFrame) -> pd.DataFrame:
    """Solvers on equal scores, all lengths together; `data`: `contest`. gap and loss in units of the model's score."""
    if data.empty:
        return pd.DataFrame()
    sums = data.groupby([*KEYS, "solver"], sort=False)[ADDED].sum()
    slowest = data.groupby([*KEYS, "solver"], sort=False)["slowest"].max()
    out = pd.DataFrame(
        {
            "sentences": sums["sentences"],
            "best tree, %": 100 * sums["best"] / sums["sentences"],
            "proved, %": 100 * sums["proved"] / sums["sentences"],
            "gap": sums["gap"] / sums["bounded"].where(sums["bounded"] > 0),
            "loss": sums["loss"] / sums["found"].where(sums["found"] > 0),
            "ms": 1e3 * sums["seconds"] / sums["sentences"],
            "slowest, ms": 1e3 * slowest,
            "solves": sums["solves"] / sums["sentences"],
        }
    ).reset_index()
    return _indexed(out)


def arena_lengths(data: pd.DataFrame) -> pd.DataFrame:
    """Mean CPU ms of a sentence by length, one column a solver, and how many times as long as branch and bound the best
    exact program takes.
    """
    if data.empty:
        return pd.DataFrame()
    table = data.assign(ms=1e3 * data["seconds"] / data["sentences"])
    wide = table.pivot_table(index=[*KEYS, "longer_than"], columns="solver", values="ms", sort=False)
    wide = wide[list(dict.fromkeys(data["solver"]))]
    exact = [s for s in wide.columns if s != BRANCH_AND_BOUND and not s.startswith(RELAXATION)]
    counts = table[table["solver"] == BRANCH_AND_BOUND].set_index([*KEYS, "longer_than"])["sentences"]
    proved = table.assign(all=table["proved"] == table["sentences"])
    proved = proved.pivot_table(index=[*KEYS, "longer_than"], columns="solver", values="all", sort=False)[exact] > 0.5
    out = wide[[s for s in wide.columns if not s.startswith(RELAXATION)]].copy()
    # a program that gave up has not taken the time that it would need
    out["best program / branch and bound"] = wide[exact].where(proved).min(axis=1) / wide[BRANCH_AND_BOUND]
    out.insert(0, "sentences", counts)
    return out


def integrality(data: pd.DataFrame) -> pd.DataFrame:
    """How often the linear relaxation of each formulation is integral, in % of the sentences."""
    some = data[data["solver"].str.startswith(RELAXATION)] if len(data) else data
    if some.empty:
        return pd.DataFrame()
    sums = some.groupby([*KEYS, "solver"], sort=False)[["proved", "sentences"]].sum()
    share = (100 * sums["proved"] / sums["sentences"]).unstack("solver")
    return share.rename(columns=lambda name: name.removeprefix(RELAXATION))


def _indexed(data: pd.DataFrame) -> pd.DataFrame:
    index = pd.MultiIndex.from_frame(data[[*KEYS, "solver"]])
    return data.drop(columns=[*KEYS, "solver"]).set_axis(index)
