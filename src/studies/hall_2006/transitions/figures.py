"""Figures of transition-based parsers: error rates, and time by sentence length."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import CYCLE, MARKERS, panels, style


def error_rates(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the share of words with an error (%) in each bin of words, one panel per table and one curve per parser.

    tables  name of a panel -> table with one row per bin, for instance per sentence length; every column except `words`
            is a parser
    """
    with style():
        figure, axes = panels(len(tables), height=3.4, width=8.5)
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            for i, parser in enumerate(c for c in table.columns if c != "words"):
                style_of_curve = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)], "label": parser}
                panel.plot(range(len(table)), table[parser], **style_of_curve)
            panel.set_xticks(range(len(table)), table.index, rotation=45, fontsize=7)
            panel.set_xlabel(name)
            panel.set_ylabel("errors, %")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def time_by_length(data: pd.DataFrame) -> Figure:
    """Draw CPU milliseconds against sentence length, with the best-fitting line through the origin for each parser.

    data  table with one row per sentence length (index `words`) and one column of milliseconds per parser
    """
    words = data.index.to_numpy(float)
    with style():
        figure, (axes,) = panels(1, height=3.6, width=6.0)
        for i, parser in enumerate(data.columns):
            colour, ms = CYCLE[i % len(CYCLE)], data[parser].to_numpy(float)
            axes.plot(words, ms, color=colour, marker=MARKERS[i % len(MARKERS)], linestyle="none", label=parser)
            axes.plot(words, words * float(np.dot(words, ms) / np.dot(words, words)), color=colour, linewidth=1)
        axes.set_xlabel("words in the sentence")
        axes.set_ylabel("CPU ms")
        figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    return figure
