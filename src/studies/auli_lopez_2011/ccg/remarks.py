"""Generated sentences about supertaggers and CCG parsers, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, from_to, span, wins

HOW = "No run on this page has CCG parsers. List parsers under `ccg: parsers:` in params.yaml, and run make reproduce."
PARSER = ["run", "parser"]


def some(data: pd.DataFrame, parsers: str) -> pd.DataFrame:
    """Return the rows of some parsers, whose names are separated by spaces. An empty text selects all parsers."""
    return data[data.index.isin(parsers.split(), level="parser")] if parsers and len(data) else data


@about(HOW)
def orders(gains: pd.DataFrame) -> Sentences:
    """Report whether wide charts contain better derivations, and whether the parser finds them.

    gains  `tables.wide_charts`
    """
    best, own = gains["best derivation"], gains["parser"]
    sizes = gains["", "sentences of dev"]
    yield (
        "With wide charts (reverse) instead of narrow charts (AST), the labelled F-score of the best derivation in the "
        f"chart changes by {span(best['difference'], '{:+.2f}')} points. It is {_sure(best)} "
        f"(95 % intervals; {from_to(sizes)} sentences of dev; one training each).",
        gains,
    )
    yield (
        f"The labelled F-score of the derivation that the parser chooses changes by "
        f"{span(own['difference'], '{:+.2f}')} points. It is {_sure(own)}.",
        gains,
    )


def _sure(rows: pd.DataFrame) -> str:
    """Say for how many parsers wide charts are significantly better, and for how many significantly worse.

    rows  one row per parser, with difference and its interval (low, high)
    """
    better, worse = wins(rows[["difference", "low", "high"]])
    return f"significantly higher for {better or 'none'} of {len(rows)} parsers and lower for {worse or 'none'}"
