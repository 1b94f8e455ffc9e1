"""Tables of the leaderboard: ranks on each corpus and overall, winners, and parsers of other projects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import nan
from string import ascii_lowercase

import numpy as np
import pandas as pd

from studies.across.leaderboard.parsers import OTHER, reason
from studies.across.overview.shares import POINT, rounded
from studies.site.show import NOTHING, Table, as_csv

MEAN = "mean of the corpora"  #: name of the overall ranking among the corpora
#: headings of `winners`
QUESTIONS = ("most accurate", f"fastest within {POINT:g} point", "most accurate, all proved")
RANKS = ["rank", "first", "last"]
#: column of `parsers.parsers` or `ranked` -> heading of the leaderboard
HEADINGS = {
    "corpus": "corpus",
    "rank": "rank",
    "range": "possible ranks",
    "uas": "UAS, %",
    "interval": "95 % interval",
    "las": "LAS, %",
    "words_per_cpu_s": "words per CPU second",
    "train_cpu_s": "training, CPU s",
    "peak_mb": "memory, MB",
    "proved": "proved, %",
    "seeds": "seeds",
    "family": "family",
    "sees": "sees",
    "model": "model",
}
WHOLE = ("words_per_cpu_s", "train_cpu_s", "peak_mb")  #: columns that are shown without decimals


@dataclass(frozen=True)
class Leaderboard(Table):
    """A table that scrolls in its frame and has controls for filtering.

    filters   headings of the columns with a choice of values
    complete  table for the CSV file, with numbers instead of text; None: the shown table
    """

    most = 10_000  # readers filter the rows, so that the page needs all of them
    filters: Sequence[str] = ()
    complete: pd.DataFrame | None = None

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        data = super()._repr_mimebundle_(**options)
        if self.complete is not None and "text/csv" in data:
            data["text/csv"] = as_csv(self.complete)
        return data

    def _repr_html_(self) -> str:
        opening = f'<table class="figures leaderboard many" data-filters="{escape("|".join(self.filters))}">'
        return re.sub(r'<table class="figures[ a-z]*">', lambda _: opening, super()._repr_html_(), count=1)


def ranked(parsers: pd.DataFrame) -> pd.DataFrame:
    """Add the columns RANKS to `parsers.parsers` and sort the rows of each run and corpus by rank.

    The rank of a row is 1 plus the number of ranked rows with a higher UAS. `first` is 1 plus the number of rows whose
    95 % interval lies entirely above the interval of the row. `last` is the number of rows whose interval does not lie
    entirely below it. Rows without a rank have NaN and come last.
    """
    parts = [
        _with_ranks(rows, rows["unranked"] == "", "uas") for _, rows in parsers.groupby(["run", "corpus"], sort=False)
    ]
    return pd.concat(parts, ignore_index=True) if parts else parsers.assign(**dict.fromkeys(RANKS, nan))


def _with_ranks(rows: pd.DataFrame, taking_part: pd.Series, figure: str) -> pd.DataFrame:
    """Return the rows with the columns RANKS, sorted by rank and then by the column `figure`.

    taking_part  bool per row: True for the rows that get a rank
    figure       column by which the rows are ranked, for instance UAS; higher is better
    """
    rows = rows.assign(**dict.fromkeys(RANKS, nan))
    own = rows[taking_part]
    low, high = own["low"].to_numpy(float), own["high"].to_numpy(float)
    rows.loc[own.index, "rank"] = own[figure].rank(ascending=False, method="min")
    rows.loc[own.index, "first"] = 1.0 + (low[None, :] > high[:, None]).sum(axis=1)
    rows.loc[own.index, "last"] = (high[None, :] >= low[:, None]).sum(axis=1).astype(float)
    order = np.lexsort((-rows[figure].fillna(-1).to_numpy(float), rows["rank"].fillna(np.inf).to_numpy(float)))
    return rows.iloc[order]


def overall(board: pd.DataFrame) -> pd.DataFrame:
    """Return the ranking over all corpora of each run: one row per run and parser. Columns: see below and RANKS.

    board  result of `ranked`

    `uas` is the mean UAS over the corpora. `low` and `high` treat the test sets of the corpora as independent. Only
    parsers with a rank on every corpus of the run take part; `lacking` lists the other corpora of a parser. `mean_rank`
    is the mean of its ranks on the corpora. `words_per_cpu_s` is the geometric mean over corpora (NaN if any corpus was
    not timed). `train_cpu_s` is a sum. `peak_mb` is a maximum (NaN if it was not measured on all corpora). `proved` is
    a mean of percentages.
    """
    parts = []
    own = board[(board["unranked"] == "")]
    for run, rows in own.groupby("run", sort=False):
        corpora = list(dict.fromkeys(rows["corpus"]))
        lines = []
        for system, places in rows.groupby("system", sort=False):
            lacking = [corpus for corpus in corpora if corpus not in set(places["corpus"])]
            mean = float("nan") if lacking else float(places["uas"].mean())
            half = float(np.sqrt(np.square((places["high"] - places["low"]) / 2).sum())) / len(places)
            speeds = np.log(places["words_per_cpu_s"].to_numpy(float))
            lines.append(
                {"run": run, "corpus": MEAN, "system": system, "family": places["family"].iloc[0], "uas": mean}
                | {"low": mean - half, "high": mean + half, "mean_rank": places["rank"].mean() if not lacking else nan}
                | {"words_per_cpu_s": float(np.exp(speeds.mean())) if not lacking else nan}
                | {"train_cpu_s": places["train_cpu_s"].sum(min_count=len(corpora))}
                | {"peak_mb": places["peak_mb"].max(skipna=False) if not lacking else nan}
                | {"proved": places["proved"].mean(skipna=False) if not lacking else nan}
                | {"lacking": ", ".join(lacking), "corpora": len(corpora)}
            )
        data = pd.DataFrame(lines)
        parts.append(_with_ranks(data, data["lacking"] == "", "uas"))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def leaderboard(board: pd.DataFrame, caption: str) -> tuple[Leaderboard, Table]:
    """Return the leaderboard of all corpora, and a table that explains its cells without a value.

    board  result of `ranked`

    A cell without a value has a letter, and the second table has the reason for each letter. In the CSV file, the
    column `missing` has the reasons.
    """
    letters: dict[str, str] = {}
    counts: dict[str, int] = {}
    several = board["run"].nunique() > 1 if len(board) else False
    shown, missing = [], []
    for _, row in board.iterrows():
        cells: dict[str, object] = {"run": row["run"]} if several else {}
        absent: dict[str, list[str]] = {}  # reason -> headings of the cells that it explains
        for column, heading in HEADINGS.items():
            value = _value(row, column)
            if isinstance(value, float) and np.isnan(value):
                why = reason("rank" if column == "range" else column, row)
                letter = letters.setdefault(why, ascii_lowercase[len(letters)])
                counts[why] = counts.get(why, 0) + 1
                absent.setdefault(why, []).append(heading)
                value = f"{NOTHING} {letter}"
            cells[heading] = value
        shown.append(cells)
        missing.append("; ".join(f"{' & '.join(headings)}: {why}" for why, headings in absent.items()))
    index = pd.Index(board["system"], name="parser")
    names = [*["run"] * several, *HEADINGS.values()]
    whole = {HEADINGS[column]: 0 for column in WHOLE} | {HEADINGS["proved"]: 1}
    table = Leaderboard(
        pd.DataFrame(shown, index=index, columns=names),
        caption,
        by_column=whole,
        filters=[*["run"] * several, HEADINGS["corpus"], HEADINGS["family"]],
        complete=board.set_index("system").assign(missing=missing).drop(columns="unranked"),
    )
    reasons = pd.DataFrame(
        {"cells": [counts[why] for why in letters], "reason": list(letters)},
        index=pd.Index(list(letters.values()), name="letter"),
    )
    return table, Table(reasons, "Reasons for the cells without a value in the leaderboard")


def _value(row: pd.Series, column: str) -> object:
    """Return the value of a cell of the leaderboard: a number, a text, or NaN."""
    if column == "interval":
        return nan if np.isnan(row["low"]) else f"{row['low']:.2f}\N{EN DASH}{row['high']:.2f}"
    if column == "range":
        return nan if np.isnan(row["first"]) else f"{row['first']:.0f}\N{EN DASH}{row['last']:.0f}"
    value = row[column]
    if column in ("rank", "seeds"):
        return nan if np.isnan(value) else int(value)
    if column == "proved":
        return rounded(float(value))
    return value if isinstance(value, str) else float(value)


def overall_table(means: pd.DataFrame, caption: str) -> Leaderboard:
    """Return the overall ranking as a table. Its CSV also has the parsers without a rank, and the corpora they lack.

    means  result of `overall`
    """
    if not len(means):
        return Leaderboard(pd.DataFrame(), caption)
    complete = means.set_index("system").drop(columns="corpus")
    means = means[means["rank"].notna()]
    several = means["run"].nunique() > 1
    shown = pd.DataFrame(
        {
            "rank": means["rank"].astype("Int64"),
            "possible ranks": [_value(row, "range") for _, row in means.iterrows()],
            "mean UAS, %": means["uas"],
            "95 % interval": [_value(row, "interval") for _, row in means.iterrows()],
            "mean rank": means["mean_rank"],
            "words per CPU second": means["words_per_cpu_s"],
            "training, CPU s": means["train_cpu_s"],
            "memory, MB": means["peak_mb"],
            "proved, %": means["proved"].map(rounded),
            "family": means["family"],
        }
    )
    if several:
        shown.insert(0, "run", means["run"])
    shown.index = pd.Index(means["system"], name="parser")
    digits = {HEADINGS[column]: 0 for column in WHOLE} | {"proved, %": 1, "mean rank": 1}
    filters = [*["run"] * several, "family"]
    return Leaderboard(shown, caption, by_column=digits, filters=filters, complete=complete)


def winners(board: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Return the best parsers by run and corpus, with a last row for the mean of the corpora of each run.

    Columns: (question, figure) for three questions: the most accurate parser, the fastest timed parser at most POINT
    points below it, and the most accurate parser that proves every tree. `board`: `ranked`; `means`: `overall`.
    """
    lines = {}
    for rows in (board[board["rank"].notna()], means[means["rank"].notna()] if len(means) else board.iloc[:0]):
        for (run, corpus), group in rows.groupby(["run", "corpus"], sort=False):
            if corpus == MEAN and group["corpora"].iloc[0] == 1:
                continue  # a run of one corpus has no further ranking
            best = group.loc[group["uas"].idxmax()]
            near = group[(group["uas"] >= best["uas"] - POINT) & group["words_per_cpu_s"].notna()]
            exact = group[group["proved"] == 100]
            line = _named(QUESTIONS[0], best, ("uas",))
            line |= _named(QUESTIONS[1], _top(near, "words_per_cpu_s"), ("uas", "words_per_cpu_s"))
            line |= _named(QUESTIONS[2], _top(exact, "uas"), ("uas",))
            lines[run, corpus] = line
    if not lines:
        return pd.DataFrame()
    data = pd.DataFrame(
        list(lines.values()), index=pd.MultiIndex.from_tuples(list(lines), names=["run", "corpus"])
    ).sort_index(level="run", sort_remaining=False, kind="stable")
    data.columns = pd.MultiIndex.from_tuples(list(data.columns))
    return data if data.index.get_level_values("run").nunique() > 1 else data.droplevel("run")


