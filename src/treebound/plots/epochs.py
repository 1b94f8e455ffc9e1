"""The figure of training: accuracy by epoch."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from treebound.plots.style import COLOURS, CYCLE, panels, style


def by_epoch(data: pd.DataFrame, figure: str) -> Figure:
    """Accuracy after every epoch, one curve a training, one panel a place that has the figure.

    data    place, training, base (the training that is drawn on top, in black), epoch (from 1), and the column `figure`
    figure  "UAS" or "LAS", in %
    ValueError where no place has it.
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
