"""Measures of hard constraints by integer programming, over folds, and of the programs of the arena."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from studies.common.params import Params
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.riedel_clarke_2006.constraints.jackknife import jackknife
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.site.claims.measured import Measure, Measured, Scale, share
from studies.site.collect import Results

#: figures of one system on one fold
FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "LAC": lambda s: constraints_tables.measures(s)["LAC"],
    "UAC": lambda s: constraints_tables.measures(s)["UAC"],
    "seconds": lambda s: s["seconds"] / s["sentences"],
    "first": lambda s: 100 * s["first"] / s["seconds"],
    "whole run": lambda s: (s["reading"] + s["features"] + s["seconds"]) / s["sentences"],
}
#: columns that runs from before there were these timers lack
TIMERS = {"whole run": frozenset({"reading", "features"})}


def folds(
    results: Results, rows: Sequence[str], compare: str, figure: str, how: str = "value", scale: Scale = Scale.LINEAR
) -> Iterator[Measured]:
    """A figure of one system, or two systems compared, over all folds of a corpus; interval: the jackknife over folds.

    how    a name in HOW
    scale  where the jackknife takes place: intervals of ratios stay above 0, those of shares between 0 and 100
    """
    for corpus, systems in _folds(results):
        timers = TIMERS.get(figure, frozenset())
        if all(row in one and timers <= one[row].keys() for one in systems for row in rows):

            def of(added: dict[str, Any]) -> float:
                return HOW[how](*(FIGURES[figure](added[row]) for row in rows))

            yield _jackknife(corpus, systems, of, scale)


def counted(results: Results, rows: Sequence[str], compare: str, count: str) -> Iterator[Measured]:
    """Share of the sentences (%) of all folds of a corpus that a system counted, with a Wilson interval."""
    for corpus, systems in _folds(results):
        if all(rows[0] in one for one in systems):
            part, whole = (sum(one[rows[0]][name] for one in systems) for name in (count, "sentences"))
            yield share(corpus, part, whole)


#: two figures as one: first less second, first / second, and the time that the first takes in % of the second's
HOW: dict[str, Callable[..., float]] = {
    "value": lambda a: a,
    "difference": lambda a, b: a - b,
    "ratio": lambda a, b: a / b,
    "percent": lambda a, b: 100 * a / b,
}


def better(results: Results, rows: Sequence[str], compare: str, level: float) -> Iterator[Measured]:
    """Of the sentences that a system changes for better or worse, the share (%) that it betters; exact interval."""
    for corpus, systems in _folds(results):
        if all(rows[0] in one for one in systems):
            good, bad = (sum(one[rows[0]][name] for one in systems) for name in ("better", "worse"))
            yield share(corpus, good, good + bad, level, "exact")


def in_the_loop(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """LAC of a system trained by its own program less the same trained by Chu-Liu-Edmonds.

    The two are paired over folds, with the interval of the jackknife. A single fold has the interval of two unpaired
    shares, which is wider.
    """
    for corpus, folds in constraints_tables.looped(results).items():
        name = rows[0]
        if len(folds) > 1:
            yield Measured(corpus, *constraints_tables.loop_gain(folds, name))
            continue
        pair = [folds[0][trained][name] for trained in ("in the loop", "systems")]
        own, other = (share("", system["labelled"], system["n"]) for system in pair)
        half = np.hypot(own.high - own.low, other.high - other.low) / 2
        gain = own.value - other.value
        yield Measured(corpus, gain, gain - half, gain + half)


def programs(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of sentences (%) that these solvers together prove, on arcs alone; with a Wilson interval."""
    data = integer_programs_tables.measured(results) if results.has("integer-programs") else pd.DataFrame()
    if len(data):
        data = data[(data["model"] == "arc") & data["solver"].isin(rows)]
        for corpus, found in data.groupby("corpus", sort=False):
            yield share(str(corpus), int(found["proved"].sum()), int(found["sentences"].sum()))


def _folds(results: Results) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    every = constraints_tables.folds(results)
    for corpus in dict.fromkeys(fold["corpus"] for fold in every):
        yield corpus, [_timed(fold) for fold in every if fold["corpus"] == corpus]


def _timed(fold: dict[str, Any]) -> dict[str, Any]:
    """The systems of a fold; each has the seconds of reading the fold, where they were measured."""
    read = {"reading": fold["reading_cpu_s"]} if "reading_cpu_s" in fold else {}
    return {name: {**system, **read} for name, system in fold["systems"].items()}


def _jackknife(
    place: str, folds: Sequence[dict[str, Any]], figure: Callable[[Any], float], scale: Scale = Scale.LINEAR
) -> Measured:
    """A figure of sums over folds with the interval of the jackknife on a scale."""
    return Measured(place, *jackknife(folds, figure, scale.to, scale.back))


def _systems(params: Params) -> list[str]:
    cut = [f"{constraints_tables.CONSTRAINTS}, q = {q}" for q in params.section(Constraints).q]
    return [constraints_tables.BASELINE, constraints_tables.CONSTRAINTS, constraints_tables.PUBLISHED_LOOP, *cut]


MEASURES: dict[str, Measure] = {
    "programs": Measure(programs, "{:.1f} %", lambda params: integer_programs_tables.EXPLICIT, Scale.ODDS),
    "LAC": Measure(partial(folds, figure="LAC", how="difference"), "{:+.2f} LAC", _systems),
    "UAC": Measure(partial(folds, figure="UAC", how="difference"), "{:+.2f} UAC", _systems),
    "few iterations": Measure(partial(counted, count="few_iterations"), "{:.2f} %", _systems, Scale.ODDS),
    "over 120 s": Measure(partial(counted, count="long"), "{:.2f} %", _systems, Scale.ODDS),
    "solve time": Measure(partial(folds, figure="seconds", scale=Scale.LOG), "{:.4f} s", _systems, Scale.LOG),
    "solve time, ratio": Measure(
        partial(folds, figure="seconds", how="ratio", scale=Scale.LOG), "{:.1f} times", _systems, Scale.LOG
    ),
    "whole run, ratio": Measure(
        partial(folds, figure="whole run", how="ratio", scale=Scale.LOG), "{:.2f} times", _systems, Scale.LOG
    ),
    "solve time, %": Measure(
        partial(folds, figure="seconds", how="percent", scale=Scale.LOG), "{:.1f} %", _systems, Scale.LOG
    ),
    "first iteration": Measure(partial(folds, figure="first", scale=Scale.ODDS), "{:.1f} %", _systems, Scale.ODDS),
    "better": Measure(partial(better, level=0.999), "{:.1f} %", _systems, Scale.ODDS),
    "in the loop": Measure(in_the_loop, "{:+.2f} LAC", _systems),
}
