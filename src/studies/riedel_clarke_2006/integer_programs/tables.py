"""Tables of exact solvers on the same scores and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from studies.site.collect import Results

BRANCH_AND_BOUND = "branch and bound"
#: prefix of the names of solvers that solve only the linear relaxation; a fractional solution proves nothing
RELAXATION = "relaxation, "
#: solvers that build the whole formulation before they solve it, without adding constraints later
EXPLICIT = ("single-commodity flow", "multi-commodity flow", "explicit")


def measured(results: Results) -> pd.DataFrame:
    """Return one row per corpus, model, space, solver and length bin.

    The table is empty if the run was made before the stage `integer-programs` existed.
    """
    models = results.params.section(IntegerPrograms).models
    rows = [
        {"corpus": corpus, **row}
        for corpus in results.corpora
        for model in models
        for row in results.read("integer-programs", corpus, f"{model}.json")
    ]
    return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])


def contest(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return `measured` of every run with the columns `run` and `limit`.

    limit   time limit of an integer program for each sentence, in seconds; branch and bound has no limit
    wanted  names of the corpora to include; empty includes all
    """
    parts = [measured(r).assign(run=r.name, limit=r.params.section(IntegerPrograms).seconds) for r in results]
    data = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return data[data["corpus"].isin(wanted)] if wanted and len(data) else data


KEYS = ["run", "corpus", "model", "space"]
ADDED = ["sentences", "words", "proved", "best", "found", "bounded", "seconds", "gap", "loss", "solves"]


def arena_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the solvers on equal scores, over sentences of all lengths.

    The columns gap and loss are in units of the model's score.

    data  result of `contest`
    """
    if data.empty:
        return pd.DataFrame()
    sums = data.groupby([*KEYS, "solver"], sort=False)[ADDED].sum()
    slowest = data.groupby([*KEYS, "solver"], sort=False)["slowest"].max()
    table = pd.DataFrame(
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
    return _indexed(table)


def arena_lengths(data: pd.DataFrame) -> pd.DataFrame:
    """Return the mean CPU ms of a sentence by length, with one column per solver.

    The last column is the time of the fastest exact integer program divided by the time of branch and bound.
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
    times = wide[[s for s in wide.columns if not s.startswith(RELAXATION)]].copy()
    # the time of a program that gave up is less than it would need, so only bins with all proofs count
    times["best program / branch and bound"] = wide[exact].where(proved).min(axis=1) / wide[BRANCH_AND_BOUND]
    times.insert(0, "sentences", counts)
    return times


def integrality(data: pd.DataFrame) -> pd.DataFrame:
    """Return the share (%) of sentences for which the linear relaxation of each formulation is integral."""
    relaxed = data[data["solver"].str.startswith(RELAXATION)] if len(data) else data
    if relaxed.empty:
        return pd.DataFrame()
    sums = relaxed.groupby([*KEYS, "solver"], sort=False)[["proved", "sentences"]].sum()
    share = (100 * sums["proved"] / sums["sentences"]).unstack("solver")
    return share.rename(columns=lambda name: name.removeprefix(RELAXATION))


def _indexed(data: pd.DataFrame) -> pd.DataFrame:
    """Move the key columns of a table into its index."""
    index = pd.MultiIndex.from_frame(data[[*KEYS, "solver"]])
    return data.drop(columns=[*KEYS, "solver"]).set_axis(index)
