"""Figures of CCG supertagging: what wider beams do to the model's score, to accuracy and to what could be found."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, panels, style

CURVES = {"LF": ("blue", "o"), "oracle LF": ("vermilion", "^")}


def beams(data: pd.DataFrame, each: str = "parser", score: str = "model score") -> Figure:
    """The score (grey, right axis) and labelled F-scores by beam, narrow ones first, one panel for `each`.

    data  the columns `each`, beam, `score`, LF and, if there is one, oracle LF
    """
    names = list(dict.fromkeys(data[each]))
    with style():
        figure, axes = panels(len(names), height=3.6, width=8.5 if len(names) > 1 else 6.0)
        for panel, name in zip(axes, names, strict=True):
            some = data[data[each] == name]
            other, at = panel.twinx(), range(len(some))
            other.plot(at, some[score], color=COLOURS["grey"], marker="s", label=f"{score} (right)")
            other.grid(False)
            for column, (colour, marker) in CURVES.items():
                if column in data:
                    panel.plot(at, some[column], color=COLOURS[colour], marker=marker, label=column)
            panel.set_xticks(at, [str(beam).partition(":")[0] for beam in some["beam"]], rotation=45, fontsize=7)
            panel.set_xlabel("beam of the supertagger")
            panel.set_ylabel("labelled F-score, %")
            panel.set_title(name)
        (lines, known), (more, others) = panel.get_legend_handles_labels(), other.get_legend_handles_labels()
        figure.legend(lines + more, known + others, loc="outside lower center", ncols=3, fontsize=8)
    return figure
