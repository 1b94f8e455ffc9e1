"""Sentences about the tables of the joint model of CCG supertagger and parser, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.show import Remarks

NOTHING = Remarks(
    ("No run here has the joint model of a CCG parser: list parsers under `ccg:` in params.yaml: make reproduce.",)
)


def accuracy(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg_integration.accuracy`, published rows left out: what each way of decoding gains on test."""
    said = []
    for (run, parser), of in data.groupby(level=["run", "parser"], sort=False):
        for order in ("AST", "reverse"):
            column = of["test", order, "LF"].droplevel(["run", "parser"])
            gains = [f"{name} {column[name] - column['baseline']:+.2f}" for name in column.index if name != "baseline"]
            said.append(f"{parser} ({run}), test, {order}: baseline {column['baseline']:.2f} LF; {', '.join(gains)}.")
    return Remarks(tuple(said)) if said else NOTHING


def errors(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg_integration.errors`: who misses the optimum most rarely."""
    said = []
    for (run, parser), of in data.groupby(level=["run", "parser"], sort=False):
        for order in ("AST", "reverse"):
            column = of["test", order, "worse, %"].droplevel(["run", "parser"])
            others = column.drop("exact")
            said.append(
                f"{parser} ({run}), test, {order}: {column['baseline']:.1f} % of the parser's own derivations score "
                f"less than the best one; fewest of {others.idxmin()}, {others.min():.1f} %."
            )
    return Remarks(tuple(said)) if said else NOTHING


def lengths(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg_integration.lengths`: how many optima are proved."""
    said = []
    for (run, parser, order), of in data.groupby(level=["run", "parser", "order"], sort=False):
        n = of["sentences"].sum()
        proved, once = ((of[c] * of["sentences"]).sum() / n for c in ("proved, %", "at once, %"))
        said.append(
            f"{parser} ({run}), {order}: {proved:.1f} % of {n:.0f} sentences proved, {once:.1f} % without branching; "
            f"{of['nodes, most'].max():.0f} nodes and {of['CPU ms, most'].max():,.0f} ms at most."
        )
    return Remarks(tuple(said)) if said else NOTHING
