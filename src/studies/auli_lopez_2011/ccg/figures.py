"""Figures of CCG supertagging: effect of wider beams on the model score, the accuracy and the oracle accuracy."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, panels, style

CURVES = {"LF": ("blue", "o"), "oracle LF": ("vermilion", "^")}


def beams(data: pd.DataFrame, each: str = "parser", score: str = "model score") -> Figure:
    """Draw the score (grey, right axis) and labelled F-scores (LF) by beam, narrow beams first, one panel per parser.

    data   table with the columns beam, LF and, optionally, oracle LF, and with the two columns named below
    each   name of a column; the figure has one panel for each of its values
    score  name of the column that holds the score of the right axis
    """
    names = list(dict.fromkeys(data[each]))
    with style():
        figure, axes = panels(len(names), height=3.6, width=8.5 if len(names) > 1 else 6.0)
        for panel, name in zip(axes, names, strict=True):
            rows = data[data[each] == name]
            right_axis, positions = panel.twinx(), range(len(rows))
            right_axis.plot(positions, rows[score], color=COLOURS["grey"], marker="s", label=f"{score} (right)")
            right_axis.grid(False)
            for column, (colour, marker) in CURVES.items():
                if column in data:
                    panel.plot(positions, rows[column], color=COLOURS[colour], marker=marker, label=column)
            panel.set_xticks(positions, [str(beam).partition(":")[0] for beam in rows["beam"]], rotation=45, fontsize=7)
            panel.set_xlabel("beam of the supertagger")
            panel.set_ylabel("labelled F-score, %")
            panel.set_title(name)
        (lines, labels), (more_lines, more_labels) = (
            panel.get_legend_handles_labels(),
            right_axis.get_legend_handles_labels(),
        )
        figure.legend(lines + more_lines, labels + more_labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure
