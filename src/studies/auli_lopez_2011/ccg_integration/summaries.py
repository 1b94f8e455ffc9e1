"""Summaries of the tables of the joint model: decoders against the parser alone, closest decoders, and proofs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from studies.auli_lopez_2011.ccg_integration.measure import column_named
from studies.auli_lopez_2011.ccg_integration.tables import ORDERS, RULES, titled
from treebound.metrics.calibration import wilson

KEYS = ["run", "parser", "order"]
RULE = "output rule"
#: output rules of older runs, which measured each decoder only under the rule that the paper uses with it
AS_PUBLISHED = "of the paper"


def against_parser(gains: pd.DataFrame) -> pd.DataFrame:
    """Return the labelled F-score of each decoder minus the score of the parser alone.

    Both have the same output rule if the run has measured it. An older run has only the rules of the paper (see
    AS_PUBLISHED). A decoder that returns the derivation of the parser alone for every sentence has no row, because
    nothing can be tested: the first iteration of dual decomposition is such a decoder.

    gains  result of `tables.differences`

    Rows: (run, parser, order, output rule, decoder). Columns: difference, low, high (95 % interval), sentences.
    """
    keys = [*KEYS, RULE, "decoder"]
    parts = []
    for (run, parser), table in gains.groupby(level=["run", "parser"], sort=False) if len(gains) else ():
        table = table.droplevel(["run", "parser"])
        for order in ORDERS:
            for rule, rows in _by_rule(table, order):
                rows = rows[(rows[["difference", "low", "high"]] != 0).any(axis=1)]
                place = {"run": run, "parser": parser, "order": order, RULE: rule}
                parts.append(rows.assign(**place, decoder=[titled(system) for system in rows.index]))
    if not parts:
        return gains.iloc[:0]
    return pd.concat(parts).set_index(keys)


def _by_rule(table: pd.DataFrame, order: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (output rule, differences of decoders from the parser alone) for one parser and order of beams.

    table  rows of `tables.differences` for one parser
    """
    baselines = set(table.index.get_level_values("baseline"))
    if f"{order} parser least-risk" not in baselines:
        yield AS_PUBLISHED, table.xs(f"{order} parser", level="baseline")
        return
    for output, baseline in (("least-risk", f"{order} parser least-risk"), ("viterbi", f"{order} parser")):
        rows = table.xs(baseline, level="baseline")
        yield RULES[output], rows[[column_named(system)[1].output == output for system in rows.index]]


def closest(errors: pd.DataFrame) -> pd.DataFrame:
    """Return the approximate decoders that miss the proved optimum least often on test.

    errors  result of `tables.errors`

    Rows: (run, parser, order). Columns: proved optima, share of derivations of the parser alone that score less than
    the optimum (%), the closest decoders, and the share of their derivations that score less than the optimum (%).
    """
    lines = {}
    for (run, parser), rows in errors.groupby(level=["run", "parser"], sort=False) if len(errors) else ():
        rows = rows.droplevel(["run", "parser"])
        for order in ORDERS:
            below, proved = (rows["test", order, column] for column in ("below optimum, %", "proved"))
            others = below[[not str(name).startswith("exact") for name in below.index]]
            lines[run, parser, order] = {
                "proved optima": int(proved["parser alone"]),
                "parser alone, below optimum, %": below["parser alone"],
                "closest decoders": "; ".join(map(str, others.index[others == others.min()])),
                "closest, below optimum, %": others.min(),
            }
    return _indexed(lines)


def proof_totals(lengths: pd.DataFrame) -> pd.DataFrame:
    """Return the number of proved optima over sentences of all lengths, for dev and test together.

    lengths  result of `tables.lengths`

    Rows: (run, parser, order). Columns: sentences with a chart, proved (%) with its 95 % interval (low, high), and the
    number of sentences that are proved without branching.
    """
    lines = {}
    for key, rows in lengths.groupby(level=KEYS, sort=False) if len(lengths) else ():
        counts = rows["sentences"]
        total = int(counts.sum())
        proved, at_once = (int((rows[name] * counts / 100).round().sum()) for name in ("proved, %", "at once, %"))
        low, high = wilson(proved, total)
        line = {"sentences": total, "proved, %": 100 * proved / total, "low": 100 * low, "high": 100 * high}
        lines[key] = line | {"proved without branching": at_once}
    return _indexed(lines)


def _indexed(lines: dict) -> pd.DataFrame:
    """Convert a mapping from (run, parser, order) to rows into a table, which may be empty."""
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=KEYS)[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)
