"""Sentences about supertaggers and parsers, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, difference, each

HOW = "No run here has CCG parsers: list some under `ccg: parsers:` in params.yaml, and run it: make reproduce."
PARSER = ["run", "parser"]


def some(data: pd.DataFrame, parsers: str) -> pd.DataFrame:
    """The rows of the parsers that are to be shown, names separated by spaces; all if none is named."""
    return data[data.index.isin(parsers.split(), level="parser")] if parsers and len(data) else data


@about(HOW)
def orders(gains: pd.DataFrame) -> Said:
    """About `tables.differences`: do wide charts hold better derivations, does the parser find them?"""
    for (run, parser), of in each(gains, PARSER):
        best, own = (difference(of.loc[pair]) for pair in (("reverse best", "AST best"), ("reverse", "AST")))
        yield (
            f"With wide charts (the reverse) instead of narrow ones (AST) the best derivation in them changes by "
            f"{best}, and the one that the parser takes by {own} (labelled F-score and 95 % interval; {parser}, {run}, "
            f"{of['sentences'].iloc[0]} sentences of dev; one training).",
            of,
        )
