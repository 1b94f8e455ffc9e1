"""The anytime figure: shares of best trees and of proofs against CPU time."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, CYCLE, MARKERS, log_axis, panels, style

APART = 3  #: every APART-th point of a curve has a marker; a marker at every point would triple the file size


def over_time(data: pd.DataFrame) -> Figure:
    """Draw the share of sentences for which each decoder finds the best tree, or a proof, against CPU time.

    Each model and space has two panels, one for best trees and one for proofs, with one curve per decoder.

    data  table with the columns model, space, solver, ms (CPU time per sentence), best and proved (% of the sentences).
          The first decoder is drawn on top, in black.
    """
    solvers = list(dict.fromkeys(data["solver"]))
    groups = list(data.groupby(["model", "space"], sort=False))
    with style():
        figure, axes = panels(2 * len(groups), height=3.3, width=8.5)
        for i, ((model, space), rows) in enumerate(groups):
            for panel, measure in zip(axes[2 * i : 2 * i + 2], ("best", "proved"), strict=True):
                for j, solver in enumerate(solvers):
                    curve = rows[rows["solver"] == solver]
                    if curve.empty or (measure == "proved" and not curve[measure].any()):
                        continue
                    colour = CYCLE[(j - 1) % (len(CYCLE) - 1)] if j else COLOURS["ink"]
                    panel.plot(
                        curve["ms"], curve[measure], color=colour, marker=MARKERS[j % len(MARKERS)], markersize=3,
                        markevery=(j % APART, APART), linewidth=1.2, label=solver, zorder=3 - (j > 0),
                    )  # fmt: skip
                log_axis(panel, "x")
                panel.set_ylim(-3, 103)
                panel.set_title(f"{model}, {space}", fontsize=9)
                panel.set_xlabel("CPU ms per sentence (log scale)")
                panel.set_ylabel("best tree, %" if measure == "best" else "proved, %")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure
