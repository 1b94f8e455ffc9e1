"""Draw accuracy against speed, one panel per corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from treebound.plots.style import COLOURS, CYCLE, MARKERS, describe, log_axis, panels, style, text_colour, wrapped

#: letters in a line of a name, letters in a line below a panel
LETTERS, BELOW = 18, 58
#: rows within this distance are close, as a share of the width and the height that the rows of a panel take up
CLOSE = 0.1
#: family of the parsers of other projects
OTHERS = "others"
#: texts of the families of rows in the legend; other families are shown under their own name
FAMILIES = {
    "mira": "graph-based, MIRA",
    "perceptron": "graph-based, perceptron",
    "all factors, by pruning": "graph-based, all factors, k candidate heads",
    "transitions": "transition-based",
    "sampling": "sampling",
    "others": "other projects",
}


def accuracy_speed(data: pd.DataFrame, columns: int = 2) -> Figure:
    """Draw UAS against words per CPU second, one panel per corpus and one colour per family.

    A line joins the Pareto front: the systems that no other system beats on both axes. Systems far below the others are
    not drawn. The text below the panel lists them with their UAS and speed. Systems of the front among them get a
    star, and the line leaves the panel at the bottom. The systems of `chosen` are labelled with their names, and the
    other systems are small marks.

    data     corpus, group (the family), system, label (variant of the system, may be empty), uas (%),
             words_per_cpu_s, and optionally proved (% of the sentences; NaN counts as 0). Markers are full if all trees
             are proved, and half full if some are
    columns  largest number of panels side by side
    """
    corpora, groups = (list(dict.fromkeys(data[c])) for c in ("corpus", "group"))
    looks: Mapping[str, Mapping[str, Any]] = {
        g: {"color": CYCLE[i % 6], "marker": MARKERS[i % 6]} for i, g in enumerate(groups)
    }
    shares = data["proved"].fillna(0.0) if "proved" in data else pd.Series(100.0, data.index)
    data = data.assign(share=shares, name=_names(data))
    small = False
    with style():
        across = min(columns, len(corpora))
        figure, axes = panels(len(corpora), columns=columns, height=4.2, width=(6.5, 8.5)[across > 1])
        for panel, corpus in zip(axes, corpora, strict=True):
            rows = data[data["corpus"] == corpus]
            shown = visible(rows)
            front, hidden = pareto(shown), pareto(rows).index.difference(shown.index)
            panel.plot(front["words_per_cpu_s"], front["uas"], drawstyle="steps-pre", color="#9a9a9a", lw=1.2, zorder=1)
            named = chosen(shown)
            small |= len(named) < len(shown)
            _points(panel, shown, named, looks)
            log_axis(panel, "x")
            panel.set_title(corpus)
            panel.set_ylabel("UAS, %")
            below = _below(rows.drop(shown.index), hidden)
            panel.set_xlabel("\n".join(["words per CPU second (log scale)", *below]), fontsize=8.5, loc="left")
            panel.margins(x=0.14, y=0.1)
            if len(hidden):  # their line leaves the panel below its fastest system
                speed, uas = front[["words_per_cpu_s", "uas"]].iloc[-1]
                bottom = panel.get_ylim()[0]
                panel.plot([speed, speed], [uas, bottom], color="#9a9a9a", lw=1.2, zorder=1)
                panel.set_ylim(bottom=bottom)
        figure.legend(
            handles=_keys(looks, [*data["share"]] if "proved" in data else [], small),
            loc="outside lower center",
            ncols=1 + across,
            fontsize=8.5,
        )
        describe(figure, _result(data))
    return figure


def visible(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a corpus that are not far below the others in accuracy.

    A row is far below if its UAS is lower than the median by more than one point, and by more than four times the
    difference between the best row and the median.
    """
    top, middle = rows["uas"].max(), rows["uas"].median()
    return rows[rows["uas"] >= middle - max(4 * (top - middle), 1.0)]


def chosen(rows: pd.DataFrame) -> list[int]:
    """Return the index labels of the rows of a corpus whose names are written in the figure, in order of priority.

    The two ends of the Pareto front, all parsers of other projects, all rows that differ in pruning and the most
    accurate row of each family are chosen. The other rows of the front follow if they are not CLOSE to a chosen row.
    """
    front, best = pareto(rows), rows.sort_values("uas", ascending=False, kind="stable")
    pruned, others = rows.index[rows["label"].map(_is_pruning)], rows.index[rows["group"] == OTHERS]
    families = best.drop_duplicates("group").index
    names = list(dict.fromkeys([*front.index[:1], *front.index[-1:], *others, *pruned, *families]))
    places = np.column_stack([np.log(rows["words_per_cpu_s"].astype(float)), rows["uas"].astype(float)])
    places /= np.maximum(places.max(axis=0) - places.min(axis=0), 1e-9)
    place_of = dict(zip(rows.index, places, strict=True))
    for i in front.index.difference(names, sort=False):
        if min(np.hypot(*(place_of[i] - place_of[j])) for j in names) > CLOSE:
            names.append(i)
    return names


