"""Tables that compare sampling with proved optima: the share of optima found, and the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from studies.site.collect import Results
from studies.zhang_2014.score_time.settings import ScoreTime

METHODS = ("greedy", "gibbs", "random-walk")
#: method -> its name in the headings of `per_run`
IN_WORDS = {"greedy": "greedy search", "gibbs": "Gibbs", "random-walk": "random walk"}
LISTS = (50, 500)  #: lengths of the lists of a reranker, as in the paper
#: whether a model has head bigrams -> target share (%) of proved projective optima that a method finds, and target
#: speed in words per CPU second
TARGETS = {False: (99.5, 4000), True: (98.0, 1000)}


def measured(results: Results, model: str = "") -> pd.DataFrame:
    """Return one row per corpus, space, method, budget and seed of a model.

    model  empty means the first model that the stage names

    The table is empty if the run was made before the stage `score-time` existed.
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
    """Return shares of proved optima found (%), lost score (%) and time, as means over seeds.

    Index: (run, corpus, space, method, patience). Optima are counted in all sentences and in sentences of more than 30
    words. The lost score is the difference between the scores of the trees and of the optima, in % of the optima.

    model  see `measured`
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
            "CPU µs / word": 1e6 * means["cpu_s"] / means["words"],
            "sentences": means["proved"],
            "long ones": means["long"],
        }
    )


def models(results: Sequence[Results]) -> list[str]:
    """Return the models whose scores `score_time` searches, one for each run at most."""
    return list(dict.fromkeys(r.params.section(ScoreTime).model for r in results if len(measured(r))))


def largest_budget(table: pd.DataFrame) -> pd.DataFrame:
    """Return what each sampling method finds with its largest budget, and its speed compared with the proof.

    table  result of `score_time`

    Rows: (run, corpus, space, method). Columns: patience, optima found (%), optima of long sentences found (%), speed
    as a multiple of the speed of the proof, and the numbers of proved optima and of proved long sentences.
    """
    keys = [name for name in table.index.names if name != "patience"]
    last = table.groupby(level=keys, sort=False).tail(1).reset_index("patience")
    if not len(last):
        return last
    proof = last.xs("branch-and-bound", level="method")["CPU µs / word"]
    last = last.drop(index="branch-and-bound", level="method")
    last["times the speed of the proof"] = last["CPU µs / word"].rdiv(
        proof.reindex(last.index.droplevel("method")).to_numpy()
    )
    names = ["patience", "optima found, %", "of long sentences, %", "times the speed of the proof"]
    return last[[*names, "sentences", "long ones"]].rename(columns={"sentences": "proved optima"})


def per_run(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare random walks with Gibbs sampling: the cost of a run, and the scores with equal budgets and in equal time.

    Rows: (run, corpus), over non-projective trees, as means over seeds. Columns: the CPU time that one more run of
    greedy search, of Gibbs sampling and of a random walk adds, in microseconds per word; `walk / Gibbs`, the ratio of
    the last two; and the score of random walks minus the score of Gibbs sampling, in % of the score of the optima, with
    the same patience (mean over the budgets) and in equal time (`equal_time`). Corpora without both are left out.
    """
    rows = {}
    for r in results:
        data = measured(r)
        data = data[(data["space"] == "non-projective") & data["corpus"].isin(wanted or set(data["corpus"]))]
        in_time = {corpus: value for corpus, value, *_ in equal_time(r, "random-walk", "gibbs")}
        for corpus, lines in data.assign(time=1e6 * data["cpu_s"] / data["words"]).groupby("corpus", sort=False):
            curves = {
                str(method): curve.groupby("patience")[["time", "runs", "score"]].mean().sort_index()
                for method, curve in lines.groupby("method", sort=False)
                if method in METHODS
            }
            if corpus not in in_time or any(
                curve["runs"].iloc[-1] <= curve["runs"].iloc[0] for curve in curves.values()
            ):
                continue  # without two budgets, no run has a cost
            costs = {name: _slope(curves[name]) for name in METHODS if name in curves}
            more = 100 * (curves["random-walk"]["score"] - curves["gibbs"]["score"]).mean()
            rows[r.name, str(corpus)] = {
                **{f"{IN_WORDS[name]}, µs per word and run": cost for name, cost in costs.items()},
                "walk / Gibbs": costs["random-walk"] / costs["gibbs"],
                "score, same patience": more,
                "score, equal time": in_time[corpus],
            }
    index = pd.MultiIndex.from_tuples(list(rows) or [("", "")], names=["run", "corpus"])[: len(rows)]
    return pd.DataFrame(list(rows.values()), index=index)


def _slope(curve: pd.DataFrame) -> float:
    """Return the time that one more run adds, between the smallest and the largest budget of a method.

    curve  index: patience, ascending; columns time and runs
    """
    first, last = curve.iloc[0], curve.iloc[-1]
    return float((last["time"] - first["time"]) / (last["runs"] - first["runs"]))


