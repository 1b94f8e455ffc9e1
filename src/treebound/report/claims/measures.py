"""What a claim is about: a quantity, read from the rows of a run, in every place that has them.

A measure takes the results of a run, the names of rows, and which of them are compared (`each`: the first with each of
the others; `next`: each with the one after it). It returns a `Measured` for every corpus, learner or set of folds that
has all these rows. Of several comparisons in one place the least stands for them, so that a bound that it passes is
passed by all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treebound.experiments.ccg_integration import column_name
from treebound.experiments.params import Params, Row
from treebound.report.collect import Results
from treebound.report.remarks_speed import ENOUGH, power
from treebound.report.tables import ilp, sampling
from treebound.report.tables.ablation import ablations
from treebound.report.tables.differences import Z, differences
from treebound.report.tables.rows import AT, at, learners_of, metrics_of, named_rows, row_names

#: words of the longest sentences whose time is said to grow smoothly
SMOOTH = 40


class Measured(NamedTuple):
    """A quantity in one place with the ends of its interval, which are the value where it has none."""

    place: str
    value: float
    low: float
    high: float


def exact(place: str, value: float) -> Measured:
    """A quantity that was counted, or measured once."""
    return Measured(place, value, value, value)


def least(place: str, found: Sequence[Sequence[float]]) -> Measured:
    """The least of several comparisons: value, low and high, each by itself."""
    return Measured(place, *np.min(np.asarray(found, float), axis=0))


def pairs(rows: Sequence[str], compare: str) -> list[tuple[str, str]]:
    """Which rows are compared."""
    return list(pairwise(rows)) if compare == "next" else [(rows[0], other) for other in rows[1:]]


def _ran(results: Results, stage: str) -> bool:
    """Whether a run has a stage at all: the one on more corpora decodes and does nothing else."""
    return (results.folder / "metrics" / stage).is_dir()


# --- rows of `decode`


def accuracy(results: Results, rows: Sequence[str], compare: str, figure: str) -> Iterator[Measured]:
    """Accuracy of the first row of a pair less that of the second, in points: `tables.differences`."""
    wanted = pairs(rows, compare)
    data = differences(results, [(figure, *pair) for pair in wanted])
    for (corpus, learner), found in data.groupby(level=["corpus", "learner"], sort=False):
        if len(found) == len(wanted):
            yield least(f"{corpus}, {learner}", found[["difference", "low", "high"]].to_numpy())


def alone(results: Results, rows: Sequence[str], compare: str, column: str) -> Iterator[Measured]:
    """A figure of one row: a column of the metrics, or a count as a share of the sentences (%) or a mean of them."""
    data = metrics_of(results)
    for place, (run,) in _places(results, rows):
        found = data.loc[run]
        share = {"certified": 100 / found["sentences"], "dp_calls": 1 / found["sentences"]}.get(column, 1)
        yield exact(place, float(found[column] * share))


def speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Words per CPU second of the first row of a pair divided by the second's; interval: slowest to fastest repeats."""
    data = results.benchmark().set_index(AT) if _ran(results, "benchmark") else pd.DataFrame()
    for place, keys in _places(results, rows):
        if all(key in data.index for key in keys):
            found = {name: data.loc[key] for name, key in zip(rows, keys, strict=True)}
            yield least(place, [_ratio(found[a], found[b]) for a, b in pairs(rows, compare)])


def _ratio(a: pd.Series, b: pd.Series) -> list[float]:
    """How many times the second row's time for a word the first one's is less, and the ends of that."""
    times = [[row["cpu_s"] / row["words"], *(s / row["words"] for s in row["cpu_s_range"])] for row in (a, b)]
    return [times[1][0] / times[0][0], times[1][1] / times[0][2], times[1][2] / times[0][1]]


