"""Measures of CCG parsing: supertagger and parser apart, and as one model (`joint`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg_integration import tables as ccg_integration_tables
from studies.auli_lopez_2011.ccg_integration.measure import column_name
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common.params import Params
from studies.site.claims.measured import Measure, Measured, Scale, exact, share
from studies.site.collect import Results

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
    """What the stage `ccg` measured; empty in runs without it."""
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
        a, b = (found["speed"]["dev"][row] for row in rows)
        yield exact(name, a / b, data)


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
            if column_name(row["order"], row["decoder"], row["iterations"]) == rows[0]:
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
        of = {column_name(r["order"], r["decoder"], r["iterations"]): r for r in found["timing"]["columns"]}
        if all(row in of for row in rows):
            yield exact(name, of[rows[0]]["per_second"] / of[rows[1]]["per_second"], data)


def joint_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """LF of a column of a parser `x-joint`, trained jointly, less that of `x`, on dev and on test; unpaired."""
    every = ccg_integration_tables.measured(results)
    for name, data, _ in _parsers(results, every):
        of = {
            other: {
                row["split"]: row["LF"]
                for row in every.get(other, {"columns": []})["columns"]
                if column_name(row["order"], row["decoder"], row["iterations"]) == rows[0]
            }
            for other in (name, f"{name}-joint")
        }
        for split in of[f"{name}-joint"]:
            yield exact(f"{name}, {split}", of[f"{name}-joint"][split] - of[name][split], data)


def _columns(params: Params) -> list[str]:
    """The columns of the joint model."""
    counted = [(name, k) for name in ("bp", "dd") for k in params.section(CCGIntegration).iterations]
    every = [("parser", 0), *counted, ("exact", 0)]
    return [column_name(order, *column) for order in ("AST", "reverse") for column in every]


MEASURES: dict[str, Measure] = {
    "LF of CCG": Measure(ccg_difference, "{:+.2f} LF", lambda params: _COMPARED, margin=0.1),
    "speed of CCG": Measure(ccg_speed, "{:.1f} times", lambda params: ("AST", "reverse"), Scale.LOG, 1.1),
    "coverage of CCG": Measure(ccg_coverage, "{:.2f} %", lambda params: ("AST", "reverse"), Scale.ODDS),
    "LF of the joint CCG": Measure(joint_difference, "{:+.2f} LF", _columns, margin=0.1),
    "proved of the joint CCG": Measure(partial(joint_share, figure="proved"), "{:.1f} %", _columns, Scale.ODDS),
    "search errors of the joint CCG": Measure(partial(joint_share, figure="less"), "{:.1f} %", _columns, Scale.ODDS),
    "settled of the joint CCG": Measure(
        joint_settled,
        "{:.1f} %",
        lambda params: [f"{o} {d}" for o in ("AST", "reverse") for d in ("bp", "dd")],
        Scale.ODDS,
    ),
    "joint training, CCG": Measure(joint_training, "{:+.2f} LF", _columns, margin=0.1),
    "speed of the joint CCG": Measure(joint_speed, "{:.2f} times", _columns, Scale.LOG, 1.1),
}