def _top(rows: pd.DataFrame, figure: str) -> pd.Series | None:
    """Return the row with the largest figure, or None if there are no rows."""
    return rows.loc[rows[figure].idxmax()] if len(rows) else None


def _named(question: str, row: pd.Series | None, figures: Sequence[str]) -> dict[tuple[str, str], object]:
    """Return the parser and some figures of a row under the heading of a question; NaN if there is no such row."""
    cells: dict[tuple[str, str], object] = {(question, "parser"): NOTHING if row is None else row["system"]}
    return cells | {(question, HEADINGS[figure]): nan if row is None else float(row[figure]) for figure in figures}


def against_others(board: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Compare the parser that is most accurate overall with the parsers of other projects, on each corpus.

    Rows: (run, our parser, corpus, other parser), for every corpus on which the other parser was run. Columns: UAS of
    both, the difference with the ends of its 95 % interval, speed of both, whether both see the same attributes of the
    treebank, and a note. The interval treats the two rows
    as independent. Both are tested on the same sentences, so a paired interval would be narrower.

    board  result of `ranked`
    means  result of `overall`
    """
    lines = {}
    for run, rows in board.groupby("run", sort=False):
        own = means[(means["run"] == run) & means["rank"].notna() & (means["family"] != OTHER)]
        if not len(own):
            continue
        best = own.loc[own["uas"].idxmax(), "system"]
        by_corpus = rows[rows["system"] == best].set_index("corpus")
        for _, theirs in rows[(rows["family"] == OTHER) & (rows["unranked"] == "")].iterrows():
            lines[run, best, theirs["corpus"], theirs["system"]] = _difference(by_corpus.loc[theirs["corpus"]], theirs)
    names = ["run", "our parser", "corpus", "other parser"]
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "", "")], names=names)[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


def compared_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Return `against_others` with the other parser as the name of a row, so that narrow screens show the figures.

    The run and our parser are columns; each is left out if all rows have the same one. A note names its corpus, because
    a parser has one row on each corpus.
    """
    if not len(compared):
        return pd.DataFrame()
    data = compared.reset_index().set_index("other parser")
    data["note"] = "on " + data["corpus"] + ", " + data["note"]
    constant = [name for name in ("run", "our parser") if data[name].nunique() == 1]
    first = ["corpus", "difference", "low", "high"]
    last = [name for name in data if name not in (*first, "note", "same attributes")]
    return data[[*first, *last, "note"]].drop(columns=constant)


def not_run(board: pd.DataFrame) -> pd.DataFrame:
    """Return the parsers of other projects that have results on some corpora of a run, with the other corpora.

    Columns: run, parser, corpora (names, joined by commas). board: result of `ranked`.
    """
    lines = []
    for run, rows in board.groupby("run", sort=False):
        corpora = list(dict.fromkeys(rows["corpus"]))
        for parser, places in rows[(rows["family"] == OTHER) & (rows["unranked"] == "")].groupby("system", sort=False):
            if lacking := [corpus for corpus in corpora if corpus not in set(places["corpus"])]:
                lines.append((run, parser, ", ".join(lacking)))
    return pd.DataFrame(lines, columns=["run", "parser", "corpora"])


def _difference(ours: pd.Series, theirs: pd.Series) -> dict[str, object]:
    """Return one row of `against_others` from two rows of `ranked`."""
    value = ours["uas"] - theirs["uas"]
    half = float(np.hypot(ours["high"] - ours["low"], theirs["high"] - theirs["low"])) / 2
    seeds = [f"{row['seeds']:.0f} seed{'s' if row['seeds'] > 1 else ''}" for row in (ours, theirs)]
    sees = (
        f"both see {ours['sees']}"
        if ours["sees"] == theirs["sees"]
        else f"ours sees {ours['sees']}; the other sees {theirs['sees']}"
    )
    return {
        "UAS of ours": ours["uas"],
        "UAS of the other": theirs["uas"],
        "difference": value,
        "low": value - half,
        "high": value + half,
        "speed of ours": ours["words_per_cpu_s"],
        "speed of the other": theirs["words_per_cpu_s"],
        "same attributes": ours["sees"] == theirs["sees"],
        "note": f"{sees}; {seeds[0]} (ours), {seeds[1]} (the other)",
    }
