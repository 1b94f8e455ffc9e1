"""Draw the figures that several questions share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from treebound.plots.style import COLOURS, CYCLE, MARKERS, log_axis, panels, style


def times(data: pd.DataFrame) -> Figure:
    """Draw mean CPU time per sentence against sentence length.

    There is one panel for each model and space, and one curve for each solver and corpus.

    data  index: run, corpus, model, space, longer_than (words); one column per solver, in ms. longer_than is
          the lower end of a bin of sentence lengths. The first column is drawn on top, in black
    """
    groups = list(data.groupby(level=["model", "space"], sort=False))
    solvers = list(data.columns)
    colours = {name: CYCLE[i % len(CYCLE)] for i, name in enumerate(solvers[1:])}
    with style():
        figure, axes = panels(len(groups), height=3.3, width=8.5 if len(groups) > 1 else 6.0)
        for panel, (name, rows) in zip(axes, groups, strict=True):
            places = sorted(set(rows.index.get_level_values("longer_than")))
            for _, rows_of_corpus in rows.groupby(level="corpus", sort=False):
                curves = rows_of_corpus.groupby(level="longer_than").mean().reindex(places)
                for i, solver in enumerate(solvers):
                    panel.plot(
                        range(len(places)),
                        curves[solver],
                        color=colours.get(solver, COLOURS["ink"]),
                        marker=MARKERS[i],
                        markersize=3.5,
                        linewidth=1.2,
                        label=solver,
                        zorder=3 - (i > 0),
                    )
            log_axis(panel, "y")
            panel.set_xticks(range(len(places)), [f"over {low}" if low else "up to 10" for low in places])
            panel.set_title(f"{name[0]}\n{name[1]}", fontsize=9)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel("CPU ms per sentence (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        corpora = list(dict.fromkeys(data.index.get_level_values("corpus")))
        title = f"one curve for each of {', '.join(corpora)}" if len(corpora) > 1 else ", ".join(corpora)
        figure.legend(handles.values(), handles.keys(), title=title, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def bounds(trace: Sequence[dict[str, Any]]) -> Figure:
    """Draw the upper and lower bound of a search against the number of dynamic-program calls.

    The two bounds meet when the search ends, unless it reaches a limit.

    trace  bounds of a decoder's record (`Parse.record.bounds`): call (from 1), node, ub (upper bound of the node), lb
           (score of the best tree so far). Raises ValueError if it is empty
    """
    data = pd.DataFrame(trace)
    if data.empty:
        raise ValueError("an empty trace of bounds")
    upper, lower = data["ub"], data["lb"].cummax()
    lower, upper = (
        lower.where(lower > -1e15),
        upper.where(upper.abs() < 1e15),
    )  # a huge value means no bound or no tree yet
    with style():
        figure, (axes,) = panels(1, width=7.5, height=3.6)
        axes.fill_between(data["call"], lower, upper.clip(lower=lower), step="post", color=COLOURS["pale"], alpha=0.5)
        axes.step(data["call"], upper, where="post", color=COLOURS["vermilion"])
        axes.step(data["call"], lower, where="post", color=COLOURS["blue"])
        for call in data["call"][data["node"].ne(data["node"].shift()) & (data.index > 0)]:
            axes.axvline(call, color=COLOURS["pale"], linewidth=1, zorder=0)
        _label(axes, data["call"].iloc[0], upper.iloc[0], "upper bound of the node", COLOURS["vermilion"], (8, 4))
        _label(axes, data["call"].iloc[0], lower.iloc[0], "best tree found", COLOURS["blue"], (8, -12))
        axes.set_xlabel("dynamic-program calls (a vertical line marks a move to another node)")
        axes.set_ylabel("score")
        axes.margins(x=0.02, y=0.15)
    return figure


def accuracy_speed(data: pd.DataFrame, columns: int = 2) -> Figure:
    """Draw UAS against words per CPU second, one panel per corpus.

    A line joins the Pareto front: the systems that no other system beats on both axes. A system far below the others is
    drawn at the lower edge of the panel, with its UAS as text, so that the other systems keep enough space. The name of
    the most accurate system of a panel is written beside its point.

    data  corpus, group (colour), system (marker), label (written at the point, may be empty), uas (%), words_per_cpu_s,
          and optionally proved (% of the sentences; NaN counts as 0). Markers are full if all trees are proved, and
          half full if some are
    columns  largest number of panels side by side; 1 suits a narrow screen
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
            heights = front["uas"].clip(lower=floor)
            panel.plot(front["words_per_cpu_s"], heights, color=COLOURS["pale"], linewidth=4, zorder=1)
            top_row = rows["uas"].idxmax()
            for row in rows.itertuples():
                point = (row.words_per_cpu_s, max(row.uas, floor))
                written = row.label or (row.system if row.Index == top_row else "")
                label = written if row.uas >= floor else f"{row.label or row.system} ↓ {row.uas:.1f}"
                appearance = {"color": colours[row.group], "marker": markers[row.system], "markerfacecoloralt": "white"}
                panel.plot(*point, fillstyle=fills[row.Index], markersize=6, zorder=2, **appearance)
                offset = (
                    (0, 8) if row.label.startswith(("k =", "no")) else (0, -14)
                )  # avoid the label of a close neighbour
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


