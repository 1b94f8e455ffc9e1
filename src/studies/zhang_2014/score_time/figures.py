"""Figures of sampling: proved optima found against time."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import CYCLE, MARKERS, log_axis, panels, style

EXACT = "branch-and-bound"


def score_against_time(table: pd.DataFrame) -> Figure:
    """Draw the share of proved optima that each method finds against CPU time per word.

    There is one curve per method, and one panel per run, corpus and space. A dotted line marks the time of the proof,
    and a solid line marks 100 %.

    table  result of `tables.score_time`
    """
    places = list(dict.fromkeys(key[:3] for key in table.index))
    with style():
        figure, axes = panels(len(places), height=3.4, width=8.5 if len(places) > 1 else 6.0)
        for panel, (run, corpus, space) in zip(axes, places, strict=True):
            rows = table.loc[(run, corpus, space)]
            methods = [m for m in dict.fromkeys(rows.index.get_level_values("method")) if m != EXACT]
            for i, method in enumerate(methods):
                curve = rows.xs(method, level="method").sort_values("CPU us / word")
                look = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)], "label": method}
                panel.plot(curve["CPU us / word"], curve["optima found, %"], **look)
            panel.axvline(rows.xs(EXACT, level="method")["CPU us / word"].iloc[0], color="0.5", ls=":", label="proof")
            panel.axhline(100, color="0.5", lw=1)
            log_axis(panel, "x")
            panel.set_title(f"{corpus}, {space}")
            panel.set_xlabel("CPU us per word (log scale)")
            panel.set_ylabel("optima found, %")
        labelled = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure
