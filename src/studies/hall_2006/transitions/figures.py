"""Figures of transition-based parsers: error rates, and time by sentence length."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from studies.hall_2006.transitions.tables import short_name
from treebound.plots.style import CYCLE, MARKERS, end_labels, panels, style

TICKS = 4  #: largest number of labels on the axis of bins


def error_rates(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the share of words with an error (%) in each bin, one panel per table and one curve per parser.

    tables  name of a panel -> table with one row per bin; every column except `words` is a parser. The first six
            parsers are drawn
    """
    with style():
        figure, axes = panels(len(tables), height=3.0, width=9.0)
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            ends = []
            for i, parser in enumerate([c for c in table.columns if c != "words"][: len(CYCLE)]):
                colour = CYCLE[i]
                panel.plot(range(len(table)), table[parser], color=colour, marker=MARKERS[i], markersize=4, lw=1.4)
                ends.append((len(table) - 1.0, float(table[parser].iloc[-1]), short_name(parser), colour))
            step = -(-len(table) // TICKS)
            panel.set_xticks(range(0, len(table), step), [_short(label) for label in table.index[::step]])
            panel.set_title(f"wrong heads by {name}")
            panel.set_xlabel(name)
            panel.set_ylabel("wrong heads, %")
            panel.set_ylim(0, None)
            end_labels(panel, ends, size=8.5)
    return figure


def rates_in_words(tables: Mapping[str, pd.DataFrame]) -> str:
    """Describe `error_rates` in words: the error rates of each parser in the first and last bin, for an alt text."""
    parts = []
    for name, table in tables.items():
        rates = table.drop(columns="words", errors="ignore").iloc[[0, -1], : len(CYCLE)]
        listed = ", ".join(f"{short_name(parser)} {low:.0f} to {high:.0f} %" for parser, (low, high) in rates.items())
        parts.append(f"{name}, {table.index[0]} against {table.index[-1]}: {listed}")
    return f"Rates in the first and the last bin: {'; '.join(parts)}."


def time_by_length(data: pd.DataFrame) -> Figure:
    """Draw CPU milliseconds against sentence length, with the best-fitting line through the origin for each parser.

    data  index: words; one column per parser, in ms. The first six parsers are drawn
    """
    words = data.index.to_numpy(float)
    with style():
        figure, (axes,) = panels(1, height=3.4, width=7.0)
        ends = []
        for i, parser in enumerate(data.columns[: len(CYCLE)]):
            colour, ms = CYCLE[i], data[parser].to_numpy(float)
            slope = float(np.dot(words, ms) / np.dot(words, words))
            axes.plot(words, ms, color=colour, marker=MARKERS[i], markersize=3.5, linestyle="none")
            axes.plot([0, words.max()], [0, slope * words.max()], color=colour, linewidth=1)
            ends.append(
                (
                    words.max(),
                    slope * words.max(),
                    f"{short_name(parser)}, {1e3 * slope:.0f} µs a word",
                    colour,
                )
            )
        axes.set_xlim(0, None)
        axes.set_ylim(0, None)
        axes.set_xlabel("words in the sentence")
        axes.set_ylabel("CPU ms per sentence")
        end_labels(axes, ends)
    return figure


def _short(label: object) -> str:
    """Return the name of a bin without words: `3–4` for `3 to 4`, and `9+` for `from 9`."""
    text = str(label).replace(" to ", "–")
    return text.removeprefix("from ") + "+" * text.startswith("from ")
