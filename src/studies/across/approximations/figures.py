"""The anytime figure: shares of best trees and of proofs against CPU time."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from studies.across.approximations.contestants import EXACT
from treebound.plots.style import COLOURS, CYCLE, end_labels, log_axis, panels, style

PROOFS = "its proofs"  #: name of the curve of exact search that counts proofs


def over_time(data: pd.DataFrame, chosen: Sequence[str]) -> Figure:
    """Draw the share of sentences whose best tree a decoder finds within a CPU time, against this time.

    There is one panel for each model and space. The black curves are exact search: its best trees, and its proofs as a
    dashed line. A panel lacks a chosen decoder that cannot search the space.

    data    model, space, solver, ms (CPU time per sentence), best and proved (% of the sentences)
    chosen  names of at most four approximate decoders, see `anytime.informative`
    """
    places = [(m, s) for m in dict.fromkeys(data["model"]) for s in dict.fromkeys(data["space"])]
    by_place = dict(iter(data.groupby(["model", "space"], sort=False)))
    groups = {place: by_place[place] for place in places if place in by_place}
    colours = dict(zip(chosen, CYCLE, strict=False))
    with style():
        figure, axes = panels(len(groups), height=3.1, width=9.5 if len(groups) > 1 else 6.0)
        for panel, ((model, space), rows) in zip(axes, groups.items(), strict=True):
            ends = []
            for name, measure, colour, dashes in (
                *((name, "best", colour, "-") for name, colour in colours.items()),
                (EXACT, "best", COLOURS["ink"], "-"),
                (EXACT, "proved", COLOURS["ink"], (0, (3, 2))),
            ):
                curve = rows[rows["solver"] == name]
                if curve.empty:
                    continue
                panel.plot(curve["ms"], curve[measure], color=colour, linestyle=dashes, linewidth=1.5)
                ends.append(
                    (
                        float(curve["ms"].iloc[-1]),
                        float(curve[measure].iloc[-1]),
                        PROOFS if measure == "proved" else name,
                        colour,
                    )
                )
            log_axis(panel, "x")
            panel.set_xticks([0.1, 1, 10, 100, 1000, 10000][:: 1 if len(groups) == 1 else 2])
            panel.margins(x=0)
            panel.set_ylim(0, 103)
            panel.set_title(f"{model},\n{space} trees", fontsize=9.5)
            panel.set_xlabel("CPU ms per sentence (log scale)")
            panel.set_ylabel("sentences, %")
            end_labels(panel, ends, size=8.5)
    return figure
