"""Measures of CCG parsing: supertagger and parser apart, and as one model (`joint`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.auli_lopez_2011.ccg_integration.measure import ITERATED, Column, column_of, columns
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common.params import Params
from studies.site.claims.measured import Measure, Measured, Scale, exact, share
from studies.site.collect import Results
from treebound.systems.ccg.evaluation import jackknife

#: systems that the stage `ccg` compares
_COMPARED = [f"{name}{kind}" for name in ("AST", "reverse") for kind in ("", " best", " worst")]
_COMPARED += [f"{name}{kind}" for name in ("narrowest", "widest") for kind in ("", " best")]

#: a parser trained on fewer sentences shows that the code runs, not how good a method is: claims do not read it
ENOUGH = 1000


def _parsers(results: Results, found: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(name, treebank that it is tested on, what was measured) of every parser that claims read."""
    settings = results.params.section(CCG).parsers
    for name, measured in found.items():
        if (settings[name].sentences or ENOUGH) >= ENOUGH:
            yield name, settings[name].corpus or name, measured


def _stage(results: Results) -> dict[str, dict[str, Any]]:
    """Read what the stage `ccg` measured; empty in runs without it."""
    return ccg_tables.measured(results) if results.has("ccg") else {}


def ccg_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Labelled F-score of the first less the second's, of every CCG parser; 95 % interval by the jackknife."""
    for name, data, found in _parsers(results, _stage(results)):
        for of in found["differences"]:
            if [of["a"], of["b"]] == list(rows):
                yield Measured(name, of["value"], of["low"], of["high"], data)
            elif [of["b"], of["a"]] == list(rows):
                yield Measured(name, -of["value"], -of["high"], -of["low"], data)


def ccg_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Sentences per CPU second of the first order divided by the second's, on dev."""
    for name, data, found in _parsers(results, _stage(results)):
        speed = found["speed"]
        seconds = [speed.get("seconds", {}).get("dev", {}).get(row) for row in rows]
        yield faster(name, [speed["dev"][row] for row in rows], seconds, data)


def faster(place: str, rates: Sequence[float], seconds: Sequence[Sequence[float] | None], data: str = "") -> Measured:
    """Speed of the first of two divided by the second's, with a 95 % interval.

    rates    sentences per CPU second of both
    seconds  CPU seconds of both on the same parts of the sentences, which were timed in turn; None in runs that kept
             none. The interval leaves out each part in turn (jackknife of the logarithm, Student's distribution)
    """
    from scipy.stats import t

    ratio = rates[0] / rates[1]
    if any(some is None for some in seconds) or len(seconds[0] or ()) < 2:
        return exact(place, ratio, data)
    a, b = np.asarray(seconds, float)
    n, left = len(a), np.log((b.sum() - b) / (a.sum() - a))
    half = t.ppf(0.975, n - 1) * float(np.sqrt((n - 1) * np.var(left)))
    return Measured(place, ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half)), data)


def ccg_coverage(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of sentences of dev (%) that an order gives a derivation; with a Wilson interval."""
    for name, data, found in _parsers(results, _stage(results)):
        row = found["orders"]["dev"][rows[0]]
        yield share(name, sum(row["levels"]), row["sentences"], data=data)


def joint_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Labelled F-score of the first column of the joint model less the second's, on dev and on test."""
    for name, data, found in _parsers(results, ccg_integration_tables.measured(results)):
        for of in found["differences"]:
            if [of["a"], of["b"]] == list(rows):
                yield Measured(f"{name}, {of['split']}", of["value"], of["low"], of["high"], data)
            elif [of["b"], of["a"]] == list(rows):
                yield Measured(f"{name}, {of['split']}", -of["value"], -of["high"], -of["low"], data)


def joint_share(results: Results, rows: Sequence[str], compare: str, figure: str) -> Iterator[Measured]:
    """Share (%) of a column's derivations that are proved, or less than the optimum, on dev and on test."""
    for name, data, found in _parsers(results, ccg_integration_tables.measured(results)):
        for row in found["columns"]:
            if column_of(row).name(row["order"]) == rows[0]:
                whole = row["parsed"] if figure == "proved" else row["proved"]
                yield share(f"{name}, {row['split']}", row[figure], whole, data=data)


def joint_settled(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Share of dev (%) that has settled at the end of a curve (`AST bp`), with a Wilson interval."""
    for name, data, found in _parsers(results, ccg_integration_tables.measured(results)):
        parsed = {row["order"]: row["parsed"] for row in found["columns"] if row["split"] == "dev"}
        for (order, decoder), curve in pd.DataFrame(found["curves"]).groupby(["order", "decoder"], sort=False):
            if f"{order} {decoder}" == rows[0]:
                count = parsed[str(order)]
                yield share(name, round(curve["settled"].iloc[-1] * count / 100), count, data=data)


def joint_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Sentences per CPU second of the first column of the joint model divided by the second's, on dev."""
    for name, data, found in _parsers(results, ccg_integration_tables.measured(results)):
        of = {column_of(row).name(row["order"]): row for row in found["timing"]["columns"]}
        if all(row in of for row in rows):
            both = [of[row] for row in rows]
            yield faster(name, [row["per_second"] for row in both], [row.get("seconds") for row in both], data)


#: share of sentences that must have settled, and how often sentences are drawn for an interval
SETTLED, DRAWN = 0.9, 2000


def joint_convergence(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Iterations until SETTLED of the sentences of dev have settled, with a bootstrap interval over sentences.

    The iterations of the first decoder (`AST bp`) are divided by those of the second.

    A sentence that never settles counts as if it did in the last iteration, so that a ratio whose first decoder does
    not reach SETTLED is a lower bound. Where neither reaches it, nothing is known.
    """
    for name, data, found in _parsers(results, ccg_integration_tables.measured(results)):
        at = {f"{order} {d}": some for order, by in found.get("settled", {}).items() for d, some in by.items()}
        if not all(row in at for row in rows):
            continue
        settled = np.array([at[row] for row in rows])
        if not settled.size or all(np.mean(some > 0) < SETTLED for some in settled):
            continue
        last = max(row["iterations"] for row in found["curves"])
        settled = np.where(settled > 0, settled, last)
        n = settled.shape[1]
        drawn = np.random.default_rng(0).integers(0, n, (DRAWN, n))
        rank = int(np.ceil(SETTLED * n)) - 1
        ratios = np.divide(*(np.partition(some[drawn], rank, axis=1)[:, rank] for some in settled))
        value = np.divide(*np.partition(settled, rank, axis=1)[:, rank])
        low, high = (float(end) for end in np.percentile(ratios, (2.5, 97.5)))
        yield Measured(name, float(value), low, high, data)


def joint_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """LF of a column of a parser `x-joint`, trained jointly, less that of `x`, on dev and on test.

    The interval is that of pairs of sentences that both parsers analyse (jackknife). Runs that kept no counts have the
    difference over each parser's own sentences, without an interval.
    """
    every = ccg_integration_tables.measured(results)
    for name, data, found in _parsers(results, every):
        other = every.get(f"{name}-joint")
        for split in ("dev", "test") if other else ():
            pair = [_counts(one, split, rows[0]) for one in (other, found)]
            if None not in pair:
                a, b = (some or {} for some in pair)
                both = sorted(a.keys() & b.keys())
                gain = jackknife(np.array([[a[sentence], b[sentence]] for sentence in both]))
                yield Measured(f"{name}, {split}", gain.value, gain.low, gain.high, data)
                continue
            scores = [_score(one, split, rows[0]) for one in (other, found)]
            yield exact(f"{name}, {split}", scores[0] - scores[1], data)


def _counts(found: dict[str, Any] | None, split: str, column: str) -> dict[int, list[int]] | None:
    """Return sentence -> (right, found, gold) labelled dependencies of a column; None where a run kept none."""
    order, _, rest = column.partition(" ")
    kept = (found or {}).get("counts", {}).get(split, {}).get(order, {})
    return dict(zip(kept["sentences"], kept[rest], strict=True)) if rest in kept else None


def _score(found: dict[str, Any] | None, split: str, column: str) -> float:
    """Return LF of a column; NaN where there is no such column."""
    rows = [row for row in (found or {}).get("columns", []) if row["split"] == split]
    return next((row["LF"] for row in rows if column_of(row).name(row["order"]) == column), float("nan"))


def _columns(params: Params) -> list[str]:
    """The columns of the joint model."""
    return [column.name(order) for order in ("AST", "reverse") for column in _each_column(params)]


def _timed(params: Params) -> list[str]:
    """The columns of the joint model that are timed: each decoder with the paper's output rule."""
    return [column.name(order) for order in ("AST", "reverse") for column in _each_column(params) if column.usual]


def _each_column(params: Params) -> list[Column]:
    return columns(params.section(CCGIntegration).iterations)


def _iterated(params: Params) -> list[str]:
    """Decoders that have iterations, with their orders: `AST bp`."""
    return [f"{order} {decoder}" for order in ("AST", "reverse") for decoder in ITERATED]


MEASURES: dict[str, Measure] = {
    "LF of CCG": Measure(ccg_difference, "{:+.2f} LF", lambda params: _COMPARED),
    "speed of CCG": Measure(ccg_speed, "{:.1f} times", lambda params: ("AST", "reverse"), Scale.LOG),
    "coverage of CCG": Measure(ccg_coverage, "{:.2f} %", lambda params: ("AST", "reverse"), Scale.ODDS),
    "LF of the joint CCG": Measure(joint_difference, "{:+.2f} LF", _columns),
    "proved of the joint CCG": Measure(partial(joint_share, figure="proved"), "{:.1f} %", _columns, Scale.ODDS),
    "search errors of the joint CCG": Measure(partial(joint_share, figure="less"), "{:.1f} %", _columns, Scale.ODDS),
    "settled of the joint CCG": Measure(
        joint_settled,
        "{:.1f} %",
        _iterated,
        Scale.ODDS,
    ),
    "convergence of the joint CCG": Measure(joint_convergence, "{:.2f} times", _iterated, Scale.LOG),
    "joint training, CCG": Measure(joint_training, "{:+.2f} LF", _columns),
    "speed of the joint CCG": Measure(joint_speed, "{:.2f} times", _timed, Scale.LOG),
}