def targets(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return, for each model, the method that finds the most projective optima among those that are fast enough.

    Index: (run, corpus, model).

    A method is fast enough if it reaches the speed of TARGETS, for decoding alone. If no method is fast enough,
    `method` is empty.

    low, high  exact 95 % interval over sentences, for the mean over seeds; it ignores the choice of method and budget
    met        whether the share of optima reaches the target

    `interval contains target` is "yes" if the target lies within this interval: with other sentences, the share might
    fall on the other side of the target.
    """
    lines = {}
    for r, model in [(r, name) for r in results if (s := r.params.section(ScoreTime)) for name in s.models]:
        table = score_time([r], wanted, model)
        for corpus, rows in table.loc[r.name].groupby(level="corpus", sort=False) if len(table) else ():
            share, speed = TARGETS["head-bigram" in r.params.models[model].settings.families]
            sampled = rows.droplevel("corpus").loc["projective"].drop(index="branch-and-bound")
            fast = sampled[sampled["CPU µs / word"] <= 1e6 / speed].sort_values("CPU µs / word")
            line: dict[str, Any] = {"target, %": share, "words / CPU s": float(speed), "met": "no", "method": ""}
            line["optima found, %"] = np.nan
            if len(fast):
                best, n = fast["optima found, %"].idxmax(), int(fast["sentences"].iloc[0])
                row = fast.loc[best]
                low, high = _interval(row["optima found, %"] / 100, n)
                line |= {"method": f"{best[0]}, patience {best[1]}", "optima found, %": row["optima found, %"]}
                line |= {"low": low, "high": high, "found at": 1e6 / row["CPU µs / word"]}
                line |= {name: row[name] for name in ("of long sentences, %", "long ones", "sentences")}
                line["met"] = "yes" if row["optima found, %"] >= share else "no"
                line["interval contains target"] = "yes" if low < share <= high else "no"
            lines[r.name, corpus, model] = line
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=["run", "corpus", "model"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


# --- measures for claims: each yields (corpus, value, low, high) and, for a share, the numerator and the denominator


def equal_time(results: Results, first: str, second: str) -> Iterator[tuple[str, float, float, float]]:
    """Yield how much more the trees of the first method score than the trees of the second in equal time.

    Each result is (corpus, value, low, high). The value is in % of the score of the optima, over non-projective trees.

    It is a mean over the budgets of the second method whose times lie within the times of the first. Between
    two budgets of the first method, its score is interpolated over the logarithm of time. There is no interval, because
    seeds are averaged; low and high equal the value.
    """
    for corpus, curves in _curves(results, first, second):
        curve, second_curve = curves
        inside = second_curve[
            (second_curve["time"] >= curve["time"].min()) & (second_curve["time"] <= curve["time"].max())
        ]
        if len(inside):
            interpolated = np.interp(np.log(inside["time"]), np.log(curve["time"]), curve["score"])
            value = float(np.mean(100 * (interpolated - inside["score"])))
            yield corpus, value, value, value


def in_the_end(results: Results, first: str, second: str) -> Iterator[tuple[str, float, float, float]]:
    """Yield how much more the trees of the first method score than the trees of the second, with the largest budgets.

    Each result is (corpus, value, low, high). The value is in % of the score of the optima, over non-projective trees.
    There is no interval; low and high equal the value.
    """
    for corpus, (curve, second_curve) in _curves(results, first, second):
        value = float(100 * (curve["score"].iloc[-1] - second_curve["score"].iloc[-1]))
        yield corpus, value, value, value


def optima(results: Results, method: str) -> Iterator[tuple[str, float, float, float, int, int]]:
    """Yield the share (%) of proved projective optima that a method finds with its largest budget: a mean over seeds.

    Each result is (corpus, share, low, high, optima found, proved optima). The number of optima found is the mean over
    seeds, rounded.
    """
    data = measured(results)
    data = data[(data["method"] == method) & (data["space"] == "projective")]
    for corpus, rows in data.groupby("corpus", sort=False):
        last = rows[rows["patience"] == rows["patience"].max()]
        if proved := int(last["proved"].iloc[0]):
            share = float(last["optima"].mean()) / proved
            yield (str(corpus), 100 * share, *_interval(share, proved), round(share * proved), proved)


def _interval(share: float, sentences: int) -> tuple[float, float]:
    """Return an exact 95 % interval (%) over sentences for a share, which is a mean over seeds.

    Seeds do not add to the number of sentences, because all seeds parse the same sentences.
    """
    from scipy.stats import binomtest

    ends = binomtest(round(share * sentences), sentences).proportion_ci(0.95)
    return 100 * ends.low, 100 * ends.high


def _curves(results: Results, first: str, second: str) -> Iterator[tuple[str, tuple[pd.DataFrame, pd.DataFrame]]]:
    """Yield, for each corpus, the curves (time, score) of two methods over non-projective trees, fastest budget first.

    Time and score are means over seeds.
    """
    data = measured(results)
    data = data[data["space"] == "non-projective"]
    for corpus, rows in data.assign(time=data["cpu_s"] / data["words"]).groupby("corpus", sort=False):
        pair = [rows[rows["method"] == name].groupby("patience")[["time", "score"]].mean() for name in (first, second)]
        if all(len(curve) for curve in pair):
            yield str(corpus), (pair[0].sort_values("time"), pair[1].sort_values("time"))
