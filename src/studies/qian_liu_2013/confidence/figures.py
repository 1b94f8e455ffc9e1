"""Figures of confidence: reliability, and accuracy against coverage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, CYCLE, describe, label_lines, log_axis, panels, style, thinned


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
            panel.errorbar(data[x], 100 * data["accuracy"], spread, color=COLOURS[colour], marker="o")
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
        ends = [
            f"{name} {100 * values['accuracy'].iloc[0]:.1f} % in the least confident group and "
            f"{100 * values['accuracy'].iloc[-1]:.1f} % in the most confident group"
            for name, values in (("by margin", table), ("by marginal", pd.DataFrame(marginals)))
            if len(values)
        ]
        describe(figure, f"Words with the right head: {'; '.join(ends)}.")
    return figure


def coverage(curves: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Draw the accuracy of the most confident words against their share, one curve for each kind of confidence.

    curves  name -> `metrics.calibration.coverage`
    """
    with style():
        figure, (axes,) = panels(1, width=6.0, height=3.6)
        kept = {name: pd.DataFrame(data).iloc[thinned(len(data["kept"]))] for name, data in curves.items()}
        order = sorted(kept, key=lambda name: kept[name]["accuracy"].mean())  # the upper curve has the upper label
        colours = dict(zip(curves, CYCLE, strict=False))  # margins have the colour that they have in `reliability`
        for name in order:
            axes.plot(100 * kept[name]["kept"], 100 * kept[name]["accuracy"], color=colours[name], label=name)
        axes.set_title("Accuracy of the most confident words")
        axes.set_xlabel("most confident words that are kept, %")
        axes.set_ylabel("kept words with the right head, %")
        axes.set_xlim(0, 100)
        label_lines(axes)
        halves = [f"{name} {100 * np.interp(0.5, k['kept'], k['accuracy']):.1f} %" for name, k in kept.items()]
        describe(figure, f"Right heads among the most confident half of the words: {', '.join(halves)}.")
    return figure
