"""Forest plots of pooled effects, and the power of the designs."""

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

MANY = 8  #: claims with more places than this are drawn apart from others


def families(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Group the claims whose effect is pooled over treebanks by paper, those of many treebanks apart."""
    out: dict[str, list[Judged]] = {}
    for one in judged:
        if one.claim is not None and one.effect is not None and one.effect.pooled is not None:
            size = ", many treebanks" if len(one.measured) > MANY else ""
            out.setdefault(f"{one.paper.cite}{size}", []).append(one)
    return out


def forest(judged: Sequence[Judged]) -> Figure:
    """One panel for each claim: every treebank with its interval, below them the pooled effect as a diamond with the
    prediction interval, and the published effect as an open diamond.

    judged  a family of claims
    """
    rows = max(len(one.measured) for one in judged) + 2
    with style():
        columns = 2 if rows > MANY else 3
        figure, axes = panels(
            len(judged), columns=columns, width=3.2 * min(columns, len(judged)), height=0.8 + 0.17 * rows
        )
        for i, (panel, one) in enumerate(zip(axes, judged, strict=True)):
            first = judged[i - i % columns]  # of the row: lines of the same treebanks are named once
            _panel(panel, one, named=one is first or _names(one) != _names(first))
    return figure


def _names(one: Judged) -> list[str]:
    """The names of the lines of a claim: its places, the pooled effect, and what was published."""
    assert one.claim is not None
    assert one.effect is not None
    names = [*(found.place for found in one.measured), f"pooled ({one.effect.treebanks} treebanks)"]
    return [*names, "published"] if one.claim.effects else names


def _panel(axes: Axes, one: Judged, named: bool) -> None:
    assert one.claim is not None
    assert one.claim.than is not None
    assert one.effect is not None
    measure, effect, pooled = MEASURES[one.claim.measure], one.effect, one.effect.pooled
    assert pooled is not None
    names = _names(one)
    for y, found in enumerate(one.measured):
        if found.low == found.low:
            axes.plot([found.low, found.high], [-y, -y], color=COLOURS["grey"], linewidth=1.2)
        axes.plot(found.value, -y, MARKERS[0], color=COLOURS["ink"], markersize=3.5)
    base, ink = -len(one.measured), CYCLE[0]
    ends = [measure.scale.back(float(x)) for x in (pooled.predicted_low, pooled.predicted_high)]
    axes.plot(ends, [base, base], color=ink, linewidth=1, linestyle=":")
    corners = [(effect.low, base), (effect.value, base + 0.32), (effect.high, base), (effect.value, base - 0.32)]
    axes.fill(*zip(*corners, strict=True), color=ink)
    if one.claim.effects:
        axes.plot(one.claim.effects, [base - 1] * len(one.claim.effects), "D", color=COLOURS["ink"], mfc="white")
    axes.axvline(one.claim.than, color=COLOURS["grey"], linewidth=1)
    axes.set_yticks([-i for i in range(len(names))], names if named else [""] * len(names), fontsize=7)
    axes.grid(axis="y", visible=False)
    axes.set_title(f"{one.claim.name}: {one.verdict}", fontsize=8)
    axes.set_xlabel(measure.text[measure.text.index("}") + 1 :].strip() or "points", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.locator_params(axis="x", nbins=5)
    if measure.scale is Scale.LOG:
        axes.set_xscale("log")
        log_axis(axes, "x")


def power(data: pd.DataFrame) -> Figure:
    """Share of studies that find an effect against its size, a curve for each design. data: of `simulation.power`."""
    with style():
        figure, (axes,) = panels(1, width=6.5, height=3.6)
        for i, name in enumerate(data.columns):
            axes.plot(data.index, data[name], color=CYCLE[i], marker=MARKERS[i], markersize=3.5, label=name)
        axes.axhline(80, color=COLOURS["grey"], linewidth=1)
        axes.set_xticks(np.arange(0, 0.61, 0.1))
        axes.set_xlabel(str(data.index.name))
        axes.set_ylabel("studies that find it, %")
        axes.legend(fontsize=8)
    return figure
