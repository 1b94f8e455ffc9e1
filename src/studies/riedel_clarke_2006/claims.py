"""Measures for the claims of Riedel & Clarke (2006): hard constraints in cross-validation, and exact solvers."""

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

#: name -> function that computes a figure from the sums of one system
FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "LAC": lambda s: constraints_tables.measures(s)["LAC"],
    "UAC": lambda s: constraints_tables.measures(s)["UAC"],
    "seconds": lambda s: s["seconds"] / s["sentences"],
    "first": lambda s: 100 * s["first"] / s["seconds"],
    "whole run": lambda s: (s["reading"] + s["features"] + s["seconds"]) / s["sentences"],
}
#: figure -> timers that it needs, which older runs lack
TIMERS = {"whole run": frozenset({"reading", "features"})}


def folds(
    results: Results,
    rows: Sequence[str],
    compare: str,
    figure: str,
    combination: str = "value",
    scale: Scale = Scale.LINEAR,
) -> Iterator[Measured]:
    """Measure a figure of one system, or compare it between two systems, over all folds of a corpus.

    figure       a key of FIGURES
    combination  a key of HOW: the way in which the figures of the systems are combined, for instance by a difference
    scale        scale of the jackknife over folds that gives the interval: with Scale.LOG the interval of a ratio stays
                 above 0, with Scale.ODDS the interval of a share stays between 0 and 100
    """
    for corpus, systems in _folds(results):
        timers = TIMERS.get(figure, frozenset())
        if all(row in fold and timers <= fold[row].keys() for fold in systems for row in rows):

            def combined(sums: dict[str, Any]) -> float:
                return HOW[combination](*(FIGURES[figure](sums[row]) for row in rows))

            yield _jackknife(corpus, systems, combined, scale)


def counted(results: Results, rows: Sequence[str], compare: str, count: str) -> Iterator[Measured]:
    """Measure the share (%) of sentences with a property in the results of one system, over all folds.

    count  key of the number of such sentences in the sums of a system

    The interval is a Wilson interval.
    """
    for corpus, systems in _folds(results):
        if all(rows[0] in fold for fold in systems):
            part, whole = (sum(fold[rows[0]][name] for fold in systems) for name in (count, "sentences"))
            yield share(corpus, part, whole)


#: ways to combine the figures of one or two systems: one figure alone, difference, ratio, and ratio in %
HOW: dict[str, Callable[..., float]] = {
    "value": lambda a: a,
    "difference": lambda a, b: a - b,
    "ratio": lambda a, b: a / b,
    "percent": lambda a, b: 100 * a / b,
}


def better(results: Results, rows: Sequence[str], compare: str, level: float) -> Iterator[Measured]:
    """Measure the share (%) of improved sentences among the sentences that a system makes better or worse.

    Sentences are compared with the baseline. The interval is the exact binomial interval at confidence `level`.
    """
    for corpus, systems in _folds(results):
        if all(rows[0] in fold for fold in systems):
            better_count, worse_count = (sum(fold[rows[0]][name] for fold in systems) for name in ("better", "worse"))
            yield share(corpus, better_count, better_count + worse_count, level, "exact")


