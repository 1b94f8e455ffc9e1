"""Figures of confidence: reliability, and accuracy against coverage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, CYCLE, log_axis, panels, style


def reliability(margins: Mapping[str, np.ndarray], marginals: Mapping[str, np.ndarray]) -> Figure:
    """Draw the accuracy of words by confidence, with 95 % intervals: margins on the left, marginals on the right.

    Both arguments are results of `metrics.calibration.reliability`. On the diagonal, the probability equals the
    accuracy.
    """
    with style():
        figure, (left, right) = panels(2, width=8.5, height=3.6)
        table = pd.DataFrame(margins)
        finite = table[table["confidence"].between(0, float("inf"), inclusive="neither")]
        for panel, data, x, colour in ((left, finite, "confidence", "blue"), (right, marginals, "mean", "vermilion")):
            spread = [100 * (data["accuracy"] - data["low"]), 100 * (data["high"] - data["accuracy"])]
            panel.errorbar(data[x], 100 * data["accuracy"], spread, color=COLOURS[colour], marker="o", capsize=2)
            panel.set_ylabel("words with the right head, %")
        right.plot([0, 1], [0, 100], color=COLOURS["grey"], linewidth=1, zorder=1)
        right.annotate("accuracy = probability", (0.12, 12), (6, -4), textcoords="offset points", color=COLOURS["grey"])
        right.set_xlim(0, 1.02)
        right.set_ylim(0, 102)
        right.set_xlabel("mean probability of the bin")
        right.set_title("Marginal")
        left.set_xlabel("margin, median of the bin (log scale)")
        left.set_title("Margin")
        log_axis(left, "x")
    return figure


def coverage(curves: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Draw the accuracy of the most confident words against their share, one curve for each kind of confidence.

    curves  name -> `metrics.calibration.coverage`
    """
    with style():
        figure, (axes,) = panels(1, width=6.0, height=3.6)
        for i, (name, data) in enumerate(curves.items()):
            axes.plot(100 * data["kept"], 100 * data["accuracy"], color=CYCLE[i], label=name)
        axes.legend(loc="lower left")
        axes.set_xlabel("words kept, the most confident first, %")
        axes.set_ylabel("kept words with the right head, %")
        axes.set_xlim(0, 100)
    return figure
