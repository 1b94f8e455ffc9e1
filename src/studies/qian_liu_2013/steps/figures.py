"""Figures of training: accuracy by epoch, and accuracy against the number of candidate heads after pruning."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from treebound.plots.style import COLOURS, CYCLE, panels, style


def by_epoch(data: pd.DataFrame, figure: str) -> Figure:
    """Draw the accuracy after every epoch: one curve per training, one panel per place that has the figure.

    data    columns place, training, base (the training that is drawn on top, in black), epoch (from 1), and the column
            `figure`
    figure  "UAS" or "LAS", in %

    Raises ValueError if no place has the figure.
    """
    data = data.dropna(subset=[figure])
    places = list(dict.fromkeys(data["place"]))
    names = [name for name in dict.fromkeys(data["training"]) if name not in set(data["base"])]
    looks = {name: (CYCLE[i % 6], ("-", "--", ":", "-.")[i // 6 % 4]) for i, name in enumerate(names)}
    with style():
        drawn, axes = panels(len(places), height=4.2, width=8.5 if len(places) > 1 else 6.5)
        for panel, place in zip(axes, places, strict=True):
            for name, curve in data[data["place"] == place].groupby("training", sort=False):
                colour, dashes = looks.get(str(name), (COLOURS["ink"], "-"))
                width, front = (1.2, 2) if name in looks else (2.4, 3)
                look = {"color": colour, "ls": dashes, "linewidth": width, "zorder": front, "label": name}
                panel.plot(curve["epoch"], curve[figure], marker="o", markersize=3, **look)
            panel.set_title(place)
            panel.set_xlabel("epochs")
            panel.set_ylabel(f"{figure} on dev, %")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return drawn


def by_arcs(data: pd.DataFrame, figure: str) -> Figure:
    """Draw accuracy against the number of candidate heads per word: one point per training, one panel per place.

    data    columns place, heads_a_word, threshold (0: none), learnt (whether a jackknifed pruner pruned the training
            data with the threshold), and the column `figure`
    figure  "UAS" or "LAS", in %

    There is one line for the trainings with `learnt` and one for the other trainings. Both include the
    trainings without a threshold.
    """
    places = list(dict.fromkeys(data["place"]))
    ways = {True: ("in training, too", COLOURS["blue"], "o"), False: ("in parsing alone", COLOURS["vermilion"], "s")}
    with style():
        drawn, axes = panels(len(places), height=3.6, width=8.5 if len(places) > 1 else 6.5)
        for panel, place in zip(axes, places, strict=True):
            rows = data[data["place"] == place]
            for learnt, (name, colour, marker) in ways.items():
                chosen = rows[(rows["learnt"] == learnt) | (rows["threshold"] == 0)].sort_values("heads_a_word")
                panel.plot(chosen["heads_a_word"], chosen[figure], color=colour, marker=marker, label=name)
            for row in rows.to_dict("records"):
                point = row["heads_a_word"], row[figure]
                text = f"{row['threshold']:g}" if row["threshold"] else "none"
                panel.annotate(text, point, (0, 7), textcoords="offset points", ha="center", fontsize=8)
            panel.set_title(place)
            panel.set_xlabel("candidate heads per word")
            panel.set_ylabel(f"{figure} on dev, %")
            panel.margins(x=0.1, y=0.15)
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return drawn
