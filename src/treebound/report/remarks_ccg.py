"""Sentences about the tables of CCG parsing, computed from the tables' own data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from treebound.report.show import Remarks, Table

NOTHING = Remarks(
    ("No run here has CCG parsers: list some under `ccg: parsers:` in params.yaml, and run it: make reproduce.",)
)
NO_DERIVATIONS = Remarks(("No run here translates a corpus: list some under `ccg: derivations:` in params.yaml.",))


def shown(parsers: list[str], data: pd.DataFrame, caption: str, **digits: Any) -> Table | Remarks:
    """A table of the parsers that are to be shown, all if none is named; or that there is none."""
    some = data[data.index.isin(parsers, level="parser")] if parsers else data
    return Table(some, caption, **digits) if len(data) else NOTHING


def orders(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg.orders`: what each order could find, and what the parser does."""
    said = []
    for (run, parser), of in data.groupby(level=["run", "parser"], sort=False):
        ast, reverse = (of.loc[(run, parser, order)] for order in ("AST", "reverse"))
        said.append(
            f"{parser} ({run}): the charts of the reverse hold derivations of {reverse['oracle best', 'LF']:.2f} LF, "
            f"those of adaptive supertagging of {ast['oracle best', 'LF']:.2f}; the parser takes "
            f"{reverse['parser', 'LF']:.2f} and {ast['parser', 'LF']:.2f}."
        )
    return Remarks(tuple(said))


def beams(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg.beams`: from the narrowest beam to the widest."""
    said = []
    for (run, parser), of in data.groupby(level=["run", "parser"], sort=False):
        first, last = of.iloc[0], of.iloc[-1]
        score, better = last["model score"] - first["model score"], last["oracle LF"] - first["oracle LF"]
        said.append(
            f"{parser} ({run}), from beam {of.index[0][-1]} to {of.index[-1][-1]}: model score {score:+,.0f}, "
            f"oracle {better:+.2f} LF, parser {last['LF'] - first['LF']:+.2f} LF."
        )
    return Remarks(tuple(said))


def translated(data: pd.DataFrame) -> Remarks:
    """About `tables.ccg.translated`."""
    if not len(data):
        return NO_DERIVATIONS
    least, most = data["coverage, %"].idxmin(), data["coverage, %"].idxmax()
    return Remarks(
        (
            f"Sentences with a derivation: from {data['coverage, %'].min():.1f} % ({least[1]}) to "
            f"{data['coverage, %'].max():.1f} % ({most[1]}). Of dependency trees those lack one whose arcs cross.",
        )
    )
