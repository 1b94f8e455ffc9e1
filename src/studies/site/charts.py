"""Draw the figures that several questions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.site.speed_chart import accuracy_speed as accuracy_speed
from studies.site.speed_chart import pareto as pareto
from treebound.plots.style import (
    COLOURS,
    CYCLE,
    MARKERS,
    describe,
    distinct,
    label_lines,
    log_axis,
    note,
    panels,
    style,
    text_colour,
    thinned,
)
from treebound.plots.ticks import plain


def times(data: pd.DataFrame) -> Figure:
    """Draw CPU time per sentence against sentence length: one panel per model and space, one curve per solver.

    With several corpora, each point of a curve is the geometric mean over the corpora that have sentences of this
    length. A band reaches from the fastest to the slowest corpus. At most six solvers are drawn, and a note names the
    others.

    data  index: run, corpus, model, space, longer_than (words); one column per solver, in ms. longer_than is
          the lower end of a bin of sentence lengths. The first column is drawn on top, in black
    """
    groups = list(data.groupby(level=["model", "space"], sort=False))
    solvers = list(data.columns)[: len(CYCLE)]
    looks = dict(zip(solvers, [COLOURS["ink"], *CYCLE], strict=False))
    corpora = list(dict.fromkeys(data.index.get_level_values("corpus")))
    with style():
        figure, axes = panels(len(groups), height=3.3, width=8.5 if len(groups) > 1 else 6.5)
        for panel, (name, rows) in zip(axes, groups, strict=True):
            places = sorted(set(rows.index.get_level_values("longer_than")))
            logs = np.log(rows[solvers].astype(float)).groupby(level="longer_than")
            middle, low, high = (np.exp(part.reindex(places)) for part in (logs.mean(), logs.min(), logs.max()))
            for i, solver in enumerate(solvers):
                look: dict[str, Any] = {"color": looks[solver], "zorder": 3 - (i > 0)}
                if len(corpora) > 1:
                    panel.fill_between(range(len(places)), low[solver], high[solver], alpha=0.12, lw=0, **look)
                panel.plot(range(len(places)), middle[solver], marker=MARKERS[i], ms=3.5, lw=1.4, label=solver, **look)
            log_axis(panel, "y")
            panel.set_xticks(range(len(places)), _bins(places))
            panel.set_title(f"{name[0]},\n{name[1]}", fontsize=9)
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel("CPU ms per sentence (log scale)")
            label_lines(panel, size=8)
        spread = "; bands from the fastest to the slowest corpus" if len(corpora) > 1 else ""
        omitted = [str(name) for name in data.columns[len(solvers) :]]
        omission = f". Not drawn, see the table: {'; '.join(omitted)}" if omitted else ""
        kind = "Geometric means over" if len(corpora) > 1 else "Corpus:"
        note(figure, f"{kind} {', '.join(corpora)}{spread}{omission}.")
        describe(figure, _fastest(data[solvers]))
    return figure


def _bins(places: Sequence[int]) -> list[str]:
    """Return a name for each bin of sentence lengths: 0, 10 and 20 give `1-10`, `11-20` and `> 20`.

    places  exclusive lower end of each bin, ascending; the last bin has no upper end
    """
    ends = [*places[1:], None]
    return [f"{low + 1}\u2013{end}" if end else f"> {low}" for low, end in zip(places, ends, strict=True)]


def _fastest(data: pd.DataFrame) -> str:
    """State in how many rows of `data` the first solver is the fastest, and the longest mean time of each solver.

    A row is a panel, a corpus and a bin of lengths (see `times`). Rows without a time for every solver do not count.
    """
    first, compared = data.columns[0], data.dropna(how="any")
    wins = int((compared.idxmin(axis=1) == first).sum())
    slowest = ", ".join(f"{name} {plain(float(value))} ms" for name, value in data.max().items())
    return (
        f"{first} has the shortest time in {wins} of {len(compared)} cells (panel, corpus and length). "
        f"The longest mean times are {slowest}."
    )


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
    moves = data["call"][data["node"].ne(data["node"].shift()) & (data.index > 0)]
    kept = thinned(len(data))
    calls, lower, upper = data["call"].iloc[kept], lower.iloc[kept], upper.iloc[kept]
    with style():
        figure, (axes,) = panels(1, width=7.5, height=3.6)
        axes.fill_between(calls, lower, upper.clip(lower=lower), step="post", color=COLOURS["pale"], alpha=0.5)
        names = {"upper bound": (upper, COLOURS["vermilion"]), "best tree": (lower, COLOURS["blue"])}
        for name, (values, colour) in names.items():
            axes.step(calls, values, where="post", color=colour, label=name)
        drawn = len(moves) <= MOVES
        for call in moves if drawn else ():
            axes.axvline(call, color="#b0b0b0", linewidth=0.8, zorder=0)
        label_lines(axes)
        axes.set_title("Upper bound of the node and score of the best tree")
        axes.set_xlabel("dynamic-program calls" + (" (a vertical line marks a move to another node)" if drawn else ""))
        axes.set_ylabel("score")
        axes.margins(x=0.02, y=0.15)
        ends = [values.dropna().iloc[-1] if values.notna().any() else float("nan") for values in (upper, lower)]
        visited = f"{len(moves) + 1:,} nodes" if len(moves) else "1 node"
        result = f"After {data['call'].iloc[-1]:,} calls, the last upper bound is {ends[0]:,.2f} and the best tree has "
        describe(figure, f"{result}the score {ends[1]:,.2f}. The search visits {visited}.")
    return figure


#: largest number of moves to another node that the figure of bounds marks
MOVES = 60


def scale(data: pd.DataFrame) -> Figure:
    """Draw cost per sentence and memory against the number of sentences.

    There are three panels: CPU time, wall time and peak memory. Each pair of a task and a kind of workers has a curve.

    data  columns task, workers (name of the kind of workers), sentences (their number), cpu_ms_per_sentence,
          wall_ms_per_sentence, mebibytes
    """
    panel_titles = {"cpu_ms_per_sentence": "CPU time", "wall_ms_per_sentence": "Wall time", "mebibytes": "Peak memory"}
    with style():
        figure, axes = panels(3, width=9.5, height=3.6)
        for panel, (column, title) in zip(axes, panel_titles.items(), strict=True):
            for i, ((task, kind), rows) in enumerate(data.sort_values("sentences").groupby(["task", "workers"])):
                appearance: dict[str, Any] = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)]}
                panel.plot(rows["sentences"], rows[column], label=f"{task}, {kind}", **appearance)
            label_lines(panel, size=8)
            panel.set_title(title)
            panel.set_xlabel("sentences (log scale)")
            log_axis(panel, "x")
            if column == "mebibytes":
                panel.set_ylabel("MiB")
                panel.set_ylim(0, None)
            else:
                panel.set_ylabel("ms per sentence (log scale)")
                log_axis(panel, "y")
        largest = data[data["sentences"] == data["sentences"].max()]
        texts = [f"{r['task']}, {r['workers']}: {r['mebibytes']:,.0f} MiB" for r in largest.to_dict("records")]
        describe(figure, f"With {data['sentences'].max():,} sentences, the peak memory is {'; '.join(texts)}.")
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
    axes.annotate(content, (x, y), offset, textcoords="offset points", color=text_colour(colour), fontsize=size, ha=ha)


def gains(data: pd.DataFrame, over: str = "the baseline", level: int = 95) -> Figure:
    """Draw differences in accuracy with their intervals: one line per corpus and one colour per system.

    A caller that exchanges the columns corpus and system gets one line per system and one colour per corpus.
    An interval that excludes zero is drawn thick, with a filled marker.

    data   corpus, system, difference, low, high (points; low and high are NaN if the difference was not tested)
    over   name of the baseline from which the differences are taken, for a label
    level  level of the intervals, %
    """
    corpora, systems = (list(dict.fromkeys(data[name])) for name in ("corpus", "system"))
    step = min(0.16, 0.72 / len(systems))  # distance of two systems of a corpus; the distance of two corpora is 1
    with style():
        row = max(0.16 * len(systems) + 0.08, 0.3)  # inches
        figure, (axes,) = panels(1, width=8.0, height=1.4 + row * len(corpora))
        axes.axvline(0, color=COLOURS["grey"], linewidth=1)
        for i in range(0, len(corpora), 2):
            axes.axhspan(-i - 0.5, -i + 0.5, color="#f6f6f6", linewidth=0, zorder=0)
        for i, system in enumerate(systems):
            rows, colour, marker = data[data["system"] == system], CYCLE[i % len(CYCLE)], MARKERS[i % len(MARKERS)]
            heights = [-corpora.index(name) - step * (i - (len(systems) - 1) / 2) for name in rows["corpus"]]
            for y, point in zip(heights, rows.itertuples(), strict=True):
                clear = point.low > 0 or point.high < 0
                axes.plot([point.low, point.high], [y, y], color=colour, linewidth=2.6 if clear else 0.9)
                axes.plot(point.difference, y, marker, color=colour, markerfacecolor=colour if clear else "white")
            axes.plot([], [], marker, color=colour, label=system)
        axes.set_title(f"Difference in UAS, {level} % intervals")
        axes.set_yticks([-i for i in range(len(corpora))], corpora)
        axes.set_ylim(-len(corpora) + 0.5, 0.5)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"UAS points over {over}\nthick and filled: the {level} % interval excludes zero")
        figure.legend(loc="outside lower center", ncols=3, fontsize=8.5)
        describe(figure, _clear(data, systems))
    return figure


def _clear(data: pd.DataFrame, systems: Sequence[str]) -> str:
    """Count for every system the rows whose interval is above zero, below zero, and neither."""
    texts = []
    for system in systems:
        rows = data[data["system"] == system]
        above, below = int((rows["low"] > 0).sum()), int((rows["high"] < 0).sum())
        texts.append(f"{system}: {above} of {len(rows)} intervals are above zero and {below} below")
    return f"{'; '.join(texts)}."


def on_printed_axes(data: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw mean time and dynamic-program calls by sentence length, on axes with the ranges of a paper's figures.

    The sentences are parsed without pruning. At most six corpora are drawn: those with the longest times. The axes are
    linear, as in the paper, so that heights can be compared with the printed figures.

    data     corpus, lo, hi (inclusive ends of a bin of lengths), mean_s, mean_dp_calls
    printed  one row per figure of the paper: corpus, and the upper ends of the printed axes in words, seconds, DP calls
    """
    shown = distinct({str(c): float(rows["mean_s"].max()) for c, rows in data.groupby("corpus", sort=False)})
    data = data[data["corpus"].isin(shown)]
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
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8.5)
        texts = [f"{c} {rows['mean_s'].max():.2g} s" for c, rows in data.groupby("corpus", sort=False)]
        describe(figure, f"The longest mean time of a bin of lengths is {', '.join(texts)}.")
    return figure
