"""Figures of the joint model of CCG supertagger and parser: accuracy and convergence by iteration, score by beam."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from studies.auli_lopez_2011.ccg import figures
from treebound.plots.style import COLOURS, log_axis, panels, style

NAMES = {"bp": "BP", "dd": "DD", "dd-published": "DD, published steps"}
COLOUR = {"bp": COLOURS["blue"], "dd": COLOURS["vermilion"], "dd-published": COLOURS["green"]}
DASHES = {"AST": "--", "reverse": "-"}


def accuracy(data: pd.DataFrame, baselines: pd.DataFrame) -> Figure:
    """Draw figure 4: LF of each decoder by iteration, with horizontal lines for the parser alone and the optimum.

    data       table of one parser with the columns order, decoder, iterations and LF
    baselines  table with one row per order; the columns `parser alone` and `exact` hold LF
    """
    with style():
        figure, axes = panels(len(baselines), height=3.6, width=8.5)
        for panel, (order, row) in zip(axes, baselines.iterrows(), strict=True):
            for decoder in NAMES:
                curve = data[(data["order"] == order) & (data["decoder"] == decoder)]
                if not len(curve):  # older runs did not measure all decoders
                    continue
                panel.plot(curve["iterations"], curve["LF"], label=NAMES[decoder], color=COLOUR[decoder])
            panel.axhline(row["parser alone"], color=COLOURS["grey"], linestyle=":", label="parser alone")
            panel.axhline(row["exact"], color=COLOURS["ink"], linestyle="--", linewidth=1, label="optimum")
            panel.set_title(str(order))
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.set_xlabel("iterations")
            panel.set_ylabel("labelled F-score, %")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def convergence(data: pd.DataFrame) -> Figure:
    """Draw figure 6: share of sentences (%) that have settled, by iteration on a logarithmic axis.

    data  table of one parser with the columns order, decoder, iterations and settled
    """
    with style():
        figure, (panel,) = panels(1, height=3.6, width=6.0)
        for (order, decoder), curve in data.groupby(["order", "decoder"], sort=False):
            colour, dashes, label = COLOUR[str(decoder)], DASHES[str(order)], f"{NAMES[str(decoder)]} {order}"
            panel.plot(curve["iterations"], curve["settled"], color=colour, linestyle=dashes, label=label)
        log_axis(panel, "x")
        panel.set_ylim(0, 102)
        panel.set_xlabel("iterations (log scale)")
        panel.set_ylabel("sentences that have settled, %")
        figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    return figure


def beams(data: pd.DataFrame) -> Figure:
    """Draw figure 5: joint score and LF by beam, one panel per decoder.

    data  table of one parser with the columns decoder, beam, joint score and LF
    """
    return figures.beams(data, "decoder", "joint score")
