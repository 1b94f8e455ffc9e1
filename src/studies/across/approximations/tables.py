"""Tables of the stage `approximations`: cost of each approximation compared with exact search.

The tables are empty if no run has the results of the stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, get_args

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.across.approximations.measure import WITHIN
from studies.across.approximations.settings import Approximations
from studies.across.approximations.synthetic import SYNTHETIC
from studies.site.collect import Results
from studies.site.rows import of_one_run
from studies.site.show import NOTHING
from treebound.core.spaces import Space
from treebound.metrics.calibration import wilson

KEYS = ["run", "corpus", "model", "space"]
SUMS = ["sentences", "words", "known", "proved", "found", "best", "bounded", "wrong", "search_errors"]
SUMS += ["seconds", "gap", "loss", "scored", "correct", "correct_labelled"]
#: largest UAS loss (points) of a decoder that counts as equally accurate; smallest speed ratio that counts as faster
SAME, FASTER = 0.05, 1.1


def measured(results: Results) -> pd.DataFrame:
    """Return the sums of measures that the stage stored, one row per corpus, model, space, decoder and length bin.

    The table is empty for a run that was made before the stage was added.
    """
    rows = [{"corpus": corpus, **row} for corpus, content in _files(results) for row in content["rows"]]
    return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])


def within(results: Results) -> list[dict[str, Any]]:
    """Return the stored numbers of best trees and proofs within time limits, as computed by `measure.within`.

    The list has one dictionary per corpus, model, space and decoder."""
    return [{"corpus": corpus, **row} for corpus, content in _files(results) for row in content["within"]]


def _files(results: Results) -> list[tuple[str, dict[str, Any]]]:
    """Return (corpus, content) of each metrics file of the stage."""
    models = results.params.section(Approximations).models
    places = [(corpus, model) for corpus in results.corpora for model in models]
    return [(corpus, results.read("approximations", corpus, f"{model}.json")) for corpus, model in places]


def contest(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Concatenate `measured` of all runs and add the column `run`."""
    parts = [measured(r).assign(run=r.name) for r in results]
    data = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return data[data["corpus"].isin(wanted)] if wanted and len(data) else data


def exact_speeds(data: pd.DataFrame, model: str, space: str) -> pd.Series:
    """Return the words per CPU second of exact search with the scores of a model, by corpus.

    data   `contest` of one run; without rows, the result has none
    space  `projective` or `non-projective`
    """
    if data.empty:
        return pd.Series(dtype=float)
    rows = data[(data["model"] == model) & (data["space"] == space) & (data["solver"] == EXACT)]
    totals = rows.groupby("corpus", sort=False)[["words", "seconds"]].sum()
    return (totals["words"] / totals["seconds"]).astype(float)


def sums(data: pd.DataFrame, keys: Sequence[str] = KEYS) -> pd.DataFrame:
    """Sum the measures over all rows with the same keys and decoder, by default over all length bins.

    Index: the columns `keys`, and `solver`, which names the decoder. The column `slowest` is a maximum, not a sum.

    A sum is NaN if the measure is missing for some sentences.
    """
    index = [*keys, "solver"]
    out = data.groupby(index, sort=False)[SUMS].agg(lambda column: column.astype(float).sum(skipna=False))
    out["slowest"] = data.groupby(index, sort=False)["slowest"].max()
    return out


def costs(data: pd.DataFrame) -> pd.DataFrame:
    """Return best trees, proofs, gaps, accuracy and speed, one row per decoder.

    Gap and loss are means per sentence on the scale of the scores of the model.
    """
    if data.empty:
        return pd.DataFrame()
    totals = sums(data)
    return pd.DataFrame(
        {
            "sentences": totals["sentences"].astype(int),
            "best tree, %": 100 * totals["best"] / totals["sentences"],
            "proved, %": 100 * totals["proved"] / totals["sentences"],
            "gap": totals["gap"] / totals["bounded"].where(totals["bounded"] > 0),
            "loss": totals["loss"] / totals["found"].where(totals["found"] > 0),
            "UAS": 100 * totals["correct"] / totals["scored"],
            "LAS": 100 * totals["correct_labelled"] / totals["scored"],
            "words / CPU s": totals["words"] / totals["seconds"],
            "slowest, ms": 1e3 * totals["slowest"],
        }
    )


