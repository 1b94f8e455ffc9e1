"""Compare the decoders of the joint model with each other, and name the figures that a claim needs and a run lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg_integration.measure import Column, column_named, column_of
from studies.auli_lopez_2011.ccg_integration.tables import RULES, measured, titled
from studies.site.claims.judge import NOT_TESTED, Judged
from studies.site.collect import Results


def _measured(results: Sequence[Results]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield (run and parser, metrics of the joint model) for every run and parser."""
    for run in results:
        for name, metrics in measured(run).items():
            yield {"run": run.name, "parser": name}, metrics


def against_bp(results: Sequence[Results], split: str = "test", own_rules: bool = False) -> pd.DataFrame:
    """Return LF of dual decomposition minus LF of belief propagation, after the same number of iterations.

    Both columns have the same output rule. An older run has only the rules of the paper: belief propagation returns the
    derivation of least risk, and dual decomposition the best derivation.

    own_rules  True: each decoder has the output rule that the paper uses with it

    Rows: (run, parser, order, decoder). Columns: difference, low, high (95 % interval), sentences, iterations, and the
    output rules of both decoders. Only the largest number of iterations of each parser is shown.
    """
    parts = []
    for run_and_parser, metrics in _measured(results):
        rows = [row for row in metrics["differences"] if row["split"] == split]
        pairs = [(row, *(column_named(row[end]) for end in ("a", "b"))) for row in rows]
        pairs = [(row, a, b) for row, a, b in pairs if {a[1].decoder, b[1].decoder} & {"bp"} and _same_k(a[1], b[1])]
        same_rule = [pair for pair in pairs if pair[1][1].output == pair[2][1].output]
        own = [pair for pair in pairs if pair[1][1].usual and pair[2][1].usual]
        for row, (order, a), (_, b) in own if own_rules else same_rule or pairs:
            sign, dual, other = (1, a, b) if b.decoder == "bp" else (-1, b, a)
            ends = sorted((sign * row["low"], sign * row["high"]))
            parts.append(
                run_and_parser
                | {"order": order, "decoder": titled(dual.name(order)), "difference": sign * row["value"]}
                | {"low": ends[0], "high": ends[1], "sentences": row["sentences"], "iterations": dual.iterations}
                | {"rule of DD": RULES[dual.output], "rule of BP": RULES[other.output]}
            )
    keys = ["run", "parser", "order", "decoder"]
    columns = [*keys, "difference", "low", "high", "sentences", "iterations", "rule of DD", "rule of BP"]
    data = pd.DataFrame(parts, columns=columns).set_index(keys)
    most = data.groupby(level=["run", "parser"])["iterations"].transform("max") if len(data) else data["iterations"]
    return data[data["iterations"] == most]


def _same_k(a: Column, b: Column) -> bool:
    """Return True if both columns have the same number of iterations but different decoders, one of them DD."""
    return a.iterations == b.iterations > 0 and a.decoder.startswith("dd") != b.decoder.startswith("dd")


def named_tests(gains: pd.DataFrame) -> pd.DataFrame:
    """Return a table of differences whose rows name order, decoder and baseline as the other tables do.

    gains  result of `differences`

    Rows: (run, parser, order, decoder, baseline).
    """
    keys = ["run", "parser", "order", "decoder", "baseline"]
    rows = [
        (run, parser, column_named(system)[0], titled(system), titled(baseline))
        for run, parser, system, baseline in gains.index
    ]
    columns = [list(values) for values in zip(*rows, strict=True)] or [[]] * len(keys)
    return gains.set_axis(pd.MultiIndex.from_arrays(columns, names=keys))


def of_optimum(gains: pd.DataFrame) -> pd.DataFrame:
    """Return LF of the proved optimum minus LF of the parser alone and of one iteration of belief propagation.

    gains  result of `tables.differences`

    Rows: (run, parser, order, against). Columns: difference, low, high (95 % interval), sentences. If the run has both
    output rules, both decoders return the best derivation (Viterbi).
    """
    if gains.empty:
        return named_tests(gains).rename_axis(index={"baseline": "against"}).droplevel("decoder")
    named = gains[[column_named(system)[1].decoder == "exact" for _, _, system, _ in gains.index]]
    columns = [
        [column_named(name)[1] for name in named.index.get_level_values(level)] for level in ("system", "baseline")
    ]
    same_rule = [a.usual and b.output == a.output for a, b in zip(*columns, strict=True)]
    usual = [a.usual and b.usual for a, b in zip(*columns, strict=True)]
    has_viterbi = any(b.decoder == "bp" and ok for b, ok in zip(columns[1], same_rule, strict=True))
    data = named_tests(named[same_rule if has_viterbi else usual]).rename_axis(index={"baseline": "against"})
    return data.droplevel("decoder")


def untested(results: Sequence[Results], judged: Mapping[str, Sequence[Judged]]) -> pd.DataFrame:
    """Return the claims that are not tested, with the figures that the runs lack.

    judged  run -> verdicts on the claims of a page

    Rows: (run, claim). Columns: missing (decoders that the claim compares and no parser of the run has).
    """
    rows, keys = [], ["run", "claim"]
    for run in results:
        names = _available(run)
        for item in judged.get(run.name, ()):
            if item.claim is None or item.verdict != NOT_TESTED:
                continue
            missing = [_in_words(name) for name in item.claim.rows if name not in names]
            rows.append(
                (run.name, item.claim.short, "; ".join(missing) or "a parser of a treebank that counts for the claim")
            )
    return pd.DataFrame(rows, columns=[*keys, "missing in the run"]).set_index(keys)


def _available(run: Results) -> set[str]:
    """Return the names of all columns and curves that at least one parser of a run has."""
    names = set()
    for metrics in measured(run).values():
        names |= {column_of(row).name(row["order"]) for row in metrics["columns"]}
        names |= {f"{row['order']} {row['decoder']}" for row in metrics["curves"]}
    return names


def _in_words(name: str) -> str:
    """Describe a column in words, with its order and output rule: `DD, steps as published, k = 25 (reverse, Viterbi)`.

    name  name of the column in comparisons (`reverse dd-published 25`)
    """
    order, column = column_named(name)
    decoder = titled(name)
    rule = RULES[column.output]
    return f"{decoder.removesuffix(f', {rule}')} ({order} order, {rule})"
