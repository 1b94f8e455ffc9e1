"""Sampling beside proved optima: what is found in how much time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from studies.site.collect import Results
from studies.zhang_2014.score_time.settings import ScoreTime

METHODS = ("greedy", "gibbs", "random-walk")
LISTS = (50, 500)  #: trees of a reranker, as in the paper
#: % of the proved projective optima, at so many words per CPU second: of models without head bigrams, and with them
TARGETS = {False: (99.5, 4000), True: (98.0, 1000)}


def measured(results: Results, model: str = "") -> pd.DataFrame:
    """One row a corpus, space, method, budget and seed, of a model, by default of the first one that the stage
    names; no rows in runs from before there was such a stage.
    """
    first = results.params.section(ScoreTime).model
    rows = [
        {"corpus": corpus, **row}
        for corpus in (results.corpora if first else [])
        for name in results.params.section(ScoreTime).models
        if name == (model or first) and results.has("score-time", corpus, f"{name}.json")
        for row in results.read("score-time", corpus, f"{name}.json")
    ]
    names = ["corpus", "space", "method", "patience", "seed", "sentences", "proved", "long", "words"]
    return pd.DataFrame(rows, columns=[*names, "optima", "long_optima", "score", "runs", "cpu_s"])


def score_time(results: Sequence[Results], wanted: Sequence[str] = (), model: str = "") -> pd.DataFrame:
    """Index (run, corpus, space, method, patience): shares of proved optima found (%), of all sentences and of those of
    more than 30 words; what the trees score less than the optima together (%); time. The mean of all seeds.

    model  as of `measured`
    """
    parts = [measured(r, model).assign(run=r.name) for r in results]
    data = pd.concat(parts, ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))]
    keys = ["run", "corpus", "space", "method", "patience"]
    numbers = data.set_index(keys)[["optima", "long_optima", "score", "runs", "cpu_s", "proved", "long", "words"]]
    means = numbers.astype(float).groupby(level=keys, sort=False).mean()
    return pd.DataFrame(
        {
            "optima found, %": 100 * means["optima"] / means["proved"],
            "of long sentences, %": 100 * means["long_optima"] / means["long"].replace(0, np.nan),
            "score lost, %": 100 * (1 - means["score"]),
            "runs": means["runs"],
            "CPU us / word": 1e6 * means["cpu_s"] / means["words"],
            "sentences": means["proved"],
            "long ones": means["long"],
        }
    )


def targets(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus, model): of what samples projective trees as fast as TARGETS ask, what finds the most optima.

    Speed is that of decoding alone. low, high: exact 95 % interval over sentences of the mean of the seeds, which knows
    nothing of the choice among methods and budgets. met: whether the share is; where nothing is as fast, it is none.
    """
    lines = {}
    for r, model in [(r, name) for r in results if (s := r.params.section(ScoreTime)) for name in s.models]:
        table = score_time([r], wanted, model)
        for corpus, of in table.loc[r.name].groupby(level="corpus", sort=False) if len(table) else ():
            share, speed = TARGETS["head-bigram" in r.params.models[model].settings.families]
            sampled = of.droplevel("corpus").loc["projective"].drop(index="branch-and-bound")
            fast = sampled[sampled["CPU us / word"] <= 1e6 / speed].sort_values("CPU us / word")
            line: dict[str, Any] = {"target, %": share, "words / CPU s": float(speed), "met": "no", "method": ""}
            line["optima found, %"] = np.nan
            if len(fast):
                best, n = fast["optima found, %"].idxmax(), int(fast["sentences"].iloc[0])
                row = fast.loc[best]
                low, high = _interval(row["optima found, %"] / 100, n)
                line |= {"method": f"{best[0]}, patience {best[1]}", "optima found, %": row["optima found, %"]}
                line |= {"low": low, "high": high, "found at": 1e6 / row["CPU us / word"]}
                line |= {name: row[name] for name in ("of long sentences, %", "long ones", "sentences")}
                line["met"] = "yes" if row["optima found, %"] >= share else "no"
            lines[r.name, corpus, model] = line
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=["run", "corpus", "model"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


# --- what claims ask of `measured`: (place, value, low, high)


def equal_time(results: Results, one: str, other: str) -> Iterator[tuple[str, float, float, float]]:
    """By how much (% of the optima) the trees of a method score more than another's found in the same time.

    The mean over the budgets of the other within the times of the first, between whose budgets logarithms of time are
    interpolated. No interval: seeds are averaged.
    """
    for corpus, curves in _curves(results, one, other):
        mine, its = curves
        inside = its[(its["time"] >= mine["time"].min()) & (its["time"] <= mine["time"].max())]
        if len(inside):
            there = np.interp(np.log(inside["time"]), np.log(mine["time"]), mine["score"])
            value = float(np.mean(100 * (there - inside["score"])))
            yield corpus, value, value, value


def in_the_end(results: Results, one: str, other: str) -> Iterator[tuple[str, float, float, float]]:
    """By how much (% of the optima) the trees of a method score more than another's, both with the largest budget."""
    for corpus, (mine, its) in _curves(results, one, other):
        value = float(100 * (mine["score"].iloc[-1] - its["score"].iloc[-1]))
        yield corpus, value, value, value


def optima(results: Results, method: str) -> Iterator[tuple[str, float, float, float, int, int]]:
    """Share of proved projective optima (%) that a method finds with its largest budget, mean of the seeds; counts."""
    data = measured(results)
    data = data[(data["method"] == method) & (data["space"] == "projective")]
    for corpus, of in data.groupby("corpus", sort=False):
        last = of[of["patience"] == of["patience"].max()]
        if proved := int(last["proved"].iloc[0]):
            found = float(last["optima"].mean()) / proved
            yield (str(corpus), 100 * found, *_interval(found, proved), round(found * proved), proved)


def _interval(share: float, sentences: int) -> tuple[float, float]:
    """Exact 95 % interval (%) over sentences; seeds are averaged before, which all parse the same ones."""
    from scipy.stats import binomtest

    ends = binomtest(round(share * sentences), sentences).proportion_ci(0.95)
    return 100 * ends.low, 100 * ends.high


def _curves(results: Results, one: str, other: str) -> Iterator[tuple[str, tuple[pd.DataFrame, pd.DataFrame]]]:
    """Corpus -> of two methods over crossing trees, time and score by budget, the fastest first; means of seeds."""
    data = measured(results)
    data = data[data["space"] == "non-projective"]
    for corpus, of in data.assign(time=data["cpu_s"] / data["words"]).groupby("corpus", sort=False):
        each = [of[of["method"] == name].groupby("patience")[["time", "score"]].mean() for name in (one, other)]
        if all(len(curve) for curve in each):
            yield str(corpus), (each[0].sort_values("time"), each[1].sort_values("time"))
