"""Forest plots of pooled effects, and a plot of the statistical power of designs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.site.claims.judge import CONTRADICTED, REPLICATED, SMALLER, Judged
from studies.site.claims.measured import Scale
from studies.site.claims.measures import MEASURES
from studies.site.show import Remarks, as_csv, p_in_words, typeset
from treebound.plots.style import COLOURS, CYCLE, MARKERS, end_labels, log_axis, panels, style, text_colour, wrapped
from treebound.plots.svg import Svg, as_svg

#: inches: height of the line of a treebank, of the pooled effect, of a line of a claim's name, and of axis and label
LINE, POOLED, NAME, AXIS = 0.05, 0.22, 0.16, 0.7
LETTERS = 54  #: largest number of letters in a line of the name of a claim, which fits a narrow screen
#: colours of the verdicts; all others are black
VERDICTS = {REPLICATED: COLOURS["green"], SMALLER: COLOURS["green"], CONTRADICTED: COLOURS["vermilion"]}


def families(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Group the claims whose effect is pooled over treebanks, by paper and by unit of the effect.

    The claims that this project adds to the claims of a paper form groups of their own.
    """
    out: dict[str, list[Judged]] = {}
    for item in judged:
        if item.claim is not None and item.effect is not None and item.effect.pooled is not None:
            owner = f"{item.paper.cite}, claims of this project" * item.claim.ours or item.paper.cite
            out.setdefault(f"{owner}, {_unit(item)}", []).append(item)
    return out


def forests(judged: Sequence[Judged], paper: str) -> list[Svg | Remarks]:
    """Draw the forest plots of the claims of one paper, one plot for each unit of their effects.

    If no claim of the paper has a pooled effect, the list holds a sentence that says so.

    judged  claims of any papers, with their verdicts
    paper   key of the paper
    """
    groups = families([item for item in judged if item.paper.key == paper])
    return [_picture(name, group) for name, group in groups.items()] or [
        Remarks(("No effect of this paper is pooled over several treebanks.",))
    ]


def _picture(name: str, group: Sequence[Judged]) -> Svg:
    """Return the forest plot of one group of `families`, with the effects as its CSV. name: name of the group."""
    caption = f"Effects of each treebank, pooled and published: {name}"
    picture = as_svg(forest(group), f"{caption}. {in_words(group)}", caption)
    return replace(picture, data=as_csv(drawn(group).set_index("claim")))


