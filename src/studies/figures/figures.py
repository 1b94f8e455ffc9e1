"""The figures of the report. DataFrames in, `matplotlib.figure.Figure` out; see `svg.as_svg` for showing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from treebound.plots.style import COLOURS, CYCLE, MARKERS, log_axis, panels, style


def bounds(trace: Sequence[dict[str, Any]]) -> Figure:
    """Upper and lower bound against the number of dynamic-program calls, until they meet (or a limit is hit).

    trace  of a decoder's record (`Parse.record.bounds`): call (from 1), node, ub of that node, lb (best tree so far)
    """
    data = pd.DataFrame(trace)
    if data.empty:
        raise ValueError("an empty trace of bounds")
    upper, lower = data["ub"], data["lb"].cummax()
    lower, upper = lower.where(lower > -1e15), upper.where(upper.abs() < 1e15)  # "none yet", "no tree"
    with style():
        figure, (axes,) = panels(1, width=7.5, height=3.6)
        axes.fill_between(data["call"], lower, upper.clip(lower=lower), step="post", color=COLOURS["pale"], alpha=0.5)
        axes.step(data["call"], upper, where="post", color=COLOURS["vermilion"])
        axes.step(data["call"], lower, where="post", color=COLOURS["blue"])
        for call in data["call"][data["node"].ne(data["node"].shift()) & (data.index > 0)]:
            axes.axvline(call, color=COLOURS["pale"], linewidth=1, zorder=0)
        _label(axes, data["call"].iloc[0], upper.iloc[0], "upper bound of the node", COLOURS["vermilion"], (8, 4))
        _label(axes, data["call"].iloc[0], lower.iloc[0], "best tree found", COLOURS["blue"], (8, -12))
        axes.set_xlabel("calls of the dynamic program (a vertical line: the search moves to another node)")
        axes.set_ylabel("score")
        axes.margins(x=0.02, y=0.15)
    return figure


def accuracy_speed(data: pd.DataFrame, columns: int = 2) -> Figure:
    """UAS against words per CPU second, one panel a corpus; the line joins the systems that no other one beats on both.

    A system far below the others stands at the lower edge, with its figure, so that these are not pressed together.

    data  corpus, group (colour), system (marker), label (written at the point, may be empty), uas (%),
          words_per_cpu_s, and, if it is there, proved (% of the sentences; NaN: 0): markers are full where all trees
          are, half full where some are
    columns  of panels at most: one for a narrow screen
    """
    corpora, groups, systems = (list(dict.fromkeys(data[c])) for c in ("corpus", "group", "system"))
    colours, markers = dict(zip(groups, cycle(CYCLE))), dict(zip(systems, cycle(MARKERS)))
    shares = data["proved"] if "proved" in data else pd.Series(100.0, data.index)
    fills = {i: _fill(share) for i, share in shares.items()}
    with style():
        across = min(columns, len(corpora))
        figure, axes = panels(len(corpora), columns=columns, height=3.8, width=(5.5, 8.5)[across > 1])
        for panel, corpus in zip(axes, corpora, strict=True):
            rows = data[data["corpus"] == corpus]
            top, middle = rows["uas"].max(), rows["uas"].median()
            floor = middle - max(4 * (top - middle), 1.0)
            front = pareto(rows)
            seen = front["uas"].clip(lower=floor)
            panel.plot(front["words_per_cpu_s"], seen, color=COLOURS["pale"], linewidth=4, zorder=1)
            for row in rows.itertuples():
                point = (row.words_per_cpu_s, max(row.uas, floor))
                label = row.label if row.uas >= floor else f"{row.label or row.system} ↓ {row.uas:.1f}"
                look = {"color": colours[row.group], "marker": markers[row.system], "markerfacecoloralt": "white"}
                panel.plot(*point, fillstyle=fills[row.Index], markersize=6, zorder=2, **look)
                offset = (0, 8) if row.label.startswith(("k =", "no")) else (0, -14)  # neighbours are often close
                _label(panel, *point, label, colours[row.group], offset, size=8, ha="center")
            log_axis(panel, "x")
            panel.set_title(corpus)
            panel.set_xlabel("words per CPU second (log scale)")
            panel.set_ylabel("UAS, %")
            panel.margins(x=0.12, y=0.1)
        keys = [Line2D([], [], color=colours[g], linewidth=4, label=g) for g in groups]
        keys += [Line2D([], [], marker=markers[s], label=s, color=COLOURS["grey"], linestyle="none") for s in systems]
        keys += [_proof_key(share, name) for share, name in PROOFS.items() if "proved" in data]
        figure.legend(handles=keys, loc="outside lower center", ncols=1 + across, fontsize=8)
    return figure


#: shares of proved trees that a legend explains
PROOFS = {100.0: "all trees proved", 50.0: "some", 0.0: "none"}


def _fill(share: float) -> Literal["full", "left", "none"]:
    """How full a marker is that stands for so many proofs (%)."""
    return "full" if share == 100 else "left" if share > 0 else "none"


def _proof_key(share: float, name: str) -> Line2D:
    """The entry of a legend for such markers."""
    grey = COLOURS["grey"]
    return Line2D(
        [], [], color=grey, marker="o", fillstyle=_fill(share), markerfacecoloralt="white", linestyle="none", label=name
    )


def pareto(data: pd.DataFrame) -> pd.DataFrame:
    """Rows that no other row beats in both uas and words_per_cpu_s, slowest first."""
    ordered = data.sort_values(["words_per_cpu_s", "uas"], ascending=False)
    return ordered[ordered["uas"] > ordered["uas"].cummax().shift(fill_value=float("-inf"))].iloc[::-1]


def against_length(data: pd.DataFrame, value: str, label: str) -> Figure:
    """One curve a pruning setting against sentence length, one panel a corpus (Figures 4 and 5 of Qian & Liu 2013).

    data   corpus, k, lo, hi (bounds of the length bin, inclusive), sentences, and the column `value`
    label  of the value axis, with its unit
    """
    corpora = list(dict.fromkeys(data["corpus"]))
    settings = list(dict.fromkeys(data["k"].astype(str)))
    with style():
        figure, axes = panels(len(corpora), height=3.4, width=8.0 if len(corpora) > 1 else 6.0)
        for panel, corpus in zip(axes, corpora, strict=True):
            for i, k in enumerate(settings):
                curve = data[(data["corpus"] == corpus) & (data["k"].astype(str) == k)].sort_values("lo")
                if curve.empty:
                    continue
                middle = (curve["lo"] + curve["hi"]) / 2
                panel.plot(middle, curve[value], color=CYCLE[i], marker=MARKERS[i], label=pruning(k))
            log_axis(panel, "y")
            panel.set_title(corpus)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel(f"{label} (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), fontsize=8)
    return figure


def pruning(k: object) -> str:
    """Name of a pruning setting in legends and tables."""
    return "no pruning" if str(k) == "none" else f"k = {k}"


def tuning(data: pd.DataFrame, measures: dict[str, str]) -> Figure:
    """Configurations of the search on the same scores: one panel a measure, one line a corpus, log scale.

    data      corpus, decoder and the columns named in `measures`; the first decoder of a corpus is what the others
              are compared with, and how many times less they need is written at each
    measures  column -> title of its panel
    """
    corpora, decoders = (list(dict.fromkeys(data[c])) for c in ("corpus", "decoder"))
    order = ["vermilion", "green", "blue", "purple", "orange"]
    with style():
        figure, axes = panels(
            len(measures), columns=len(measures), width=2.8 * len(measures) + 1.2, height=1.4 + 0.5 * len(corpora)
        )
        for panel, (column, title) in zip(axes, measures.items(), strict=True):
            for y, corpus in enumerate(corpora):
                values = data[data["corpus"] == corpus].set_index("decoder")[column]
                panel.plot([values.min(), values.max()], [y, y], color=COLOURS["pale"], linewidth=4, zorder=1)
                for i, (decoder, value) in enumerate(values.items()):
                    at = decoders.index(str(decoder))
                    panel.plot(value, y, color=COLOURS[order[at]], marker=MARKERS[at], linestyle="none", zorder=2)
                    if i:
                        ratio = f"{values.iloc[0] / value:.1f} ×"
                        above = (0, 6 if i % 2 else -14)  # neighbours are often close
                        _label(panel, value, y, ratio, COLOURS[order[at]], above, size=8, ha="center")
            log_axis(panel, "x")
            panel.set_yticks(range(len(corpora)), corpora if panel is axes[0] else [""] * len(corpora))
            panel.set_ylim(len(corpora) - 0.3, -0.7)
            panel.margins(x=0.2)
            panel.set_title(title, fontsize=9)
        keys = [
            Line2D([], [], color=COLOURS[order[i]], marker=MARKERS[i], linestyle="none", label=decoder)
            for i, decoder in enumerate(decoders)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=8)
    return figure


def reliability(margins: Mapping[str, np.ndarray], marginals: Mapping[str, np.ndarray]) -> Figure:
    """Accuracy of words by their confidence, with 95 % intervals: margins on the left, probabilities on the right.

    Both as `metrics.calibration.reliability` returns them. The diagonal is where a probability means what it says.
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
        right.annotate("as often as promised", (0.12, 12), (6, -4), textcoords="offset points", color=COLOURS["grey"])
        right.set_xlim(0, 1.02)
        right.set_ylim(0, 102)
        right.set_xlabel("mean probability of the bin")
        right.set_title("Marginal")
        left.set_xlabel("margin, median of the bin (log scale)")
        left.set_title("Margin")
        log_axis(left, "x")
    return figure


