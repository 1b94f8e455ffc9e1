"""What a system gains on every corpus, and curves on the axes that a paper printed."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, CYCLE, MARKERS, panels, style


def gains(data: pd.DataFrame, over: str = "the baseline", level: int = 95) -> Figure:
    """Differences in accuracy with their intervals: a line a corpus, a colour a system (or the other way round); an
    interval that keeps clear of zero is drawn full.

    data   corpus, system, difference, low, high (points; low and high NaN: not tested)
    over   what they are gains over
    level  of the intervals, %
    """
    corpora, systems = (list(dict.fromkeys(data[name])) for name in ("corpus", "system"))
    with style():
        figure, (axes,) = panels(1, width=8.0, height=1.2 + 0.34 * len(corpora))
        axes.axvline(0, color=COLOURS["grey"], linewidth=1)
        for i, system in enumerate(systems):
            rows = data[data["system"] == system]
            place = [-corpora.index(name) - 0.62 * ((i + 0.5) / len(systems) - 0.5) for name in rows["corpus"]]
            for y, row in zip(place, rows.itertuples(), strict=True):
                clear = row.low > 0 or row.high < 0
                axes.plot([row.low, row.high], [y, y], color=CYCLE[i], linewidth=2.6 if clear else 0.9)
                axes.plot(row.difference, y, MARKERS[i], color=CYCLE[i], markerfacecolor=CYCLE[i] if clear else "white")
            axes.plot([], [], MARKERS[i], color=CYCLE[i], label=system)
        axes.set_yticks([-i for i in range(len(corpora))], corpora)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"UAS points over {over}\nthick and filled: the {level} % interval keeps clear of zero")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure


def on_printed_axes(data: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Mean time and calls by sentence length without pruning, on the very axes of a paper's figures; linear, so that
    what lies low there lies low here.

    data     corpus, lo, hi (of a bin of lengths, inclusive), mean_s, mean_dp_calls
    printed  corpus of the paper, words, seconds, DP calls: where its axes end
    """
    measures = {"mean_s": ("seconds", "mean time, s"), "mean_dp_calls": ("DP calls", "mean DP calls")}
    with style():
        figure, axes = panels(len(printed) * len(measures), height=3.0)
        for panel, (column, (end, label), axis) in zip(
            axes, ((c, named, a) for c, named in measures.items() for a in printed.to_dict("records")), strict=True
        ):
            for i, (corpus, curve) in enumerate(data.groupby("corpus", sort=False)):
                middle = (curve["lo"] + curve["hi"]) / 2
                panel.plot(middle, curve[column], color=CYCLE[i], marker=MARKERS[i], label=str(corpus))
            panel.set_xlim(0, axis["words"])
            panel.set_ylim(0, axis[end])
            panel.set_title(f"axes as printed for {axis['corpus']}")
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel(label)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    return figure