def lengths(data: pd.DataFrame) -> pd.DataFrame:
    """Return the share (%) of sentences for which each decoder finds the best tree, by sentence length.

    Rows: (run, corpus, model, space, decoder). The first row of a space has the number of sentences. Columns: lengths
    in words, as `1–10`.
    """
    if data.empty:
        return pd.DataFrame()
    names = _bins(data["longer_than"])
    share, counts = 100 * data["best"] / data["sentences"], data[data["solver"] == EXACT]
    long = pd.concat(
        [counts.assign(solver="sentences", shown=counts["sentences"].astype(float)), data.assign(shown=share)]
    )
    long = long.assign(words=pd.Categorical(long["longer_than"].map(names), list(names.values())))
    wide = long.pivot_table(index=[*KEYS, "solver"], columns="words", values="shown", sort=False, observed=False)
    places, solvers = data.groupby(KEYS, sort=False).size().index, ["sentences", *dict.fromkeys(data["solver"])]
    order = [(*place, solver) for place in places for solver in solvers if (*place, solver) in wide.index]
    out = wide.loc[order, list(names.values())].rename_axis(index={"solver": "decoder"}).astype(object)
    is_count = out.index.get_level_values("decoder") == "sentences"
    out[is_count] = out[is_count].fillna(0).astype(int)
    return out


def _bins(lows: Iterable[int]) -> dict[int, str]:
    """Map the lower end of each bin of sentence lengths to the name of the bin, for example 0 to `1–10`."""
    ordered = sorted(set(lows))
    return {low: f"{low + 1}–{following}" for low, following in pairwise(ordered)} | {
        ordered[-1]: f"over {ordered[-1]}"
    }


def synthetic(data: pd.DataFrame) -> pd.DataFrame:
    """Compare exact search with the fastest decoder that finds as many best trees, on synthetic scores, by length.

    Rows: (model, space, longer_than). The first column is the number of sentences. Columns for exact search: CPU ms per
    sentence, and the share of proved sentences (%). Columns for the fastest decoder that finds as many best trees in
    less time: its name and its speed ratio. Decoders that prove as many sentences as exact search are left out.
    """
    synthetic = data[data["model"].isin(SYNTHETIC)] if len(data) else data
    if synthetic.empty:
        return pd.DataFrame()
    rows = {}
    by_length = sums(synthetic, ["model", "space", "longer_than"])
    keys = by_length.index.droplevel("solver").unique()
    for key in sorted(keys, key=lambda key: (SYNTHETIC.index(key[0]), get_args(Space).index(key[1]), key[2])):
        table = by_length.xs(key, level=["model", "space", "longer_than"])
        exact, others = table.loc[EXACT], table.drop(EXACT)
        # a decoder that proves as many sentences as exact search runs the same search and is no approximation
        searched = (others["proved"] < exact["proved"]) | (exact["proved"] == 0)
        rivals = others[searched & (others["best"] >= exact["best"])]
        rivals = rivals[FASTER * rivals["seconds"] < exact["seconds"]]["seconds"]
        rows[key] = {
            "sentences": exact["sentences"],
            "ms": 1e3 * exact["seconds"] / exact["sentences"],
            "proved, %": 100 * exact["proved"] / exact["sentences"],
            "as good and faster": rivals.idxmin() if len(rivals) else NOTHING,
            "times as fast": exact["seconds"] / rivals.min() if len(rivals) else float("nan"),
        }
    out = pd.DataFrame.from_dict(rows, orient="index")
    out.index = pd.MultiIndex.from_tuples(list(rows), names=["model", "space", "longer_than"])
    return out


