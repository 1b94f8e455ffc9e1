"""What each approximation costs where the best tree is known: the stage `approximations`.

Every function takes what several runs have; where none has it, there are no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import pandas as pd

from studies.across.approximations.contestants import EXACT
from studies.across.approximations.made_up import MADE_UP
from studies.across.approximations.measure import WITHIN
from studies.across.approximations.settings import Approximations
from studies.site.collect import Results
from studies.site.rows import of_one_run
from studies.site.show import NOTHING
from treebound.core.spaces import Space

KEYS = ["run", "corpus", "model", "space"]
SUMS = ["sentences", "words", "known", "proved", "found", "best", "bounded", "wrong", "search_errors"]
SUMS += ["seconds", "gap", "loss", "scored", "correct", "correct_labelled"]
#: UAS points that a faster decoder may lose and still be as accurate, and how much faster it has to be
SAME, FASTER = 0.05, 1.1


def measured(results: Results) -> pd.DataFrame:
    """One row a corpus, model, space, decoder and bin of lengths; no rows in runs from before there were any."""
    rows = [{"corpus": corpus, **row} for corpus, found in _files(results) for row in found["rows"]]
    return pd.DataFrame(rows, columns=None if rows else ["corpus", "model", "space", "solver", "longer_than"])


def within(results: Results) -> list[dict[str, Any]]:
    """One entry a corpus, model, space and decoder: what it had within how many CPU ms."""
    return [{"corpus": corpus, **row} for corpus, found in _files(results) for row in found["within"]]


def _files(results: Results) -> list[tuple[str, dict[str, Any]]]:
    models = results.params.section(Approximations).models
    places = [(corpus, model) for corpus in results.corpora for model in models]
    return [(corpus, results.read("approximations", corpus, f"{model}.json")) for corpus, model in places]


def contest(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """`measured` of every run, with the column `run`."""
    parts = [measured(r).assign(run=r.name) for r in results]
    data = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return data[data["corpus"].isin(wanted)] if wanted and len(data) else data


def sums(data: pd.DataFrame, keys: Sequence[str] = KEYS) -> pd.DataFrame:
    """Over all lengths; index: keys and solver. What is not known of some sentence is not known of the sum."""
    index = [*keys, "solver"]
    out = data.groupby(index, sort=False)[SUMS].agg(lambda column: column.astype(float).sum(skipna=False))
    out["slowest"] = data.groupby(index, sort=False)["slowest"].max()
    return out


def costs(data: pd.DataFrame) -> pd.DataFrame:
    """A row a decoder: optima found, proofs, gaps, accuracy and speed. gap and loss in units of the model's score."""
    if data.empty:
        return pd.DataFrame()
    s = sums(data)
    return pd.DataFrame(
        {
            "sentences": s["sentences"].astype(int),
            "best tree, %": 100 * s["best"] / s["sentences"],
            "proved, %": 100 * s["proved"] / s["sentences"],
            "gap": s["gap"] / s["bounded"].where(s["bounded"] > 0),
            "loss": s["loss"] / s["found"].where(s["found"] > 0),
            "UAS": 100 * s["correct"] / s["scored"],
            "LAS": 100 * s["correct_labelled"] / s["scored"],
            "words per CPU second": s["words"] / s["seconds"],
            "slowest, ms": 1e3 * s["slowest"],
        }
    )


def lengths(data: pd.DataFrame) -> pd.DataFrame:
    """Sentences with the best tree by length, in %, a column a decoder; the first column counts the sentences."""
    if data.empty:
        return pd.DataFrame()
    index = [*KEYS, "longer_than"]
    table = data.assign(share=100 * data["best"] / data["sentences"])
    wide = table.pivot_table(index=index, columns="solver", values="share", sort=False)
    wide = wide[list(dict.fromkeys(data["solver"]))]
    wide.insert(0, "sentences", data[data["solver"] == EXACT].set_index(index)["sentences"])
    return wide


def made_up(data: pd.DataFrame) -> pd.DataFrame:
    """Made-up scores by length, rows (model, space, longer_than): CPU ms of a sentence of the exact search, what it
    proves (%), and the fastest decoder that finds as many best trees in less time, with how many times as fast it is.
    """
    some = data[data["model"].isin(MADE_UP)] if len(data) else data
    if some.empty:
        return pd.DataFrame()
    rows = {}
    by_length = sums(some, ["model", "space", "longer_than"])
    keys = by_length.index.droplevel("solver").unique()
    for key in sorted(keys, key=lambda key: (MADE_UP.index(key[0]), get_args(Space).index(key[1]), key[2])):
        table = by_length.xs(key, level=["model", "space", "longer_than"])
        exact, others = table.loc[EXACT], table.drop(EXACT)
        searched = (others["proved"] < exact["proved"]) | (exact["proved"] == 0)  # else it is the same search
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


