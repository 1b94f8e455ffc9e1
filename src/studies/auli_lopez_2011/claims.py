"""Measures of the claims about CCG parsing, with separate models (`ccg_*`) and with the joint model (`joint_*`)."""

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
from treebound.metrics.significance import jackknife_half_width
from treebound.systems.ccg.evaluation import jackknife

#: names of the systems that the stage `ccg` compares
_COMPARED = [f"{name}{kind}" for name in ("AST", "reverse") for kind in ("", " best", " worst")]
_COMPARED += [f"{name}{kind}" for name in ("narrowest", "widest") for kind in ("", " best")]

#: smallest number of training sentences of a parser that claims read; a parser with fewer only shows that the code
#: runs
ENOUGH = 1000


def _parsers(results: Results, by_parser: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (parser, name of its test treebank, metrics) for every parser that the claims are about.

    The supertagger and the parser of such a parser are trained separately, on all sentences or on at least ENOUGH.

    by_parser  parser -> metrics
    """
    settings = results.params.section(CCG).parsers
    for name, metrics in by_parser.items():
        if (settings[name].sentences or ENOUGH) >= ENOUGH and not settings[name].settings.joint_epochs:
            yield name, settings[name].corpus or name, metrics


def _stage(results: Results) -> dict[str, dict[str, Any]]:
    """Return the metrics of the stage `ccg` by parser. The result is empty for runs without the stage."""
    return ccg_tables.measured(results) if results.has("ccg") else {}


def ccg_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the labelled F-score of a first system minus the labelled F-score of a second, for every CCG parser.

    A system is the parser or an oracle, under an order of beams or under a single beam; `rows` names the two systems.
    The 95 % interval comes from the jackknife.
    """
    for name, data, metrics in _parsers(results, _stage(results)):
        for comparison in metrics["differences"]:
            if [comparison["a"], comparison["b"]] == list(rows):
                yield Measured(name, comparison["value"], comparison["low"], comparison["high"], data)
            elif [comparison["b"], comparison["a"]] == list(rows):
                yield Measured(name, -comparison["value"], -comparison["high"], -comparison["low"], data)


def ccg_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the speed of a first order of beams divided by the speed of a second, on dev, for every CCG parser.

    rows  names of the two orders
    """
    for name, data, metrics in _parsers(results, _stage(results)):
        speed = metrics["speed"]
        seconds = [speed.get("seconds", {}).get("dev", {}).get(row) for row in rows]
        yield faster(name, [speed["dev"][row] for row in rows], seconds, data)


def faster(place: str, rates: Sequence[float], seconds: Sequence[Sequence[float] | None], data: str = "") -> Measured:
    """Return the speed of the first of two systems divided by the speed of the second, with a 95 % interval.

    The interval comes from the jackknife of the log ratio, with Student's distribution. The jackknife leaves out each
    part of the sentences in turn. Without `seconds`, there is no interval.

    place    name of the treebank or parser in the result
    rates    sentences per CPU second of both systems
    seconds  CPU seconds of both systems on the same parts of the sentences, which were timed alternately; None for runs
             that stored none
    data     name of the test treebank
    """
    ratio = rates[0] / rates[1]
    if any(some is None for some in seconds) or len(seconds[0] or ()) < 2:
        return exact(place, ratio, data)
    a, b = np.asarray(seconds, float)
    half = jackknife_half_width(np.log((b.sum() - b) / (a.sum() - a)))
    return Measured(place, ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half)), data)


def ccg_coverage(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the share of dev sentences (%) that get a derivation under an order of beams, with a Wilson interval.

    rows  name of the order
    """
    for name, data, metrics in _parsers(results, _stage(results)):
        row = metrics["orders"]["dev"][rows[0]]
        yield share(name, sum(row["levels"]), row["sentences"], data=data)


def joint_difference(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the LF of a first column of the joint model minus the LF of a second column, on dev and on test.

    A column is a decoder with its iterations and output rule; `rows` names the two columns.
    """
    for name, data, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        for comparison in metrics["differences"]:
            if [comparison["a"], comparison["b"]] == list(rows):
                yield Measured(
                    f"{name}, {comparison['split']}", comparison["value"], comparison["low"], comparison["high"], data
                )
            elif [comparison["b"], comparison["a"]] == list(rows):
                yield Measured(
                    f"{name}, {comparison['split']}",
                    -comparison["value"],
                    -comparison["high"],
                    -comparison["low"],
                    data,
                )


def joint_share(results: Results, rows: Sequence[str], compare: str, figure: str) -> Iterator[Measured]:
    """Yield the share (%) of derivations with a property in one column of the joint model, on dev and on test.

    A column is a decoder with its iterations and output rule; `rows` names the column.

    figure  `proved`: the optimum of the sentence is proved; `less`: the derivation scores less than the proved optimum
    """
    for name, data, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        for row in metrics["columns"]:
            if column_of(row).name(row["order"]) == rows[0]:
                total = row["parsed"] if figure == "proved" else row["proved"]
                yield share(f"{name}, {row['split']}", row[figure], total, data=data)


def joint_settled(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the share of dev sentences (%) that have settled in the last iteration, with a Wilson interval.

    A sentence has settled if its beliefs have converged, or if dual decomposition has proved its derivation.

    rows  one decoder with its order (`AST bp`)
    """
    for name, data, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        parsed = {row["order"]: row["parsed"] for row in metrics["columns"] if row["split"] == "dev"}
        for (order, decoder), curve in pd.DataFrame(metrics["curves"]).groupby(["order", "decoder"], sort=False):
            if f"{order} {decoder}" == rows[0]:
                count = parsed[str(order)]
                yield share(name, round(curve["settled"].iloc[-1] * count / 100), count, data=data)


def joint_speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the speed of a first column of the joint model divided by the speed of a second column, on dev.

    A column is a decoder with its iterations and output rule; `rows` names the two columns.
    """
    for name, data, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        by_name = {column_of(row).name(row["order"]): row for row in metrics["timing"]["columns"]}
        if all(row in by_name for row in rows):
            pair = [by_name[row] for row in rows]
            yield faster(name, [row["per_second"] for row in pair], [row.get("seconds") for row in pair], data)


#: share of sentences that must have settled, and number of bootstrap samples for an interval
SETTLED, DRAWN = 0.9, 2000


def joint_convergence(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the ratio of the iterations that two decoders need until the share `SETTLED` of dev sentences has settled.

    The iterations of the first decoder (`AST bp`) are divided by the iterations of the second; `rows` names the two. A
    sentence has settled if its beliefs have converged, or if dual decomposition has proved its derivation. The interval
    comes from a bootstrap over sentences. A sentence that never settles counts as settled in the last iteration, so the
    ratio is a lower bound if the first decoder never reaches `SETTLED`. Nothing is yielded if neither decoder reaches
    `SETTLED`.
    """
    for name, data, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        iterations = {
            f"{order} {d}": settled_at
            for order, decoders in metrics.get("settled", {}).items()
            for d, settled_at in decoders.items()
        }
        if not all(row in iterations for row in rows):
            continue
        settled = np.array([iterations[row] for row in rows])
        if not settled.size or all(np.mean(settled_at > 0) < SETTLED for settled_at in settled):
            continue
        last = max(row["iterations"] for row in metrics["curves"])
        settled = np.where(settled > 0, settled, last)
        n = settled.shape[1]
        drawn = np.random.default_rng(0).integers(0, n, (DRAWN, n))
        rank = int(np.ceil(SETTLED * n)) - 1
        ratios = np.divide(*(np.partition(settled_at[drawn], rank, axis=1)[:, rank] for settled_at in settled))
        value = np.divide(*np.partition(settled, rank, axis=1)[:, rank])
        low, high = (float(end) for end in np.percentile(ratios, (2.5, 97.5)))
        yield Measured(name, float(value), low, high, data)


def joint_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the gain in LF from joint training, on dev and on test, for one column of the joint model.

    The gain is the LF of the parser named `x-joint`, trained jointly, minus the LF of the parser `x` in this column.

    The interval comes from the jackknife over the sentences that both parsers analyse. For runs that stored no counts,
    the difference covers each parser's own sentences and has no interval.
    """
    by_parser = ccg_integration_tables.measured(results)
    for name, data, metrics in _parsers(results, by_parser):
        joint = by_parser.get(f"{name}-joint")
        for split in ("dev", "test") if joint else ():
            counts = [_counts(parser_metrics, split, rows[0]) for parser_metrics in (joint, metrics)]
            if None not in counts:
                a, b = (sentence_counts or {} for sentence_counts in counts)
                common = sorted(a.keys() & b.keys())
                gain = jackknife(np.array([[a[sentence], b[sentence]] for sentence in common]))
                yield Measured(f"{name}, {split}", gain.value, gain.low, gain.high, data)
                continue
            scores = [_score(parser_metrics, split, rows[0]) for parser_metrics in (joint, metrics)]
            yield exact(f"{name}, {split}", scores[0] - scores[1], data)


def _counts(metrics: dict[str, Any] | None, split: str, column: str) -> dict[int, list[int]] | None:
    """Map the index of each sentence to the counts of its labelled dependencies in one column.

    The counts are the numbers of correct, predicted and gold dependencies. A column is a decoder with its iterations
    and output rule. Return None if the run stored no counts.
    """
    order, _, column_name = column.partition(" ")
    counts = (metrics or {}).get("counts", {}).get(split, {}).get(order, {})
    return dict(zip(counts["sentences"], counts[column_name], strict=True)) if column_name in counts else None


def _score(metrics: dict[str, Any] | None, split: str, column: str) -> float:
    """Return the LF of a column, or NaN if the column does not exist."""
    rows = [row for row in (metrics or {}).get("columns", []) if row["split"] == split]
    return next((row["LF"] for row in rows if column_of(row).name(row["order"]) == column), float("nan"))


def _systems(results: Results) -> set[str]:
    """Return the systems and oracles that the stage `ccg` of a run compares, and the orders of beams that it times."""
    metrics = [parser_metrics for _, _, parser_metrics in _parsers(results, _stage(results))]
    compared = {entry[side] for parser_metrics in metrics for entry in parser_metrics["differences"] for side in "ab"}
    return compared | {order for parser_metrics in metrics for order in parser_metrics["orders"]["dev"]}


def _joint(results: Results) -> set[str]:
    """Return the columns of the joint model in the results of a run, and its iterative decoders with their orders."""
    names = set()
    for _, _, metrics in _parsers(results, ccg_integration_tables.measured(results)):
        names |= {column_of(row).name(row["order"]) for row in metrics["columns"]}
        names |= {f"{row['order']} {row['decoder']}" for row in metrics["curves"]}
    return names


def _columns(params: Params) -> list[str]:
    """Return the names of all columns of the joint model, for both orders."""
    return [column.name(order) for order in ("AST", "reverse") for column in _each_column(params)]


def _timed(params: Params) -> list[str]:
    """Return the names of the timed columns of the joint model: each decoder with the output rule of the paper."""
    return [column.name(order) for order in ("AST", "reverse") for column in _each_column(params) if column.usual]


def _each_column(params: Params) -> list[Column]:
    """Return all columns of the joint model (decoder, iterations, output rule), which are the same for both orders."""
    return columns(params.section(CCGIntegration).iterations)


def _iterated(params: Params) -> list[str]:
    """Return the names of the iterative decoders with their orders, for example `AST bp`."""
    return [f"{order} {decoder}" for order in ("AST", "reverse") for decoder in ITERATED]


MEASURES: dict[str, Measure] = {
    "LF of CCG": Measure(ccg_difference, "{:+.2f} LF points", lambda params: _COMPARED, held=_systems),
    "speed of CCG": Measure(ccg_speed, "{:.1f} times", lambda params: ("AST", "reverse"), Scale.LOG, _systems),
    "coverage of CCG": Measure(ccg_coverage, "{:.2f} %", lambda params: ("AST", "reverse"), Scale.ODDS, _systems),
    "LF of the joint CCG": Measure(joint_difference, "{:+.2f} LF points", _columns, held=_joint),
    "proved of the joint CCG": Measure(partial(joint_share, figure="proved"), "{:.1f} %", _columns, Scale.ODDS, _joint),
    "search errors of the joint CCG": Measure(
        partial(joint_share, figure="less"), "{:.1f} %", _columns, Scale.ODDS, _joint
    ),
    "settled of the joint CCG": Measure(joint_settled, "{:.1f} %", _iterated, Scale.ODDS, _joint),
    "convergence of the joint CCG": Measure(joint_convergence, "{:.2f} times", _iterated, Scale.LOG, _joint),
    "joint training, CCG": Measure(joint_training, "{:+.2f} LF points", _columns, held=_joint),
    "speed of the joint CCG": Measure(joint_speed, "{:.2f} times", _timed, Scale.LOG, _joint),
}
