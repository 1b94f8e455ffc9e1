"""Figures of CCG supertagging: what wider beams do to the model's score, to accuracy and to what could be found."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, panels, style


def beams(data: pd.DataFrame) -> Figure:
    """Model score (grey, right axis) and labelled F-scores by beam, narrow ones first, one panel a parser.

    data  parser, beam, model score, LF, oracle LF
    """
    parsers = list(dict.fromkeys(data["parser"]))
    with style():
        figure, axes = panels(len(parsers), height=3.6, width=8.5 if len(parsers) > 1 else 6.0)
        for panel, parser in zip(axes, parsers, strict=True):
            some = data[data["parser"] == parser]
            at = range(len(some))
            other = panel.twinx()
            other.plot(at, some["model score"], color=COLOURS["grey"], marker="s", label="model score (right)")
            other.grid(False)
            panel.plot(at, some["LF"], color=COLOURS["blue"], marker="o", label="parser")
            panel.plot(at, some["oracle LF"], color=COLOURS["vermilion"], marker="^", label="oracle")
            panel.set_xticks(at, [str(beam).partition(":")[0] for beam in some["beam"]], rotation=45, fontsize=7)
            panel.set_xlabel("beam of the supertagger")
            panel.set_ylabel("labelled F-score, %")
            panel.set_title(parser)
        (lines, names), (more, others) = panel.get_legend_handles_labels(), other.get_legend_handles_labels()
        figure.legend(lines + more, names + others, loc="outside lower center", ncols=3, fontsize=8)
    return figure