def made_up_times(data: pd.DataFrame, most: int = 7) -> pd.DataFrame:
    """Points of `site.charts.times` on made-up scores: CPU ms of a sentence by length, of the exact search and of the
    decoders that find most best trees, `most` of them at the most.
    """
    some = data[data["model"].isin(MADE_UP)] if len(data) else data
    if some.empty:
        return pd.DataFrame()
    best = some.groupby("solver", sort=False)["best"].sum().drop(EXACT).sort_values(ascending=False, kind="stable")
    kept = some[some["solver"].isin([EXACT, *best.index[:most]])]
    long = kept.assign(ms=1e3 * kept["seconds"] / kept["sentences"])
    wide = long.pivot_table(index=[*KEYS, "longer_than"], columns="solver", values="ms", sort=False)
    return wide[[EXACT, *(name for name in best.index[:most] if name in wide)]]


def errors(data: pd.DataFrame) -> pd.DataFrame:
    """Wrong trees, in % of the sentences: search errors, where the gold tree scores more than what was found, and model
    errors, where it does not (or was pruned away); and of how many sentences.
    """
    some = data[~data["model"].isin(MADE_UP)] if len(data) else data
    if some.empty:
        return pd.DataFrame()
    s = sums(some)
    search, wrong = 100 * s["search_errors"] / s["sentences"], 100 * s["wrong"] / s["sentences"]
    return pd.DataFrame(
        {"wrong, %": wrong, "search errors, %": search, "model errors, %": wrong - search}
        | {"sentences": s["sentences"].astype(int)}
    )


def worth(data: pd.DataFrame) -> pd.DataFrame:
    """Each approximation against the exact search over all corpora: how many times as fast, UAS points that it gains,
    optima that it finds (%), and whether it is worth it: faster, at the same accuracy.

    Made-up scores have no accuracy: there the same is to find every tree that the exact search finds. `corpora` names
    the corpora whose test sentences they are, or lengths; `proved` counts the sentences that the exact search proves.
    """
    if data.empty:
        return pd.DataFrame()
    s = sums(data, ["model", "space"])
    corpora = data.groupby(["model", "space"], sort=False)["corpus"].agg(lambda names: ", ".join(dict.fromkeys(names)))
    rows = {}
    for key, row in s.iterrows():
        model, space, solver = key
        exact = s.loc[(model, space, EXACT)]
        if solver == EXACT or row["sentences"] != exact["sentences"]:
            continue
        ratio, uas = exact["seconds"] / row["seconds"], 100 * (row["correct"] - exact["correct"]) / exact["scored"]
        same = uas >= -SAME if model not in MADE_UP else row["best"] >= exact["best"]
        rows[key] = {
            "sentences": int(row["sentences"]),
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


def front(data: pd.DataFrame) -> pd.DataFrame:
    """Points of `site.charts.accuracy_speed`: every decoder on the scores of each corpus's last model, in one space.

    Columns corpus (with the space), group (what it can prove), system (the decoder), label, uas, words_per_cpu_s (of
    decoding alone), proved (%).
    """
    some = data[~data["model"].isin(MADE_UP)] if len(data) else data
    if some.empty:
        return pd.DataFrame()
    last = some["model"].iloc[-1]
    table = costs(some[some["model"] == last]).reset_index()
    bounded = data.groupby("solver")["bounded"].sum()
    return pd.DataFrame(
        {
            "corpus": table["corpus"] + ", " + table["space"],
            "group": ["has a bound" if bounded[name] else "has no bound" for name in table["solver"]],
            "system": table["solver"],
            "label": "",
            "uas": table["UAS"],
            "words_per_cpu_s": table["words per CPU second"],
            "proved": table["proved, %"],
        }
    )


def over_time(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """A row a model, space, decoder and CPU time: % of the sentences with the best tree, with a proof, by then.

    Over all corpora of the first run that has any.
    """
    rows = [row | {"run": r.name} for r in results for row in within(r)]
    keys = ("run", "model", "space", "solver", "sentences")
    long = [
        {**{name: row[name] for name in keys}, "ms": ms, "best": best, "proved": p}
        for row in rows
        if not wanted or row["corpus"] in wanted
        for ms, best, p in zip(WITHIN, row["best"], row["proved"], strict=True)
    ]
    if not long:
        return pd.DataFrame()
    data = of_one_run(pd.DataFrame(long)).drop(columns="run")
    data = data.groupby(["model", "space", "solver", "ms"], sort=False).sum().reset_index()
    for name in ("best", "proved"):
        data[name] = 100 * data[name] / data["sentences"]
    return data
