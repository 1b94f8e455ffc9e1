"""Generated sentences about supertaggers and CCG parsers, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, from_to, span

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
        f"chart changes by {span(best['difference'], '{:+.2f}')}, significantly for {_sure(best)} of {len(best)} "
        f"parsers (95 % intervals; {from_to(sizes)} sentences of dev; one training each).",
        gains,
    )
    yield (
        f"The labelled F-score of the derivation that the parser chooses changes by "
        f"{span(own['difference'], '{:+.2f}')}, significantly for {_sure(own)} of {len(own)} parsers.",
        gains,
    )


def _sure(rows: pd.DataFrame) -> int:
    """Count the rows whose difference has an interval (columns low and high) that excludes 0."""
    return int(((rows["low"] > 0) | (rows["high"] < 0)).sum())