def coverage(curves: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Accuracy where only the most confident words are kept, one curve for each kind of confidence.

    curves  name -> `metrics.calibration.coverage`
    """
    with style():
        figure, (axes,) = panels(1, width=6.0, height=3.6)
        for i, (name, data) in enumerate(curves.items()):
            axes.plot(100 * data["kept"], 100 * data["accuracy"], color=CYCLE[i], label=name)
        axes.legend(loc="lower left")
        axes.set_xlabel("words kept, the most confident first, %")
        axes.set_ylabel("of these with the right head, %")
        axes.set_xlim(0, 100)
    return figure


def sentence_by_sentence(data: pd.DataFrame, label: str) -> Figure:
    """Two configurations on the same sentences, one dot a sentence: below the diagonal the second needs less.

    data  two columns, named after the configurations: one positive value a sentence
    """
    with style():
        figure, (axes,) = panels(1, width=4.6, height=4.4)
        first, second = data.columns
        low, high = data.min().min(), data.max().max()
        axes.plot([low, high], [low, high], color=COLOURS["grey"], linewidth=1)
        axes.scatter(data[first], data[second], s=9, alpha=0.4, color=COLOURS["blue"], edgecolors="none")
        axes.set_xlabel(f"{label}, {first} (log scale)")
        axes.set_ylabel(f"{label}, {second} (log scale)")
        log_axis(axes, "x")
        log_axis(axes, "y")
        axes.set_aspect("equal", "box")
    return figure


def unproved(data: pd.DataFrame) -> Figure:
    """Share of the sentences that so many DP calls leave unproved, one curve a configuration, one panel a corpus.

    data  corpus, configuration, curve (DP calls -> % of the sentences that are proved by then); the first configuration
          is drawn on top, in black. A curve ends where all are proved, or where nothing is proved any more
    """
    corpora, names = (list(dict.fromkeys(data[c])) for c in ("corpus", "configuration"))
    looks = {name: (CYCLE[i % 6], ("-", "--", ":", "-.")[i // 6 % 4]) for i, name in enumerate(names[1:])}
    with style():
        figure, axes = panels(len(corpora), height=4.2, width=8.5 if len(corpora) > 1 else 6.5)
        for panel, corpus in zip(axes, corpora, strict=True):
            for name, curve in data[data["corpus"] == corpus].set_index("configuration")["curve"].items():
                final = max(curve.values())
                calls = [c for c, share in curve.items() if share < final]
                calls += [c for c, share in curve.items() if share == final][:1] if final < 100 else []
                colour, dashes = looks.get(str(name), (COLOURS["ink"], "-"))
                front = 3 if name == names[0] else 2
                panel.plot(calls, [100 - curve[c] for c in calls], color=colour, ls=dashes, zorder=front, label=name)
            log_axis(panel, "x")
            log_axis(panel, "y")
            panel.set_title(corpus)
            panel.set_xlabel("DP calls (log scale)")
            panel.set_ylabel("sentences not yet proved, % (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def scale(data: pd.DataFrame) -> Figure:
    """Time and memory against the size of the input, one curve for each number of workers.

    data  workers, words, cpu_s (seconds of all processes: what a busy machine does not change), mebibytes
    """
    with style():
        figure, (left, right) = panels(2, width=8.5, height=3.4)
        right.sharex(left)  # memory may have been measured of fewer sizes
        for i, (workers, rows) in enumerate(data.sort_values("words").groupby("workers")):
            name = f"{workers} worker" + "s" * (workers != 1)
            look = {"color": CYCLE[i], "marker": MARKERS[i], "label": name}
            left.plot(rows["words"], rows["cpu_s"], **look)
            right.plot(rows["words"], rows["mebibytes"], **look)
        for panel in (left, right):
            panel.set_xlabel("words (log scale)")
            log_axis(panel, "x")
        left.set_title("Time")
        left.set_ylabel("CPU seconds (log scale)")
        log_axis(left, "y")
        right.set_title("Memory")
        right.set_ylabel("MiB")
        right.set_ylim(0, None)
        left.legend(loc="upper left")
    return figure


def _label(
    axes: Axes,
    x: float,
    y: float,
    content: str,
    colour: str,
    offset: tuple[int, int],
    *,
    size: float = 9,
    ha: str = "left",
) -> None:
    """Text at `offset` points from (x, y), in the colour of what it names."""
    axes.annotate(content, (x, y), offset, textcoords="offset points", color=colour, fontsize=size, ha=ha)
