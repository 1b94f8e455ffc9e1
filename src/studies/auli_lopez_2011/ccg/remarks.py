"""Generated sentences about supertaggers and CCG parsers, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, difference, each

HOW = "No run on this page has CCG parsers. List parsers under `ccg: parsers:` in params.yaml, and run make reproduce."
PARSER = ["run", "parser"]


def some(data: pd.DataFrame, parsers: str) -> pd.DataFrame:
    """Return the rows of some parsers, whose names are separated by spaces. An empty text selects all parsers."""
    return data[data.index.isin(parsers.split(), level="parser")] if parsers and len(data) else data


@about(HOW)
def orders(gains: pd.DataFrame) -> Sentences:
    """Report whether wide charts contain better derivations, and whether the parser finds them.

    gains  `tables.differences`
    """
    for (run, parser), rows in each(gains, PARSER):
        best, own = (difference(rows.loc[pair]) for pair in (("reverse best", "AST best"), ("reverse", "AST")))
        yield (
            "With wide charts (reverse) instead of narrow charts (AST), the labelled F-score of the best derivation "
            f"in the chart changes by {best}, and the labelled F-score of the parser's derivation by {own} (95 % "
            f"intervals; {parser}, {run}, {rows['sentences'].iloc[0]} sentences of dev; one training).",
            rows,
        )
