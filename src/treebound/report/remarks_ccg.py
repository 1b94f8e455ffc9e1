"""Sentences about the tables of CCG parsing, computed from the tables' own data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from treebound.report.sentences import ONE_SEED, Said, about, difference, each, span
from treebound.report.show import Remarks, Table

HOW = "No run here has CCG parsers: list some under `ccg: parsers:` in params.yaml, and run it: make reproduce."
NOTHING = Remarks((HOW,))
NO_DERIVATIONS = Remarks(("No run here translates a corpus: list some under `ccg: derivations:` in params.yaml.",))
PARSER = ["run", "parser"]


def shown(parsers: list[str], data: pd.DataFrame, caption: str, **digits: Any) -> Table | Remarks:
    """A table of the parsers that are to be shown, all if none is named; or that there is none."""
    some = data[data.index.isin(parsers, level="parser")] if parsers else data
    return Table(some, caption, **digits) if len(data) else NOTHING


@about(HOW)
def orders(gains: pd.DataFrame) -> Said:
    """About `tables.ccg.differences`: do wide charts hold better derivations, does the parser find them?"""
    for (run, parser), of in each(gains, PARSER):
        best, own = (difference(of.loc[pair]) for pair in (("reverse best", "AST best"), ("reverse", "AST")))
        yield (
            f"With wide charts (the reverse) instead of narrow ones (AST) the best derivation in them changes by "
            f"{best}, and the one that the parser takes by {own} (labelled F-score and 95 % interval; {parser}, {run}, "
            f"{of['sentences'].iloc[0]} sentences of dev).",
            of,
        )
    yield ONE_SEED


@about(HOW)
def beams(data: pd.DataFrame, gains: pd.DataFrame) -> Said:
    """About `tables.ccg.beams`: from the narrowest beam to the widest; gains: `tables.ccg.differences`."""
    for (run, parser), of in each(data, PARSER):
        first, last, tests = of.iloc[0], of.iloc[-1], gains.loc[(run, parser)]
        yield (
            f"{parser} ({run}), from beam {of.index[0]} to {of.index[-1]} on the {first['sentences']:.0f} sentences "
            f"that all beams parse: model score {last['model score'] - first['model score']:+,.0f} (not tested), "
            f"oracle {difference(tests.loc[('widest best', 'narrowest best')])} LF, parser "
            f"{difference(tests.loc[('widest', 'narrowest')])} LF (95 % intervals).",
            of,
        )


@about(str(NO_DERIVATIONS))
def translated(data: pd.DataFrame) -> Said:
    """About `tables.ccg.translated`."""
    yield (
        f"Sentences with a derivation, in %: {span(data['coverage, %'], '{:.1f}')}, of {data['sentences'].sum():,.0f} "
        "in all. Of dependency trees those lack one whose arcs cross."
    )