def pareto(data: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that no other row beats in both uas and words_per_cpu_s, slowest first."""
    ordered = data.sort_values(["words_per_cpu_s", "uas"], ascending=False)
    return ordered[ordered["uas"] > ordered["uas"].cummax().shift(fill_value=float("-inf"))].iloc[::-1]


#: shares of proved trees (%) whose fill styles the legend explains, with their texts
PROOFS = {100.0: "all trees proved", 50.0: "some trees proved", 0.0: "no tree proved"}


def _fill(share: float) -> Literal["full", "left", "none"]:
    """Return the fill style of a marker for a share of proved trees (%)."""
    return "full" if share == 100 else "left" if share > 0 else "none"


def _names(data: pd.DataFrame) -> list[str]:
    """Return the names of the points. A name that two families share in a corpus is followed by the second family."""
    names = [*map(_name, data["system"], data["label"])]
    places = list(zip(data["corpus"], names, strict=True))
    first: dict[tuple[str, str], str] = {}
    owners = [first.setdefault(place, group) for place, group in zip(places, data["group"], strict=True)]
    return [
        name if group == owner else f"{name} ({group})"
        for name, group, owner in zip(names, data["group"], owners, strict=True)
    ]


def _name(system: str, label: str) -> str:
    """Return the name of a point: `label` alone if it describes pruning or is part of `system`, otherwise both."""
    complete = _is_pruning(label) or (label and label in system)
    return label if complete else ", ".join(part for part in (system, label) if part)


def _is_pruning(label: str) -> bool:
    """Return whether a label is a number of candidate heads (`rows.pruning`)."""
    return label.startswith(("k =", "no pruning"))


def _points(panel: Axes, rows: pd.DataFrame, named: list[int], looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw the rows of a corpus: large marks with names for the rows in `named`, and small marks for the others."""
    order = [*named, *rows.index.difference(named)]
    for i, row in zip(order, rows.loc[order].to_dict("records"), strict=True):
        look, place = looks[row["group"]], (row["words_per_cpu_s"], row["uas"])
        size = 6.5 if i in named else 3.5
        fill: dict[str, Any] = {"fillstyle": _fill(row["share"]), "markerfacecoloralt": "white"}
        panel.plot(*place, markersize=size, zorder=2 + (i in named), **fill, **look)
        if i in named:
            text: dict[str, Any] = {"color": text_colour(look["color"]), "fontsize": 8.5, "ha": "center"}
            panel.annotate(wrapped(row["name"], LETTERS), place, (0, 8), textcoords="offset points", **text)


def _below(rows: pd.DataFrame, front: pd.Index) -> list[str]:
    """Return the lines that list the rows below the visible range, most accurate first.

    front  index labels of the rows that no other row beats on both axes, which get a star
    """
    parts = [
        f"{row['name']}{'*' * (i in front)}: {row['uas']:.1f} UAS, {row['words_per_cpu_s']:,.0f} words/s"
        for i, row in rows.sort_values("uas", ascending=False).iterrows()
    ]
    listed = "; ".join(part.replace(" ", "\u00a0") for part in parts)
    star = " (* on the line)" if len(front) else ""
    return [wrapped(f"Below the axis{star}: {listed}", BELOW)] if parts else []


def _keys(looks: Mapping[str, Mapping[str, Any]], shares: Sequence[float], small: bool) -> list[Line2D]:
    """Return the legend: families, shares of proved trees, the Pareto front and the small marks, if they are drawn.

    looks   look of each family; a single family has no entry
    shares  shares of proved trees (%) of all points, or nothing if they are not known
    small   whether there are small marks
    """
    grey: dict[str, Any] = {"color": COLOURS["grey"], "marker": "o", "ls": "none"}
    keys = [Line2D([], [], ls="none", label=FAMILIES.get(g, g), **look) for g, look in looks.items()]
    keys = keys if len(keys) > 1 else []
    fills = {_fill(share) for share in shares}
    for share, name in PROOFS.items():
        if _fill(share) in fills and len(fills) > 1:
            keys.append(Line2D([], [], fillstyle=_fill(share), markerfacecoloralt="white", label=name, **grey))
    keys.append(Line2D([], [], color="#9a9a9a", lw=1.2, label="no system is better in both"))
    return [*keys, *([Line2D([], [], markersize=3.5, label="small: named in the tables", **grey)] if small else [])]


def _result(data: pd.DataFrame) -> str:
    """State the most accurate system of every corpus with its accuracy and speed."""
    best = data.loc[data.groupby("corpus", sort=False)["uas"].idxmax()].to_dict("records")
    texts = [f"{r['corpus']}: {r['name']} ({r['uas']:.2f} %, {r['words_per_cpu_s']:,.0f} words/s)" for r in best]
    return f"The most accurate systems are {'; '.join(texts)}."
