"""Figures of speed: work against the length of sentences."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from studies.site.rows import pruning
from treebound.plots.style import CYCLE, MARKERS, describe, distinct, label_lines, log_axis, note, panels, style
from treebound.plots.ticks import plain

#: smallest number of sentences in a bin with a filled mark
FEW = 10


def against_length(data: pd.DataFrame, value: str, label: str) -> Figure:
    """Draw work against sentence length: one curve per pruning setting, one panel per corpus.

    These are Figures 4 and 5 of Qian & Liu (2013). Bins with fewer than FEW sentences have empty marks. At most six
    settings are drawn: those with the most work.

    data   columns corpus, k, lo, hi (bounds of the length bin, inclusive), sentences, and the column `value`
    label  label of the value axis, with its unit
    """
    data = data.assign(k=data["k"].astype(str))
    corpora = list(dict.fromkeys(data["corpus"]))
    settings = distinct({str(k): float(rows[value].max()) for k, rows in data.groupby("k", sort=False)})
    with style():
        figure, axes = panels(len(corpora), height=3.4, width=8.5 if len(corpora) > 1 else 6.5)
        for panel, corpus in zip(axes, corpora, strict=True):
            for i, k in enumerate(settings):
                curve = data[(data["corpus"] == corpus) & (data["k"] == k)].sort_values("lo")
                if curve.empty:
                    continue
                middle, few = (curve["lo"] + curve["hi"]) / 2, curve["sentences"] < FEW
                look: dict[str, Any] = {"color": CYCLE[i], "marker": MARKERS[i]}
                panel.plot(middle, curve[value], label=pruning(k), **look)
                panel.plot(middle[few], curve[value][few], ls="none", markerfacecolor="white", **look)
            log_axis(panel, "y")
            panel.set_title(corpus)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel(f"{label} (log scale)")
            label_lines(panel)
        if (data["sentences"] < FEW).any():
            note(figure, f"Empty marks: fewer than {FEW} sentences.")
        describe(figure, _longest(data[data["k"].isin(settings)], value, label))
    return figure


def _longest(data: pd.DataFrame, value: str, label: str) -> str:
    """State the work of the longest sentences of each corpus for the first and the last pruning setting."""
    texts = []
    for corpus, rows in data.groupby("corpus", sort=False):
        last = rows[rows["lo"] == rows["lo"].max()].set_index("k")[value]
        ends = [f"{pruning(k)}: {plain(float(last[k]))}" for k in dict.fromkeys([last.index[0], last.index[-1]])]
        texts.append(f"{corpus} {', '.join(ends)}")
    return f"In the longest sentences ({label}), {'; '.join(texts)}."