#: shares of proved trees (%) whose fill styles the legend explains, with their texts
PROOFS = {100.0: "all trees proved", 50.0: "some trees proved", 0.0: "no tree proved"}


def _fill(share: float) -> Literal["full", "left", "none"]:
    """Return the fill style of a marker for a share of proved trees (%)."""
    return "full" if share == 100 else "left" if share > 0 else "none"


def _proof_key(share: float, name: str) -> Line2D:
    """Return the legend entry that explains the fill style for a share of proved trees."""
    grey = COLOURS["grey"]
    return Line2D(
        [], [], color=grey, marker="o", fillstyle=_fill(share), markerfacecoloralt="white", linestyle="none", label=name
    )


def pareto(data: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that no other row beats in both uas and words_per_cpu_s, slowest first."""
    ordered = data.sort_values(["words_per_cpu_s", "uas"], ascending=False)
    return ordered[ordered["uas"] > ordered["uas"].cummax().shift(fill_value=float("-inf"))].iloc[::-1]


def scale(data: pd.DataFrame) -> Figure:
    """Draw cost per sentence and memory against the number of sentences.

    There are three panels (CPU time, wall time, peak memory), with one curve for each task and kind of workers.

    data  task, workers (name of their kind), sentences, cpu_ms_per_sentence, wall_ms_per_sentence, mebibytes
    """
    panel_titles = {"cpu_ms_per_sentence": "CPU time", "wall_ms_per_sentence": "Wall time", "mebibytes": "Peak memory"}
    with style():
        figure, axes = panels(3, width=9.5, height=3.6)
        for panel, (column, title) in zip(axes, panel_titles.items(), strict=True):
            for i, ((task, kind), rows) in enumerate(data.sort_values("sentences").groupby(["task", "workers"])):
                appearance: dict[str, Any] = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)]}
                panel.plot(rows["sentences"], rows[column], label=f"{task}, {kind}", **appearance)
            panel.set_title(title)
            panel.set_xlabel("sentences (log scale)")
            log_axis(panel, "x")
            if column == "mebibytes":
                panel.set_ylabel("MiB")
                panel.set_ylim(0, None)
            else:
                panel.set_ylabel("ms per sentence (log scale)")
                log_axis(panel, "y")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
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
    """Write text at `offset` points from (x, y)."""
    axes.annotate(content, (x, y), offset, textcoords="offset points", color=colour, fontsize=size, ha=ha)


def gains(data: pd.DataFrame, over: str = "the baseline", level: int = 95) -> Figure:
    """Draw differences in accuracy with their intervals: one line per corpus and one colour per system.

    A caller that exchanges the columns corpus and system gets one line per system and one colour per corpus.
    An interval that excludes zero is drawn thick, with a filled marker.

    data   corpus, system, difference, low, high (points; low and high are NaN if the difference was not tested)
    over   name of the baseline from which the differences are taken, for a label
    level  level of the intervals, %
    """
    corpora, systems = (list(dict.fromkeys(data[name])) for name in ("corpus", "system"))
    with style():
        figure, (axes,) = panels(1, width=8.0, height=1.2 + 0.34 * len(corpora))
        axes.axvline(0, color=COLOURS["grey"], linewidth=1)
        for i, system in enumerate(systems):
            rows = data[data["system"] == system]
            heights = [-corpora.index(name) - 0.62 * ((i + 0.5) / len(systems) - 0.5) for name in rows["corpus"]]
            for y, row in zip(heights, rows.itertuples(), strict=True):
                clear = row.low > 0 or row.high < 0
                axes.plot([row.low, row.high], [y, y], color=CYCLE[i], linewidth=2.6 if clear else 0.9)
                axes.plot(row.difference, y, MARKERS[i], color=CYCLE[i], markerfacecolor=CYCLE[i] if clear else "white")
            axes.plot([], [], MARKERS[i], color=CYCLE[i], label=system)
        axes.set_yticks([-i for i in range(len(corpora))], corpora)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"UAS points over {over}\nthick and filled: the {level} % interval excludes zero")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure


def on_printed_axes(data: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw mean time and dynamic-program calls by sentence length, on axes as long as the axes of a paper's figures.

    The sentences are parsed without pruning. The axes are linear, as in the paper, so that heights can be compared with
    the printed figures.

    data     corpus, lo, hi (inclusive ends of a bin of lengths), mean_s, mean_dp_calls
    printed  one row per figure of the paper: corpus, and the upper ends of the printed axes in words, seconds, DP calls
    """
    measures = {"mean_s": ("seconds", "mean time, s"), "mean_dp_calls": ("DP calls", "mean DP calls")}
    with style():
        figure, axes = panels(len(printed) * len(measures), height=3.0)
        for panel, (column, (end, label), axis) in zip(
            axes, ((c, labels, a) for c, labels in measures.items() for a in printed.to_dict("records")), strict=True
        ):
            for i, (corpus, curve) in enumerate(data.groupby("corpus", sort=False)):
                middle = (curve["lo"] + curve["hi"]) / 2
                panel.plot(middle, curve[column], color=CYCLE[i], marker=MARKERS[i], label=str(corpus))
            panel.set_xlim(0, axis["words"])
            panel.set_ylim(0, axis[end])
            panel.set_title(f"axes as printed for {axis['corpus']}")
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel(label)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    return figure
