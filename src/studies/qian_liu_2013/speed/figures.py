"""Figures of speed: work against the length of sentences."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from studies.site.rows import pruning
from treebound.plots.style import CYCLE, MARKERS, log_axis, panels, style


def against_length(data: pd.DataFrame, value: str, label: str) -> Figure:
    """Draw work against sentence length: one curve per pruning setting, one panel per corpus.

    These are Figures 4 and 5 of Qian & Liu (2013).

    data   columns corpus, k, lo, hi (bounds of the length bin, inclusive), sentences, and the column `value`
    label  label of the value axis, with its unit
    """
    corpora = list(dict.fromkeys(data["corpus"]))
    settings = list(dict.fromkeys(data["k"].astype(str)))
    with style():
        figure, axes = panels(len(corpora), height=3.4, width=8.0 if len(corpora) > 1 else 6.0)
        for panel, corpus in zip(axes, corpora, strict=True):
            for i, k in enumerate(settings):
                curve = data[(data["corpus"] == corpus) & (data["k"].astype(str) == k)].sort_values("lo")
                if curve.empty:
                    continue
                middle = (curve["lo"] + curve["hi"]) / 2
                panel.plot(middle, curve[value], color=CYCLE[i], marker=MARKERS[i], label=pruning(k))
            log_axis(panel, "y")
            panel.set_title(corpus)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel(f"{label} (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), fontsize=8)
    return figure
