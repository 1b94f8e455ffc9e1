"""Figures that several questions draw: bounds, accuracy against speed, times by length, gains with their intervals."""

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
    """Mean CPU time of a sentence against its length, a curve a solver and corpus, one panel a model and space.

    data  index: run, corpus, model, space, longer_than (words); a column a solver, in ms. The first column is drawn on
          top, in black
    """
    groups = list(data.groupby(level=["model", "space"], sort=False))
    solvers = list(data.columns)
    looks = {name: CYCLE[i % len(CYCLE)] for i, name in enumerate(solvers[1:])}
    with style():
        figure, axes = panels(len(groups), height=3.3, width=8.5 if len(groups) > 1 else 6.0)
        for panel, (name, rows) in zip(axes, groups, strict=True):
            places = sorted(set(rows.index.get_level_values("longer_than")))
            for _, of in rows.groupby(level="corpus", sort=False):
                curves = of.groupby(level="longer_than").mean().reindex(places)
                for i, solver in enumerate(solvers):
                    panel.plot(
                        range(len(places)),
                        curves[solver],
                        color=looks.get(solver, COLOURS["ink"]),
                        marker=MARKERS[i],
                        markersize=3.5,
                        linewidth=1.2,
                        label=solver,
                        zorder=3 - (i > 0),
                    )
            log_axis(panel, "y")
            panel.set_xticks(range(len(places)), [f"over {low}" if low else "to 10" for low in places])
            panel.set_title(f"{name[0]}\n{name[1]}", fontsize=9)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel("CPU ms of a sentence (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        corpora = list(dict.fromkeys(data.index.get_level_values("corpus")))
        title = f"a curve each of {', '.join(corpora)}" if len(corpora) > 1 else ", ".join(corpora)
        figure.legend(handles.values(), handles.keys(), title=title, loc="outside lower center", ncols=3, fontsize=8)
    return figure


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

    A system far below the others stands at the lower edge, with its figure, so that these are not pressed together. The
    most accurate system of a panel is named.

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
            top_row = rows["uas"].idxmax()
            for row in rows.itertuples():
                point = (row.words_per_cpu_s, max(row.uas, floor))
                named = row.label or (row.system if row.Index == top_row else "")
                label = named if row.uas >= floor else f"{row.label or row.system} ↓ {row.uas:.1f}"
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


def scale(data: pd.DataFrame) -> Figure:
    """Cost of a sentence and memory against the number of sentences, a curve for each task and kind of workers.

    data  task, workers (the kind), sentences, cpu_ms_per_sentence, wall_ms_per_sentence, mebibytes
    """
    shown = {"cpu_ms_per_sentence": "CPU time", "wall_ms_per_sentence": "Wall time", "mebibytes": "Peak memory"}
    with style():
        figure, axes = panels(3, width=9.5, height=3.6)
        for panel, (column, title) in zip(axes, shown.items(), strict=True):
            for i, ((task, kind), rows) in enumerate(data.sort_values("sentences").groupby(["task", "workers"])):
                look: dict[str, Any] = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)]}
                panel.plot(rows["sentences"], rows[column], label=f"{task}, {kind}", **look)
            panel.set_title(title)
            panel.set_xlabel("sentences (log scale)")
            log_axis(panel, "x")
            if column == "mebibytes":
                panel.set_ylabel("MiB")
                panel.set_ylim(0, None)
            else:
                panel.set_ylabel("ms a sentence (log scale)")
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
    """Text at `offset` points from (x, y), in the colour of what it names."""
    axes.annotate(content, (x, y), offset, textcoords="offset points", color=colour, fontsize=size, ha=ha)


def gains(data: pd.DataFrame, over: str = "the baseline", level: int = 95) -> Figure:
    """Differences in accuracy with their intervals: a line a corpus, a colour a system (or the other way round); an
    interval that keeps clear of zero is drawn full.

    data   corpus, system, difference, low, high (points; low and high NaN: not tested)
    over   what they are gains over
    level  of the intervals, %
    """
    corpora, systems = (list(dict.fromkeys(data[name])) for name in ("corpus", "system"))
    with style():
        figure, (axes,) = panels(1, width=8.0, height=1.2 + 0.34 * len(corpora))
        axes.axvline(0, color=COLOURS["grey"], linewidth=1)
        for i, system in enumerate(systems):
            rows = data[data["system"] == system]
            place = [-corpora.index(name) - 0.62 * ((i + 0.5) / len(systems) - 0.5) for name in rows["corpus"]]
            for y, row in zip(place, rows.itertuples(), strict=True):
                clear = row.low > 0 or row.high < 0
                axes.plot([row.low, row.high], [y, y], color=CYCLE[i], linewidth=2.6 if clear else 0.9)
                axes.plot(row.difference, y, MARKERS[i], color=CYCLE[i], markerfacecolor=CYCLE[i] if clear else "white")
            axes.plot([], [], MARKERS[i], color=CYCLE[i], label=system)
        axes.set_yticks([-i for i in range(len(corpora))], corpora)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"UAS points over {over}\nthick and filled: the {level} % interval keeps clear of zero")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure


def on_printed_axes(data: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Mean time and calls by sentence length without pruning, on the very axes of a paper's figures; linear, so that
    what lies low there lies low here.

    data     corpus, lo, hi (of a bin of lengths, inclusive), mean_s, mean_dp_calls
    printed  corpus of the paper, words, seconds, DP calls: where its axes end
    """
    measures = {"mean_s": ("seconds", "mean time, s"), "mean_dp_calls": ("DP calls", "mean DP calls")}
    with style():
        figure, axes = panels(len(printed) * len(measures), height=3.0)
        for panel, (column, (end, label), axis) in zip(
            axes, ((c, named, a) for c, named in measures.items() for a in printed.to_dict("records")), strict=True
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
