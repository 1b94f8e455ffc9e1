"""Sentences about the tables of the joint model of CCG supertagger and parser, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, told
from treebound.report.show import Remarks
from treebound.report.tables.ccg_integration import ORDERS, name

HOW = "No run here has the joint model of a CCG parser: list parsers under `ccg:` in params.yaml: make reproduce."
NOTHING = Remarks((HOW,))
PARSER = ["run", "parser"]


@about(HOW)
def accuracy(gains: pd.DataFrame) -> Said:
    """About `tables.ccg_integration.differences`: what each way of decoding gains over the parser alone on test."""
    for (run, parser), of in each(gains, PARSER):
        for order in ORDERS:
            rows = of.xs(f"{order} parser", level="than")
            decoders = [what.removeprefix(f"{order} ").split() for what in rows.index]
            rows = rows.set_axis([name(first, *map(int, rest)) for first, *rest in decoders])
            yield (
                f"Labelled F-score against the parser alone, {order} ({parser}, {run}, {rows['sentences'].min()} "
                f"sentences of test, 95 % intervals): {told(rows)}.",
                rows,
            )
    yield ONE_SEED


@about(HOW)
def errors(data: pd.DataFrame) -> Said:
    """About `tables.ccg_integration.errors`: who misses the optimum most rarely."""
    for (run, parser), of in each(data, PARSER):
        for order in ORDERS:
            worse, whole = (of["test", order, column] for column in ("worse, %", "of"))
            others = worse.drop("exact")
            best = listing(others.index[others == others.min()])
            yield (
                f"{worse['baseline']:.1f} % of the {whole['baseline']:.0f} derivations of the parser alone score less "
                f"than the proved best one; of all decoders but the exact one {best} misses it "
                f"most rarely, in {others.min():.1f} % ({parser}, {run}, test, {order}).",
                of,
            )
    yield f"{ONE_SEED} {UNTESTED}"


@about(HOW)
def lengths(data: pd.DataFrame) -> Said:
    """About `tables.ccg_integration.lengths`: how many optima are proved."""
    for (run, parser, order), of in each(data, [*PARSER, "order"]):
        n = of["sentences"].sum()
        proved, once = ((of[c] * of["sentences"]).sum() / n for c in ("proved, %", "at once, %"))
        yield (
            f"{parser} ({run}), {order}: {proved:.1f} % of {n:.0f} sentences proved, {once:.1f} % without branching; "
            f"{of['nodes, most'].max():.0f} nodes and {of['CPU ms, most'].max():,.0f} ms at most.",
            of,
        )