def in_the_loop(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the gain in LAC of a system from training with the integer program in the loop.

    LAC is the share (%) of words with the right head and label. The gain is the system's LAC after this training minus
    the system's LAC after training with Chu-Liu-Edmonds. The two trainings are paired over folds, and the interval is a
    jackknife over folds. If there is a single fold, both LAC are treated as unpaired shares, whose interval is wider.
    """
    for corpus, folds in constraints_tables.looped(results).items():
        name = rows[0]
        if len(folds) > 1:
            yield Measured(corpus, *constraints_tables.loop_gain(folds, name))
            continue
        pair = [folds[0][trained][name] for trained in ("in the loop", "systems")]
        in_loop, without = (share("", system["labelled"], system["n"]) for system in pair)
        half = np.hypot(in_loop.high - in_loop.low, without.high - without.low) / 2
        gain = in_loop.value - without.value
        yield Measured(corpus, gain, gain - half, gain + half)


def programs(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the share (%) of sentences that the solvers of `rows` prove, summed over these solvers.

    Only the model whose factors are single arcs counts. The interval is a Wilson interval.
    """
    data = integer_programs_tables.measured(results) if results.has("integer-programs") else pd.DataFrame()
    if len(data):
        data = data[(data["model"] == "arc") & data["solver"].isin(rows)]
        for corpus, group in data.groupby("corpus", sort=False):
            yield share(str(corpus), int(group["proved"].sum()), int(group["sentences"].sum()))


def _folds(results: Results) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each corpus with a list of its folds. Each fold is a mapping from systems to their sums."""
    all_folds = constraints_tables.folds(results)
    for corpus in dict.fromkeys(fold["corpus"] for fold in all_folds):
        yield corpus, [_timed(fold) for fold in all_folds if fold["corpus"] == corpus]


def _timed(fold: dict[str, Any]) -> dict[str, Any]:
    """Return the systems of a fold with their sums, and two more keys.

    over_limit  number of sentences that take longer than two minutes. Sentences that are stopped at this limit count,
                although their CPU time may be a little shorter
    reading     seconds for reading the fold, if these were measured
    """
    read = {"reading": fold["reading_cpu_s"]} if "reading_cpu_s" in fold else {}
    return {
        name: {**system, **read, "over_limit": max(system["long"], system["status"].get("limit", 0))}
        for name, system in fold["systems"].items()
    }


def _jackknife(
    place: str, folds: Sequence[dict[str, Any]], figure: Callable[[Any], float], scale: Scale = Scale.LINEAR
) -> Measured:
    """Compute a figure from sums over folds. Its jackknife interval is computed on the given scale.

    place  name of the corpus in the result
    """
    return Measured(place, *jackknife(folds, figure, scale.to, scale.back))


def _held(results: Results) -> set[str]:
    """Return the systems that a run cross-validates on any corpus."""
    return {system for _, folds_of_corpus in _folds(results) for fold in folds_of_corpus for system in fold}


def _systems(params: Params) -> list[str]:
    """Return the names of all systems of the cross-validation, which claims may use."""
    cut = [f"{constraints_tables.CONSTRAINTS}, q = {q}" for q in params.section(Constraints).q]
    return [constraints_tables.BASELINE, constraints_tables.CONSTRAINTS, constraints_tables.PUBLISHED_LOOP, *cut]


MEASURES: dict[str, Measure] = {
    "programs": Measure(programs, "{:.1f} %", lambda params: integer_programs_tables.EXPLICIT, Scale.ODDS),
    "LAC": Measure(partial(folds, figure="LAC", combination="difference"), "{:+.2f} LAC points", _systems, held=_held),
    "UAC": Measure(partial(folds, figure="UAC", combination="difference"), "{:+.2f} UAC points", _systems, held=_held),
    "few iterations": Measure(partial(counted, count="few_iterations"), "{:.2f} %", _systems, Scale.ODDS, _held),
    "over 120 s": Measure(partial(counted, count="over_limit"), "{:.2f} %", _systems, Scale.ODDS, _held),
    "solve time": Measure(partial(folds, figure="seconds", scale=Scale.LOG), "{:.4f} s", _systems, Scale.LOG, _held),
    "solve time, ratio": Measure(
        partial(folds, figure="seconds", combination="ratio", scale=Scale.LOG),
        "{:.1f} times",
        _systems,
        Scale.LOG,
        _held,
    ),
    "whole run, ratio": Measure(
        partial(folds, figure="whole run", combination="ratio", scale=Scale.LOG),
        "{:.2f} times",
        _systems,
        Scale.LOG,
        _held,
    ),
    "solve time, %": Measure(
        partial(folds, figure="seconds", combination="percent", scale=Scale.LOG),
        "{:.1f} %",
        _systems,
        Scale.LOG,
        _held,
    ),
    "first iteration": Measure(
        partial(folds, figure="first", scale=Scale.ODDS), "{:.1f} %", _systems, Scale.ODDS, _held
    ),
    "better": Measure(partial(better, level=0.999), "{:.1f} %", _systems, Scale.ODDS, _held),
    "in the loop": Measure(in_the_loop, "{:+.2f} LAC points", _systems, held=_held),
}
