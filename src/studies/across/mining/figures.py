"""Figures of annotation errors: precision at the top of the ranked lists, and the two trees of a suspect."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from studies.across.mining.rankings import HEADS, RANDOM
from treebound.plots.style import COLOURS, CYCLE, MARKERS, end_labels, panels, style
from treebound.plots.svg import Svg
from treebound.plots.tree import tree_svg


def precision(points: pd.DataFrame) -> Figure:
    """Draw precision among the first k words for each k, with 95 % intervals, one panel per treebank.

    points  `tables.points`. A dashed line is the precision of a random order.
    """
    lengths = sorted(points["k"].unique())
    rankings = [name for name in HEADS if name != RANDOM][: len(CYCLE)]
    places = list(points.groupby(["in", "run"], sort=False))
    with style():
        figure, axes = panels(len(places), width=9.5, height=3.2)
        for panel, ((run, name), rows) in zip(axes, places, strict=True):
            ends, edge = [], len(lengths) - 0.8
            for i, ranking in enumerate(rankings):
                curve = rows[rows["ranking"] == ranking]
                if curve.empty:
                    continue
                x = curve["k"].map(lengths.index) + 0.05 * (i - 2)  # a shift, so that the intervals do not overlap
                bars = [100 * (curve["precision"] - curve["low"]), 100 * (curve["high"] - curve["precision"])]
                panel.errorbar(
                    x, 100 * curve["precision"], bars, color=CYCLE[i], marker=MARKERS[i], markersize=4,
                    linewidth=1.2, label=ranking,
                )  # fmt: skip
                ends.append((edge, 100 * float(curve["precision"].iloc[-1]), ranking, CYCLE[i]))
            chance = rows[rows["ranking"] == RANDOM]
            if len(chance):
                height = 100 * float(chance["precision"].iloc[-1])
                panel.axhline(height, color=COLOURS["grey"], dashes=(4, 3), linewidth=1)
                ends.append((edge, height, RANDOM, COLOURS["grey"]))
            panel.set_title(f"{name}, {run}" if points["in"].nunique() > 1 else name, fontsize=9)
            panel.set_xlabel("words of the list")
            panel.set_ylabel("errors among the first k words, %")
            panel.set_ylim(-2, 102)
            panel.set_xticks(range(len(lengths)), [f"top {k}" for k in lengths], fontsize=8)
            panel.set_xlim(-0.2, edge)
            end_labels(panel, ends)
    return figure


def pair(entry: dict[str, Any]) -> tuple[Svg, Svg]:
    """Draw the annotated tree of a suspect and the best tree. Arcs that differ between the trees are highlighted.

    entry  one element of the list that `tables.examples` returns
    """
    trees = [[-1, *entry["annotated"]], [-1, *entry["proposed"]]]
    kinds = ("Annotated tree", "Best tree of the model")
    names = [f"{kind} of the sentence with suspect {entry['rank']}; arcs that differ are blue" for kind in kinds]
    differ = [m for m in range(1, len(trees[0])) if trees[0][m] != trees[1][m]]
    labels = (entry["annotated_labels"], entry["proposed_labels"])
    drawn = [
        tree_svg(entry["words"], tree, tags=tags, marked=[(tree[m], m) for m in differ], alt=name)
        for tree, tags, name in zip(trees, labels, names, strict=True)
    ]
    return drawn[0], drawn[1]