def calls(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """DP calls a sentence of the first row of a pair divided by the second's."""
    data = metrics_of(results)
    for place, keys in _places(results, rows):
        mean = {
            name: data.loc[key, "dp_calls"] / data.loc[key, "sentences"] for name, key in zip(rows, keys, strict=True)
        }
        yield least(place, [[mean[a] / mean[b]] * 3 for a, b in pairs(rows, compare)])


def growth(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """The steepest step of a row's mean time between neighbouring bins up to SMOOTH words, as a power of the length."""
    data = results.by_length().set_index(AT) if _ran(results, "benchmark") else pd.DataFrame()
    for place, (key,) in _places(results, rows):
        if key in data.index:
            curve = data.loc[[key]].sort_values("lo")
            curve = curve[(curve["hi"] <= SMOOTH) & (curve["sentences"] >= ENOUGH)]
            if len(curve) > 1:
                yield exact(place, max(power(a, b) for (_, a), (_, b) in pairwise(curve.iterrows())))


def _places(results: Results, rows: Sequence[str]) -> Iterator[tuple[str, list[tuple]]]:
    """Place and the keys of its rows, for every corpus and learner that has them all."""
    for corpus in results.corpora:
        for learner in learners_of(results.params):
            named: dict[str, Row] = named_rows(results.params, corpus, learner)
            if all(row in named for row in rows):
                yield f"{corpus}, {learner}", [at(corpus, named[row]) for row in rows]


# --- other stages


def search(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """DP calls of a configuration of the ablation divided by another's."""
    for place, data in _ablation(results):
        mean = data.set_index("configuration")["dp_calls"]
        if all(row in mean for row in rows):
            yield least(place, [[mean[a] / mean[b]] * 3 for a, b in pairs(rows, compare)])


def calls_and_time(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Spearman's correlation of DP calls and time over the configurations of the ablation, with Fisher's interval."""
    for place, data in _ablation(results):
        if len(data) > 3 and data["dp_calls"].nunique() > 1:
            value = float(data["dp_calls"].corr(data["ms"], method="spearman"))
            middle, half = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9)), Z / np.sqrt(len(data) - 3)
            yield Measured(place, value, float(np.tanh(middle - half)), float(np.tanh(middle + half)))


def _ablation(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    if results.params.ablation and _ran(results, "ablation"):
        for place, data in ablations([results]).groupby("corpus", sort=False):
            yield str(place).partition(",")[0], data


def lists(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of sentences (%) whose list of best trees is proved complete."""
    if results.params.confidence and _ran(results, "confidence"):
        for row in results.confidence().itertuples():
            yield exact(row.corpus, 100 * row.complete / row.sentences)


def programs(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of sentences (%) that these solvers together prove in the arena, on arcs alone; with a Wilson interval."""
    data = results.arena() if _ran(results, "arena") else pd.DataFrame()
    if len(data):
        data = data[(data["model"] == "arc") & data["solver"].isin(rows)]
        for corpus, found in data.groupby("corpus", sort=False):
            yield _share(str(corpus), int(found["proved"].sum()), int(found["sentences"].sum()))


# --- folds


#: figures of one system on one fold
FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "LAC": lambda s: ilp.measures(s)["LAC"],
    "UAC": lambda s: ilp.measures(s)["UAC"],
    "few iterations": lambda s: 100 * s["few_iterations"] / s["sentences"],
    "over 120 s": lambda s: 100 * s["long"] / s["sentences"],
    "seconds": lambda s: s["seconds"] / s["sentences"],
    "first": lambda s: 100 * s["first"] / s["seconds"],
}


def folds(results: Results, rows: Sequence[str], compare: str, figure: str, how: str = "value") -> Iterator[Measured]:
    """A figure of one system, or two systems compared, over all folds of a corpus; interval: the jackknife over folds.

    how  a name in HOW
    """
    for corpus, systems in _folds(results):
        if all(row in one for one in systems for row in rows):
            yield _jackknife(corpus, systems, lambda added: HOW[how](*(FIGURES[figure](added[row]) for row in rows)))


#: two figures as one: first less second, first / second, and the % that the first is below the second
HOW: dict[str, Callable[..., float]] = {
    "value": lambda a: a,
    "difference": lambda a, b: a - b,
    "ratio": lambda a, b: a / b,
    "saved": lambda a, b: 100 * (1 - a / b),
}


def better(results: Results, rows: Sequence[str], compare: str, level: float) -> Iterator[Measured]:
    """Of the sentences that a system changes for better or worse, the share (%) that it betters; exact interval."""
    for corpus, systems in _folds(results):
        if all(rows[0] in one for one in systems):
            good, bad = (sum(one[rows[0]][name] for one in systems) for name in ("better", "worse"))
            yield _share(corpus, good, good + bad, level, "exact")


def in_the_loop(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """LAC of a system trained by its own program less the same trained by Chu-Liu-Edmonds, on one fold; unpaired."""
    for found in results.constraint_analysis():
        own, other = (
            _share("", s["labelled"], s["n"]) for s in (found["in the loop"][rows[0]], found["systems"][rows[0]])
        )
        half = np.hypot(own.high - own.low, other.high - other.low) / 2
        gain = own.value - other.value
        yield Measured(found["corpus"], gain, gain - half, gain + half)


def _folds(results: Results) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    every = results.cross_validation()
    for corpus in dict.fromkeys(fold["corpus"] for fold in every):
        yield corpus, [fold["systems"] for fold in every if fold["corpus"] == corpus]


def _jackknife(place: str, folds: Sequence[dict[str, Any]], figure: Callable[[dict[str, Any]], float]) -> Measured:
    """A figure of sums over folds, with the 95 % t-interval of leaving out each fold in turn; one fold has none."""
    from scipy.stats import t

    value, n = figure(_added(folds)), len(folds)
    if n < 2:
        return exact(place, value)
    left = [figure(_added([one for one in folds if one is not out])) for out in folds]
    half = float(t.ppf(0.975, n - 1) * np.sqrt((n - 1) * np.var(left)))
    return Measured(place, value, value - half, value + half)


def _added(folds: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The counts and seconds of every system, summed over folds."""
    counts = {name: [key for key, v in one.items() if isinstance(v, int | float)] for name, one in folds[0].items()}
    return {name: {key: sum(f[name][key] for f in folds) for key in keys} for name, keys in counts.items()}


# --- classifiers of transitions


def classifiers(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """UAS of the first cell of the stage `classifiers` less the second's, with the 99 % interval of paired words."""
    for corpus, tests in results.classifier_tests().groupby("corpus", sort=False):
        for (a, b), sign in ((rows, 1.0), (tuple(reversed(rows)), -1.0)):
            for test in tests[(tests["a"] == a) & (tests["b"] == b)].itertuples():
                gained, lost, n = float(test.only_a), float(test.only_b), float(test.scored)
                half = 2.5758 * np.sqrt(max(gained + lost - (gained - lost) ** 2 / n, 0)) / n
                value = sign * (gained - lost) / n
                yield Measured(str(corpus), 100 * value, 100 * (value - half), 100 * (value + half))


def classifier_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """CPU seconds of training of the first cell divided by the second's, of the whole training set."""
    data = results.classifiers()
    data = data[(data["share"] == 100) & (data["missing"] == "")]
    data = data.assign(name=data["learner"] + " " + data["features"])
    for corpus, of in data.groupby("corpus", sort=False):
        seconds = of.groupby("name")["train_cpu_s"].sum()
        if all(row in seconds for row in rows):
            yield exact(str(corpus), float(seconds[rows[0]] / seconds[rows[1]]))


# --- parsers that sample


def samplers(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """UAS of a parser less another's, by names of rows; the 99 % interval of paired words."""
    wanted = pairs(rows, compare)
    for corpus, found in sampling.gains(results, wanted).groupby(level="corpus", sort=False):
        if len(found) == len(wanted):
            yield least(str(corpus), found[["difference", "low", "high"]].to_numpy())


def searches(results: Results, rows: Sequence[str], compare: str, of: Callable[..., Any]) -> Iterator[Measured]:
    """What a function of `tables.sampling` tells of these methods."""
    for found in of(results, *rows):
        yield Measured(*found)


def _methods(params: Params) -> Collection[str]:
    return sampling.METHODS


def _cells(params: Params) -> list[str]:
    return [f"{name} {features}" for name in params.classifiers.learners for features in params.classifiers.features]


def _share(place: str, part: int, whole: int, level: float = 0.95, method: str = "wilson") -> Measured:
    """A share in % with a binomial interval; nothing known where there is nothing."""
    from scipy.stats import binomtest

    if not whole:
        return Measured(place, float("nan"), 0.0, 100.0)
    ends = binomtest(part, whole).proportion_ci(level, method=method)
    return Measured(place, 100 * part / whole, 100 * ends.low, 100 * ends.high)


# --- the list


# --- CCG

#: what `experiments.ccg` compares
_COMPARED = [f"{name}{kind}" for name in ("AST", "reverse") for kind in ("", " best", " worst")]
_COMPARED += [f"{name}{kind}" for name in ("narrowest", "widest") for kind in ("", " best")]


def ccg_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Labelled F-score of the first less the second's, of every CCG parser; 95 % interval by the jackknife."""
    for name, found in results.ccg().items() if _ran(results, "ccg") else ():
        for of in found["differences"]:
            if [of["a"], of["b"]] == list(rows):
                yield Measured(name, of["value"], of["low"], of["high"])
            elif [of["b"], of["a"]] == list(rows):
                yield Measured(name, -of["value"], -of["high"], -of["low"])


def ccg_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Sentences per CPU second of the first order divided by the second's, on dev."""
    for name, found in results.ccg().items() if _ran(results, "ccg") else ():
        a, b = (found["speed"]["dev"][row] for row in rows)
        yield exact(name, a / b)


def ccg_coverage(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of sentences of dev (%) that an order gives a derivation; with a Wilson interval."""
    for name, found in results.ccg().items() if _ran(results, "ccg") else ():
        row = found["orders"]["dev"][rows[0]]
        yield _share(name, sum(row["levels"]), row["sentences"])


def joint_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Labelled F-score of the first column of the joint model less the second's, on dev and on test."""
    for name, found in results.ccg_integration().items():
        for of in found["differences"]:
            if [of["a"], of["b"]] == list(rows):
                yield Measured(f"{name}, {of['split']}", of["value"], of["low"], of["high"])
            elif [of["b"], of["a"]] == list(rows):
                yield Measured(f"{name}, {of['split']}", -of["value"], -of["high"], -of["low"])


def joint_share(results: Results, rows: Sequence[str], compare: str, figure: str) -> Iterator[Measured]:
    """Share (%) of a column's derivations that are proved, or less than the optimum, on dev and on test."""
    for name, found in results.ccg_integration().items():
        for row in found["columns"]:
            if column_name(row["order"], row["decoder"], row["iterations"]) == rows[0]:
                whole = row["parsed"] if figure == "proved" else row["proved"]
                yield _share(f"{name}, {row['split']}", row[figure], whole)


def joint_settled(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of dev (%) that has settled at the end of a curve (`AST bp`), with a Wilson interval."""
    for name, found in results.ccg_integration().items():
        parsed = {row["order"]: row["parsed"] for row in found["columns"] if row["split"] == "dev"}
        for (order, decoder), curve in pd.DataFrame(found["curves"]).groupby(["order", "decoder"], sort=False):
            if f"{order} {decoder}" == rows[0]:
                count = parsed[str(order)]
                yield _share(name, round(curve["settled"].iloc[-1] * count / 100), count)


def joint_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Sentences per CPU second of the first column of the joint model divided by the second's, on dev."""
    for name, found in results.ccg_integration().items():
        of = {column_name(r["order"], r["decoder"], r["iterations"]): r for r in found["timing"]["columns"]}
        if all(row in of for row in rows):
            yield exact(name, of[rows[0]]["per_second"] / of[rows[1]]["per_second"])


def _columns(params: Params) -> list[str]:
    """The columns of the joint model."""
    counted = [(name, k) for name in ("bp", "dd") for k in params.ccg_integration.iterations]
    every = [("parser", 0), *counted, ("exact", 0)]
    return [column_name(order, *column) for order in ("AST", "reverse") for column in every]


class Measure(NamedTuple):
    """A function as described above, how its values are printed, and what the rows that it reads may be called."""

    read: Callable[..., Iterator[Measured]]
    text: str
    names: Callable[[Params], Collection[str]] = lambda params: ()


def _systems(params: Params) -> list[str]:
    cut = [f"{ilp.CONSTRAINTS}, q = {q}" for q in params.cross_validation.q]
    return [ilp.BASELINE, ilp.CONSTRAINTS, ilp.PUBLISHED_LOOP, *cut]


def _configurations(params: Params) -> Collection[str]:
    return params.ablation.configurations if params.ablation else ()


#: name in the files of claims -> measure
MEASURES: dict[str, Measure] = {
    "UAS": Measure(partial(accuracy, figure="UAS"), "{:+.2f} UAS", row_names),
    "UAS of a row": Measure(partial(alone, column="uas"), "{:.2f} UAS", row_names),
    "proved": Measure(partial(alone, column="certified"), "{:.1f} %", row_names),
    "calls of a row": Measure(partial(alone, column="dp_calls"), "{:.1f} calls a sentence", row_names),
    "speed": Measure(speed, "{:.2f} times", row_names),
    "calls": Measure(calls, "{:.2f} times", row_names),
    "growth": Measure(growth, "{:.1f} (power of the length)", row_names),
    "search": Measure(search, "{:.2f} times", _configurations),
    "calls and time": Measure(calls_and_time, "{:.2f} (rank correlation)"),
    "lists": Measure(lists, "{:.1f} %"),
    "programs": Measure(programs, "{:.1f} %", lambda params: ilp.EXPLICIT),
    "LAC": Measure(partial(folds, figure="LAC", how="difference"), "{:+.2f} LAC", _systems),
    "UAC": Measure(partial(folds, figure="UAC", how="difference"), "{:+.2f} UAC", _systems),
    "few iterations": Measure(partial(folds, figure="few iterations"), "{:.2f} %", _systems),
    "over 120 s": Measure(partial(folds, figure="over 120 s"), "{:.2f} %", _systems),
    "solve time": Measure(partial(folds, figure="seconds"), "{:.4f} s", _systems),
    "solve time, ratio": Measure(partial(folds, figure="seconds", how="ratio"), "{:.1f} times", _systems),
    "solve time, saved": Measure(partial(folds, figure="seconds", how="saved"), "{:.1f} %", _systems),
    "first iteration": Measure(partial(folds, figure="first"), "{:.1f} %", _systems),
    "better": Measure(partial(better, level=0.999), "{:.1f} %", _systems),
    "in the loop": Measure(in_the_loop, "{:+.2f} LAC", _systems),
    "UAS of classifiers": Measure(classifiers, "{:+.2f} UAS", _cells),
    "UAS of samplers": Measure(samplers, "{:+.2f} UAS", sampling.names),
    "score at equal time": Measure(partial(searches, of=sampling.equal_time), "{:+.4f} %", _methods),
    "score in the end": Measure(partial(searches, of=sampling.in_the_end), "{:+.4f} %", _methods),
    "optima found": Measure(partial(searches, of=sampling.optima), "{:.2f} %", _methods),
    "training time of classifiers": Measure(classifier_training, "{:.1f} times", _cells),
    "LF of CCG": Measure(ccg_difference, "{:+.2f} LF", lambda params: _COMPARED),
    "speed of CCG": Measure(ccg_speed, "{:.1f} times", lambda params: ("AST", "reverse")),
    "LF of the joint CCG": Measure(joint_difference, "{:+.2f} LF", _columns),
    "proved of the joint CCG": Measure(partial(joint_share, figure="proved"), "{:.1f} %", _columns),
    "search errors of the joint CCG": Measure(partial(joint_share, figure="less"), "{:.1f} %", _columns),
    "settled of the joint CCG": Measure(
        joint_settled, "{:.1f} %", lambda params: [f"{o} {d}" for o in ("AST", "reverse") for d in ("bp", "dd")]
    ),
    "speed of the joint CCG": Measure(joint_speed, "{:.2f} times", _columns),
    "coverage of CCG": Measure(ccg_coverage, "{:.2f} %", lambda params: ("AST", "reverse")),
}
