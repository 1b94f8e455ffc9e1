"""Figures that compare the published search with the tuned search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from treebound.plots.style import (
    COLOURS,
    CYCLE,
    MARKERS,
    NOTE_LETTERS,
    describe,
    distinct,
    log_axis,
    panels,
    style,
    text_colour,
    wrapped,
)


def tuning(data: pd.DataFrame, measures: dict[str, str]) -> Figure:
    """Draw the work of search configurations on the same scores: one panel per measure, one line per corpus, log scale.

    data      columns corpus, decoder and the columns that `measures` names. The first decoder of a corpus is the
              reference; each other decoder is labelled with the factor by which it needs less work.
    measures  column -> title of its panel
    """
    corpora, decoders = (list(dict.fromkeys(data[c])) for c in ("corpus", "decoder"))
    order = ["vermilion", "green", "blue", "purple", "brown"]
    with style():
        figure, axes = panels(
            len(measures), columns=len(measures), width=2.8 * len(measures) + 1.2, height=1.4 + 0.5 * len(corpora)
        )
        for panel, (column, title) in zip(axes, measures.items(), strict=True):
            for y, corpus in enumerate(corpora):
                values = data[data["corpus"] == corpus].set_index("decoder")[column]
                panel.plot([values.min(), values.max()], [y, y], color=COLOURS["pale"], linewidth=4, zorder=1)
                for i, (decoder, value) in enumerate(values.items()):
                    position = decoders.index(str(decoder))
                    panel.plot(
                        value, y, color=COLOURS[order[position]], marker=MARKERS[position], linestyle="none", zorder=2
                    )
                    if i:
                        ratio = f"{values.iloc[0] / value:.1f} ×"
                        above = (0, 6 if i % 2 else -14)  # neighbouring points are often close
                        text: dict[str, Any] = {"color": text_colour(COLOURS[order[position]]), "fontsize": 8.5}
                        panel.annotate(ratio, (value, y), above, textcoords="offset points", ha="center", **text)
            log_axis(panel, "x")
            panel.set_yticks(range(len(corpora)), corpora if panel is axes[0] else [""] * len(corpora))
            panel.set_ylim(len(corpora) - 0.3, -0.7)
            panel.margins(x=0.2)
            panel.set_title(title, fontsize=9)
        keys = [
            Line2D([], [], color=COLOURS[order[i]], marker=MARKERS[i], linestyle="none", label=decoder)
            for i, decoder in enumerate(decoders)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=8.5)
        describe(figure, _ratios(data, measures))
    return figure


def _ratios(data: pd.DataFrame, measures: dict[str, str]) -> str:
    """State the smallest and the largest factor by which the last configuration needs less work than the first."""
    first, last = (getattr(data.groupby("corpus", sort=False)[list(measures)], name)() for name in ("first", "last"))
    ratios, names = first / last, (data["decoder"].iloc[0], data["decoder"].iloc[-1])
    texts = [f"{title}: {ratios[c].min():.1f} to {ratios[c].max():.1f} times" for c, title in measures.items()]
    return f"{names[1]} needs less work than {names[0]}, as factors over the corpora: {'; '.join(texts)}."


def sentence_by_sentence(data: pd.DataFrame, label: str) -> Figure:
    """Draw the work of two configurations on the same sentences; a larger dot stands for more sentences.

    A dot below the diagonal is a sentence for which the second configuration needs less work. Work is rounded to GRID
    values per power of ten, so that equal and nearly equal sentences share a dot.

    data  two columns, named after the configurations, with one positive number per sentence, for example DP calls
    """
    first, second = data.columns
    rounded = 10 ** ((np.log10(data.astype(float)) * GRID).round() / GRID)
    counts = rounded.value_counts().rename("sentences").reset_index()
    with style():
        figure, (axes,) = panels(1, width=4.6, height=4.8)
        low, high = data.min().min(), data.max().max()
        axes.plot([low, high], [low, high], color=COLOURS["grey"], linewidth=1)
        for (least, most), size in SIZES.items():
            dots = counts[counts["sentences"].between(least, most)]
            name = "1 sentence" if most == 1 else f"{least}\u2013{most}" if np.isfinite(most) else f"{least} or more"
            axes.plot(dots[first], dots[second], "o", ms=size, color=COLOURS["blue"], mew=0, label=name)
        axes.set_title(f"{label} per sentence")
        axes.set_xlabel(f"{first} (log scale)")
        axes.set_ylabel(f"{second} (log scale)")
        log_axis(axes, "x")
        log_axis(axes, "y")
        axes.set_aspect("equal", "box")
        figure.legend(loc="outside lower center", ncols=4, fontsize=8.5, handletextpad=0.1, columnspacing=1)
        less, same = ((data[second] < data[first]).mean(), (data[second] == data[first]).mean())
        describe(
            figure,
            f"{second} needs less work than {first} in {100 * less:.1f} % of {len(data):,} sentences, "
            f"and the same work in {100 * same:.1f} %.",
        )
    return figure


#: rounded values per power of ten
GRID = 16
#: numbers of sentences (smallest, largest) -> diameter of their dot in typographic points
SIZES = {(1, 1): 2.0, (2, 5): 3.5, (6, 20): 5.5, (21, np.inf): 8.0}


def unproved(data: pd.DataFrame) -> Figure:
    """Draw the share of sentences without a proof against DP calls: one curve per configuration, one panel per corpus.

    The first configuration is drawn in black. The figure also has the five configurations that differ most from the
    first one, and a note names the others. A dotted line falls to the axis where the last sentence is proved. A cross
    ends a curve with sentences that stay without a proof. The panels share a legend, because their curves end close
    to each other.

    data  columns corpus, configuration and curve (DP calls -> % of the sentences that are proved by then)
    """
    corpora, names = (list(dict.fromkeys(data[c])) for c in ("corpus", "configuration"))
    scores = {str(name): _distance(data, str(name), names[0]) for name in names}
    drawn = distinct(scores | {names[0]: float("inf")})
    looks = dict(zip(drawn, [COLOURS["ink"], *CYCLE], strict=False))
    shares = [100 - share for curve in data["curve"] for share in curve.values() if share < 100]
    floor = min(shares, default=1.0) / 2  # lower end of the axis
    with style():
        figure, axes = panels(len(corpora), height=3.6, width=8.5 if len(corpora) > 1 else 6.5)
        ends = []
        for panel, corpus in zip(axes, corpora, strict=True):
            curves = data[data["corpus"] == corpus].set_index("configuration")["curve"]
            for name in (name for name in drawn if name in curves):
                look: dict[str, Any] = {"color": looks[name], "zorder": 3 if name == names[0] else 2}
                panel.plot(*_until_last_proof(curves[name]), label=name, **look)
                ends.append(_end(panel, curves[name], floor, {**look, "label": name}))
            log_axis(panel, "x")
            log_axis(panel, "y")
            panel.set_ylim(floor, 130)
            panel.set_title(corpus)
            panel.set_xlabel("DP calls (log scale)")
            panel.set_ylabel("sentences without proof, % (log scale)", fontsize=9)
        keys = [Line2D([], [], color=looks[name], label=name) for name in drawn]
        grey = COLOURS["grey"]
        if any(ends):
            keys.append(Line2D([], [], color=grey, linestyle=":", label="the last sentence is proved"))
        if not all(ends):
            keys.append(Line2D([], [], color=grey, marker="x", ls="none", mew=2, label="some are never proved"))
        omitted, text = [name for name in names if name not in drawn], ""
        if omitted:
            largest = max(scores[name] for name in omitted)
            text = f"Not drawn, at most {largest:.1f} points from {names[0]} in every panel: {', '.join(omitted)}."
        # the note is the title of the legend, because a note below the panels would overlap the legend
        title = wrapped(text, int(figure.get_figwidth() * NOTE_LETTERS))
        legend = figure.legend(handles=keys, title=title, loc="outside lower center", ncols=3, fontsize=8.5)
        legend.set_alignment("left")
        legend.get_title().set_fontsize(8)
        describe(figure, _most_unproved(data[data["configuration"].isin(drawn)]))
    return figure


def _end(panel: Axes, curve: dict[int, float], floor: float, look: dict[str, Any]) -> bool:
    """Draw the end of a curve, and return whether all sentences are proved.

    A dotted line to the lower end of the axis (`floor`, %) shows that all are proved, and a cross that some are not.
    """
    calls, shares = _until_last_proof(curve)
    if max(curve.values()) < 100:
        panel.plot(calls[-1:], shares[-1:], "x", ms=7, mew=2, **look)
        return False
    proved = min(c for c, share in curve.items() if share == 100)
    start = (calls[-1], shares[-1]) if calls else (proved, 100.0)
    panel.add_collection(LineCollection([[start, (proved, floor)]], colors=look["color"], linestyles=":"))
    return True


def _until_last_proof(curve: dict[int, float]) -> tuple[list[int], list[float]]:
    """Return the DP calls of a curve up to the last proof, and the shares (%) of sentences without a proof."""
    final = max(curve.values())
    calls = [c for c, share in curve.items() if share < final]
    calls += [c for c, share in curve.items() if share == final][:1] if final < 100 else []
    return calls, [100 - curve[c] for c in calls]


def _distance(data: pd.DataFrame, name: str, first: str) -> float:
    """Return the largest distance of the curve of a configuration from the curve of the first, in points."""
    curves = data.set_index(["corpus", "configuration"])["curve"]
    return max(
        (
            abs(curves[corpus, name][calls] - share)
            for corpus in dict.fromkeys(data["corpus"])
            if (corpus, name) in curves and (corpus, first) in curves
            for calls, share in curves[corpus, first].items()
            if calls in curves[corpus, name]
        ),
        default=0.0,
    )


def _most_unproved(data: pd.DataFrame) -> str:
    """State the mean share of sentences that each configuration leaves without a proof."""
    shares = data["curve"].map(lambda curve: 100 - max(curve.values()))
    shares = shares.groupby(data["configuration"], sort=False).mean()
    texts = [f"{name} {share:.1f} %" for name, share in shares.items()]
    return f"At the limit of DP calls, sentences without a proof (mean over the panels): {', '.join(texts)}."