def by_length(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `synthetic` with headings for readers. Rows: (scores, trees, words), words as `1–10`."""
    if table.empty:
        return table
    names = _bins(table.index.get_level_values("longer_than"))
    named = table.rename(index=names, level="longer_than").rename_axis(["scores", "trees", "words"])
    return named.rename(columns={"ms": "CPU ms"})


def synthetic_times(data: pd.DataFrame, limit: int = 5) -> pd.DataFrame:
    """Return the CPU ms per sentence on synthetic scores by sentence length, as input of `site.charts.times`.

    The columns are exact search and the `limit` decoders that find the most best trees.
    """
    synthetic = data[data["model"].isin(SYNTHETIC)] if len(data) else data
    if synthetic.empty:
        return pd.DataFrame()
    optima = (
        synthetic.groupby("solver", sort=False)["best"].sum().drop(EXACT).sort_values(ascending=False, kind="stable")
    )
    shown = synthetic[synthetic["solver"].isin([EXACT, *optima.index[:limit]])]
    long = shown.assign(ms=1e3 * shown["seconds"] / shown["sentences"])
    wide = long.pivot_table(index=[*KEYS, "longer_than"], columns="solver", values="ms", sort=False)
    return wide[[EXACT, *(name for name in optima.index[:limit] if name in wide)]]


def errors(data: pd.DataFrame) -> pd.DataFrame:
    """Split the wrong trees into search errors and model errors, in % of the sentences.

    In a search error, the gold tree scores more than the tree of the decoder. All other wrong trees are model errors,
    including those whose gold tree was pruned.
    """
    real = data[~data["model"].isin(SYNTHETIC)] if len(data) else data
    if real.empty:
        return pd.DataFrame()
    totals = sums(real)
    search, wrong = 100 * totals["search_errors"] / totals["sentences"], 100 * totals["wrong"] / totals["sentences"]
    return pd.DataFrame(
        {"wrong, %": wrong, "search errors, %": search, "model errors, %": wrong - search}
        | {"sentences": totals["sentences"].astype(int)}
    )


def worth(data: pd.DataFrame) -> pd.DataFrame:
    """Compare each approximation with exact search over all corpora: speed ratio, UAS difference, share of best trees.

    The column `worth it` is True if the approximation is at least FASTER times as fast and loses at most SAME points of
    UAS. For synthetic scores, whose UAS is unknown, it must find as many best trees as exact search. `corpora` names
    the corpora from which the test sentences or, for synthetic scores, their lengths are taken. `proved` counts the
    sentences that exact search proves, and `words` the words behind UAS (NaN or 0 for synthetic scores).
    """
    if data.empty:
        return pd.DataFrame()
    totals = sums(data, ["model", "space"])
    corpora = data.groupby(["model", "space"], sort=False)["corpus"].agg(lambda names: ", ".join(dict.fromkeys(names)))
    rows = {}
    for key, row in totals.iterrows():
        model, space, solver = key
        exact = totals.loc[(model, space, EXACT)]
        if solver == EXACT or row["sentences"] != exact["sentences"]:
            continue
        ratio, uas = exact["seconds"] / row["seconds"], 100 * (row["correct"] - exact["correct"]) / exact["scored"]
        same = uas >= -SAME if model not in SYNTHETIC else row["best"] >= exact["best"]
        rows[key] = {
            "sentences": int(row["sentences"]),
            "words": exact["scored"],
            "times as fast": ratio,
            "UAS": uas,
            "best tree, %": 100 * row["best"] / row["sentences"],
            "proved": int(exact["proved"]),
            "corpora": corpora[model, space],
        }
        rows[key]["worth it"] = bool(ratio >= FASTER and same)
    out = pd.DataFrame.from_dict(rows, orient="index")
    out.index = pd.MultiIndex.from_tuples(list(rows), names=["model", "space", "solver"])
    return out


def best_approximations(worth: pd.DataFrame, most: int = 3) -> pd.DataFrame:
    """Return the approximations that compete with exact search, for each kind of scores and space of trees.

    worth  result of `worth`
    most   largest number of decoders per kind of scores and space

    Rows: (scores, trees, decoder). They are the fastest decoders that are faster and as good as exact search. If there
    is none, the row is the faster decoder with the highest accuracy or, for synthetic scores, with the most best trees.
    The first columns describe the decoder: its speed ratio, its UAS minus UAS of exact search (NaN for synthetic
    scores), and its share of best trees (%). The other columns are counts: the sentences, the sentences that exact
    search proves, and the approximations that are as good and faster, that are faster, and that are compared.
    """
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    order = list(dict.fromkeys(worth.index.get_level_values("model"))) if len(worth) else []
    groups = worth.groupby(level=["model", "space"], sort=False) if len(worth) else ()
    for (model, space), rows in sorted(groups, key=lambda group: order.index(group[0][0])):
        synthetic = model in SYNTHETIC
        faster = rows[rows["times as fast"] >= FASTER]
        good = faster[faster["worth it"]].sort_values("times as fast", ascending=False, kind="stable")
        accurate = faster.sort_values("best tree, %" if synthetic else "UAS", ascending=False, kind="stable")
        counts = {
            "sentences": int(rows["sentences"].max()),
            "proved": int(rows["proved"].max()),
            "as good and faster": len(good),
            "faster": len(faster),
            "compared": len(rows),
        }
        chosen = good.head(most) if len(good) else accurate.head(1)
        scores = f"{model} (synthetic)" if synthetic else model
        for (_, _, solver), row in chosen.iterrows():
            lines[scores, space, solver] = {
                "times as fast": row["times as fast"],
                "UAS difference": float("nan") if synthetic else row["UAS"],
                "best tree, %": row["best tree, %"],
                **counts,
            }
        if chosen.empty:
            lines[scores, space, "none is faster"] = counts
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=["scores", "trees", "decoder"])[: len(lines)]
    names = ["times as fast", "UAS difference", "best tree, %"]
    table = pd.DataFrame(list(lines.values()), index=index)
    return table.reindex(columns=list(dict.fromkeys([*names, *table.columns])))


def synthetic_totals(table: pd.DataFrame) -> pd.DataFrame:
    """Return the proofs of exact search on synthetic scores, and from which length another decoder is faster.

    table  result of `synthetic`

    Rows: (scores, trees). Columns: sentences, and proved (%) with its 95 % interval (low, high). The other columns
    describe the shortest length bin in which another decoder is faster and finds as many best trees: the bin, the
    decoder, its speed ratio, and the sentences of the bin.
    """
    lines = {}
    for key, rows in table.groupby(level=["model", "space"], sort=False) if len(table) else ():
        sentences = int(rows["sentences"].sum())
        proved = int((rows["proved, %"] * rows["sentences"] / 100).round().sum())
        low, high = wilson(proved, sentences)
        line: dict[str, Any] = {
            "sentences": sentences,
            "proved, %": 100 * proved / sentences,
            "low": 100 * low,
            "high": 100 * high,
        }
        lows = rows.index.get_level_values("longer_than")
        beaten = rows[(rows["as good and faster"] != NOTHING).to_numpy()]
        line |= {"another decoder is faster": "at no length", "decoder": NOTHING}
        if len(beaten):
            first, row = beaten.index[0][-1], beaten.iloc[0]
            line |= {"another decoder is faster": words_in_bin(lows, first), "decoder": row["as good and faster"]}
            line |= {"times as fast": row["times as fast"], "sentences in this bin": int(row["sentences"])}
        lines[key] = line
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "")], names=["scores", "trees"])[: len(lines)]
    columns = ["sentences", "proved, %", "low", "high", "another decoder is faster", "decoder", "times as fast"]
    return pd.DataFrame(list(lines.values()), index=index, columns=[*columns, "sentences in this bin"])


def words_in_bin(lows: pd.Index, low: int) -> str:
    """Describe in words the bin of sentence lengths whose lower end is `low`. lows: lower ends of all bins."""
    upper = min((end for end in lows if end > low), default=0)
    if not upper:
        return f"over {low} words" if low else "of any length"
    return f"{low + 1} to {upper} words"


def front(data: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and speed of every decoder with the last model, as input of `site.charts.accuracy_speed`.

    Columns: corpus (with the space), group (whether the decoder has a bound), system (the decoder), label, uas,
    words_per_cpu_s (of decoding alone), proved (%).
    """
    real = data[~data["model"].isin(SYNTHETIC)] if len(data) else data
    if real.empty:
        return pd.DataFrame()
    last = real["model"].iloc[-1]
    table = costs(real[real["model"] == last]).reset_index()
    bounded = data.groupby("solver")["bounded"].sum()
    return pd.DataFrame(
        {
            "corpus": table["corpus"] + ", " + table["space"],
            "group": ["has a bound" if bounded[name] else "has no bound" for name in table["solver"]],
            "system": table["solver"],
            "label": "",
            "uas": table["UAS"],
            "words_per_cpu_s": table["words / CPU s"],
            "proved": table["proved, %"],
        }
    )


def over_time(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the share (%) of sentences with the best tree, and with a proof, within each CPU time.

    The table has one row per model, space, decoder and CPU time. It covers all corpora of the first run that has the
    stage.
    """
    rows = [row | {"run": r.name} for r in results for row in within(r)]
    keys = ("run", "model", "space", "solver", "sentences")
    long = [
        {**{name: row[name] for name in keys}, "ms": ms, "best": best, "proved": proved}
        for row in rows
        if not wanted or row["corpus"] in wanted
        for ms, best, proved in zip(WITHIN, row["best"], row["proved"], strict=True)
    ]
    if not long:
        return pd.DataFrame()
    data = of_one_run(pd.DataFrame(long)).drop(columns="run")
    data = data.groupby(["model", "space", "solver", "ms"], sort=False).sum().reset_index()
    for name in ("best", "proved"):
        data[name] = 100 * data[name] / data["sentences"]
    return data