def drawn(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return the effects that a forest plot shows, one row per claim and treebank, pooled effect or published effect.

    Columns: claim (name), kind (treebank, pooled, prediction interval, published, threshold), treebank, effect, low,
    high, unit, verdict, p, p_adjusted. The p-values belong to the pooled effect.
    """
    rows = []
    for item in judged:
        assert item.claim is not None
        assert item.claim.than is not None
        assert item.effect is not None
        assert item.effect.pooled is not None
        effect, pool = item.effect, item.effect.pooled
        predicted = [_scale(item).back(float(end)) for end in (pool.predicted_low, pool.predicted_high)]
        none = (None, None)
        places = [("treebank", m.place, m.value, m.low, m.high, *none) for m in item.measured]
        pooled = ("pooled", "", effect.value, effect.low, effect.high, item.p, item.adjusted)
        others = [("prediction interval", "", effect.value, *predicted, *none)]
        others += [("published", "", value, *none, *none) for value in item.claim.effects]
        others += [("threshold", "", item.claim.than, *none, *none)]
        rows += [(item.claim.name, *row, _unit(item), item.verdict) for row in (*places, pooled, *others)]
    columns = ["claim", "kind", "treebank", "effect", "low", "high", "p", "p_adjusted", "unit", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def in_words(judged: Sequence[Judged]) -> str:
    """Describe a forest plot in words: each claim with its pooled effect, interval and verdict. For an alt text."""
    parts = []
    for item in judged:
        assert item.claim is not None
        assert item.effect is not None
        text = MEASURES[item.claim.measure].text
        number = text[text.index("{") : text.index("}") + 1]
        value, low, high = (number.format(x) for x in (item.effect.value, item.effect.low, item.effect.high))
        parts.append(f"{item.claim.short}: {value}{f' [{low}, {high}]' * item.effect.has_interval}, {_verdict(item)}")
    return typeset("; ".join(parts))


def _verdict(item: Judged) -> str:
    """Return the verdict of a claim with its p-value, adjusted for all claims of the paper."""
    return item.words if item.adjusted is None else f"{item.words}, adjusted {p_in_words(item.adjusted)}"


def forest(judged: Sequence[Judged]) -> Figure:
    """Draw a forest plot with one row per claim.

    In a row, each treebank is a dot on a thin grey line, which shows its 95 % interval. Below the treebanks, the pooled
    effect is a diamond. A thick line through the diamond shows its 95 % interval, and a dotted line the prediction
    interval. The published effect is an open diamond, and the threshold of the claim is a vertical line. The name and
    the verdict of the claim are above the row.

    judged  one group of `families`
    """
    heights = [_name_height(item) + POOLED + LINE * len(item.measured) for item in judged]
    log = _scale(judged[0]) is Scale.LOG
    with style():
        figure, (axes,) = panels(1, width=8.0, height=AXIS + sum(heights))
        if log:
            axes.set_xscale("log")
        axes.set_xlim(*_limits(judged, log))
        axes.set_ylim(-sum(heights), 0)
        top = 0.0
        for item, height in zip(judged, heights, strict=True):
            _row(axes, item, top, height)
            top -= height
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(_unit(judged[0]) + " (log scale)" * log)
        if log:
            log_axis(axes, "x")
    return figure


def _row(axes: Axes, item: Judged, top: float, height: float) -> None:
    """Draw the row of one claim in a forest plot. top, height: upper edge and height of the row, in inches."""
    claim, effect = item.claim, item.effect
    assert claim is not None
    assert claim.than is not None
    assert effect is not None
    assert effect.pooled is not None
    colour, ink, grey = VERDICTS.get(item.verdict, COLOURS["ink"]), COLOURS["ink"], COLOURS["grey"]
    names = _name_height(item)
    first, base, bottom = top - names - LINE / 2, top - height + 0.6 * POOLED, top - height
    bars = [(m.low, m.high, first - LINE * i, first - LINE * i) for i, m in enumerate(item.measured)]
    _segments(axes, bars, color=grey, linewidth=0.7)
    values = [measured.value for measured in item.measured]
    axes.plot(values, [first - LINE * i for i in range(len(values))], "o", color=ink, markersize=2)
    low, high = axes.get_xlim()
    predicted = [_scale(item).back(float(x)) for x in (effect.pooled.predicted_low, effect.pooled.predicted_high)]
    predicted = [min(max(x, low), high) for x in predicted]
    axes.plot(predicted, [base, base], color=ink, linewidth=1, linestyle=":")
    axes.plot([effect.low, effect.high], [base, base], color=colour, linewidth=2.4)
    axes.plot(effect.value, base, "D", color=colour, markersize=7)
    axes.plot([claim.than] * 2, [bottom, top - names], color=grey, linewidth=1.2)
    if claim.effects:
        published = [base] * len(claim.effects)
        axes.plot(claim.effects, published, "D", color=ink, markerfacecolor="none", markersize=4.5)
    place = axes.get_yaxis_transform()
    text = axes.text(0.005, top - 0.04, _name(item), transform=place, va="top", fontsize=9, color=text_colour(colour))
    text.set_in_layout(False)  # a long name must not make the panel narrower


def _name(item: Judged) -> str:
    """Return the short form of a claim and its verdict, in lines of at most LETTERS letters."""
    assert item.claim is not None
    claim = item.claim.short[:1].upper() + item.claim.short[1:]
    return wrapped(f"{claim}: {_verdict(item)}".replace("p = ", "p\u00a0=\u00a0"), LETTERS)


def _name_height(item: Judged) -> float:
    """Return the height of the name of a claim in inches."""
    return NAME * (1 + _name(item).count("\n")) + 0.04


def _segments(axes: Axes, ends: Sequence[tuple[float, float, float, float]], **look: Any) -> None:
    """Draw the lines (x0, x1, y0, y1) as one path, so that the figure stays small. Lines with NaN are not drawn."""
    points = [point for x0, x1, y0, y1 in ends for point in ((x0, y0), (x1, y1), (np.nan, np.nan))]
    axes.plot(*zip(*points, strict=True), **look)


def power(data: pd.DataFrame) -> Figure:
    """Draw the share of studies that detect an effect, against the size of the effect.

    There is one panel per number of treebanks, with one curve per number of seeds.

    data  result of `simulation.power`
    """
    designs = [str(name).partition(", ") for name in data.columns]
    sizes = list(dict.fromkeys(treebanks for treebanks, _, _ in designs))
    with style():
        figure, axes = panels(len(sizes), width=8.5, height=3.2)
        for panel, size in zip(axes, sizes, strict=True):
            names = {
                seeds: name
                for name, (treebanks, _, seeds) in zip(data.columns, designs, strict=True)
                if treebanks == size
            }
            ends = []
            for i, (seeds, name) in enumerate(names.items()):
                panel.plot(data.index, data[name], color=CYCLE[i], marker=MARKERS[i], markersize=3.5, linewidth=1.4)
                ends.append((float(data.index[-1]), float(data[name].iloc[-1]), seeds, CYCLE[i]))
            panel.axhline(80, color=COLOURS["grey"], linewidth=1)
            panel.set_xticks(np.arange(0, 0.61, 0.2))
            panel.set_ylim(0, 103)
            panel.set_title(size)
            panel.set_xlabel(str(data.index.name))
            panel.set_ylabel("studies that detect it, %")
            end_labels(panel, ends)
    return figure


def _unit(item: Judged) -> str:
    """Return the unit of the effect of a claim. A percentage and a difference of percentages have different units."""
    assert item.claim is not None
    text = MEASURES[item.claim.measure].text
    unit = text[text.index("}") + 1 :].strip()
    unit = unit[1:-1] if unit.startswith("(") and unit.endswith(")") else unit
    return "difference in %" if "+" in text and unit == "%" else unit


def _scale(item: Judged) -> Scale:
    """Return the scale on which the effect of a claim is pooled."""
    assert item.claim is not None
    return MEASURES[item.claim.measure].scale


def _limits(judged: Sequence[Judged], log: bool) -> tuple[float, float]:
    """Return the ends of the axis of a forest plot, which may cut off the wide prediction intervals.

    log  whether the axis is logarithmic
    """
    values: list[float] = []
    for item in judged:
        assert item.claim is not None
        assert item.effect is not None
        values += [x for measured in item.measured for x in (measured.value, measured.low, measured.high)]
        values += [item.effect.value, item.effect.low, item.effect.high, *item.claim.effects]
        values += [] if item.claim.than is None else [item.claim.than]
    finite = np.array([x for x in values if np.isfinite(x) and (x > 0 or not log)])
    finite = np.log(finite) if log else finite
    margin = 0.04 * max(float(np.ptp(finite)), 1e-9)
    low, high = float(finite.min()) - margin, float(finite.max()) + margin
    return (float(np.exp(low)), float(np.exp(high))) if log else (low, high)
