"""Forest plots of pooled effects, and a plot of the statistical power of designs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.site.claims.judge import Judged
from studies.site.claims.measured import Scale
from studies.site.claims.measures import MEASURES
from treebound.plots.style import COLOURS, CYCLE, MARKERS, log_axis, panels, style

MANY = 8  #: claims with more treebanks than this are drawn in a separate figure


def families(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Group the claims whose effect is pooled over treebanks, by paper.

    Claims about more than `MANY` treebanks form a separate group of the paper.
    """
    out: dict[str, list[Judged]] = {}
    for item in judged:
        if item.claim is not None and item.effect is not None and item.effect.pooled is not None:
            size = ", many treebanks" if len(item.measured) > MANY else ""
            out.setdefault(f"{item.paper.cite}{size}", []).append(item)
    return out


def forest(judged: Sequence[Judged]) -> Figure:
    """Draw a forest plot with one panel per claim.

    A panel shows every treebank with its interval. Below the treebanks follow the pooled effect as a filled diamond
    with its prediction interval, and the published effect as an open diamond.

    judged  one group of `families`
    """
    rows = max(len(item.measured) for item in judged) + 2
    with style():
        columns = 2 if rows > MANY else 3
        figure, axes = panels(
            len(judged), columns=columns, width=3.2 * min(columns, len(judged)), height=0.8 + 0.17 * rows
        )
        for i, (panel, item) in enumerate(zip(axes, judged, strict=True)):
            # panels of one row that show the same treebanks share the names of the first panel
            first = judged[i - i % columns]
            _panel(panel, item, named=item is first or _names(item) != _names(first))
    return figure


def _names(item: Judged) -> list[str]:
    """Return the labels of the lines of a claim: its treebanks, the pooled effect, and the published effect."""
    assert item.claim is not None
    assert item.effect is not None
    names = [*(measured.place for measured in item.measured), f"pooled ({item.effect.treebanks} treebanks)"]
    return [*names, "published"] if item.claim.effects else names


def _panel(axes: Axes, item: Judged, named: bool) -> None:
    """Draw the forest plot of one claim into `axes`. named: True labels the lines."""
    assert item.claim is not None
    assert item.claim.than is not None
    assert item.effect is not None
    measure, effect, pooled = MEASURES[item.claim.measure], item.effect, item.effect.pooled
    assert pooled is not None
    names = _names(item)
    for y, measured in enumerate(item.measured):
        if measured.low == measured.low:
            axes.plot([measured.low, measured.high], [-y, -y], color=COLOURS["grey"], linewidth=1.2)
        axes.plot(measured.value, -y, MARKERS[0], color=COLOURS["ink"], markersize=3.5)
    base, ink = -len(item.measured), CYCLE[0]
    ends = [measure.scale.back(float(x)) for x in (pooled.predicted_low, pooled.predicted_high)]
    axes.plot(ends, [base, base], color=ink, linewidth=1, linestyle=":")
    corners = [(effect.low, base), (effect.value, base + 0.32), (effect.high, base), (effect.value, base - 0.32)]
    axes.fill(*zip(*corners, strict=True), color=ink)
    if item.claim.effects:
        axes.plot(item.claim.effects, [base - 1] * len(item.claim.effects), "D", color=COLOURS["ink"], mfc="white")
    axes.axvline(item.claim.than, color=COLOURS["grey"], linewidth=1)
    axes.set_yticks([-i for i in range(len(names))], names if named else [""] * len(names), fontsize=7)
    axes.grid(axis="y", visible=False)
    axes.set_title(f"{item.claim.name}: {item.verdict}", fontsize=8)
    axes.set_xlabel(measure.text[measure.text.index("}") + 1 :].strip() or "points", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.locator_params(axis="x", nbins=5)
    if measure.scale is Scale.LOG:
        axes.set_xscale("log")
        log_axis(axes, "x")


def power(data: pd.DataFrame) -> Figure:
    """Draw the share of studies that detect an effect, against the size of the effect, one curve per design.

    data  result of `simulation.power`
    """
    with style():
        figure, (axes,) = panels(1, width=6.5, height=3.6)
        for i, name in enumerate(data.columns):
            axes.plot(data.index, data[name], color=CYCLE[i], marker=MARKERS[i], markersize=3.5, label=name)
        axes.axhline(80, color=COLOURS["grey"], linewidth=1)
        axes.set_xticks(np.arange(0, 0.61, 0.1))
        axes.set_xlabel(str(data.index.name))
        axes.set_ylabel("studies that detect the effect, %")
        axes.legend(fontsize=8)
    return figure
