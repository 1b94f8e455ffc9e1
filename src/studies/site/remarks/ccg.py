"""Sentences about the tables of CCG parsing and of its joint model, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, difference, each, listing, span, told
from studies.site.tables.ccg_integration import ORDERS, name

HOW = "No run here has CCG parsers: list some under `ccg: parsers:` in params.yaml, and run it: make reproduce."
NO_DERIVATIONS = "No run here translates a corpus: list some under `ccg: derivations:` in params.yaml."
PARSER = ["run", "parser"]


def some(data: pd.DataFrame, parsers: str) -> pd.DataFrame:
    """The rows of the parsers that are to be shown, names separated by spaces; all if none is named."""
    return data[data.index.isin(parsers.split(), level="parser")] if parsers and len(data) else data


@about(HOW)
def orders(gains: pd.DataFrame) -> Said:
    """About `tables.ccg.differences`: do wide charts hold better derivations, does the parser find them?"""
    for (run, parser), of in each(gains, PARSER):
        best, own = (difference(of.loc[pair]) for pair in (("reverse best", "AST best"), ("reverse", "AST")))
        yield (
            f"With wide charts (the reverse) instead of narrow ones (AST) the best derivation in them changes by "
            f"{best}, and the one that the parser takes by {own} (labelled F-score and 95 % interval; {parser}, {run}, "
            f"{of['sentences'].iloc[0]} sentences of dev; one training).",
            of,
        )


@about(NO_DERIVATIONS)
def translated(data: pd.DataFrame) -> Said:
    """About `tables.ccg.translated`."""
    data = data[~data.index.get_level_values("corpus").duplicated()]  # of two runs the same
    yield (
        f"Of {data['sentences'].sum():,.0f} sentences in {len(data)} corpora, {span(data['coverage, %'], '{:.1f} %')} "
        "have a derivation; the table says what most of the others fail for."
    )


@about(HOW)
def decoders(gains: pd.DataFrame) -> Said:
    """About `tables.ccg_integration.differences`: what each way of decoding gains over the parser alone on test."""
    for (run, parser), of in each(gains, PARSER):
        for order in ORDERS:
            rows = of.xs(f"{order} parser", level="than")
            ways = [what.removeprefix(f"{order} ").split() for what in rows.index]
            rows = rows.set_axis([name(first, *map(int, rest)) for first, *rest in ways])
            yield (
                f"Labelled F-score against the parser alone, {order} ({parser}, {run}, {rows['sentences'].min()} "
                f"sentences of test, 95 % intervals, one training): {told(rows, short=True)}.",
                rows,
            )


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
