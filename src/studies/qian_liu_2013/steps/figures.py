"""Figures of training: accuracy by epoch, and accuracy against the number of candidate heads after pruning."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from treebound.plots.style import COLOURS, CYCLE, describe, distinct, label_lines, note, panels, style


def by_epoch(data: pd.DataFrame, figure: str) -> Figure:
    """Draw the accuracy after every epoch: one curve per training, one panel per place that has the figure.

    A place is a corpus and a run. The base and the five trainings that differ most from it after the last epoch are
    drawn. A note names the others.

    data    columns place, training, base (the training that is drawn on top, in black), epoch (from 1), and the column
            `figure`
    figure  "UAS" or "LAS", in %

    Raises ValueError if no place has the figure.
    """
    data = data.dropna(subset=[figure])
    places = list(dict.fromkeys(data["place"]))
    bases = set(data["base"])
    scores = {
        str(name): float("inf") if name in bases else _distance(data, str(name), figure)
        for name in dict.fromkeys(data["training"])
    }
    shown = distinct(scores)
    looks = dict(zip([name for name in shown if name not in bases], CYCLE, strict=False))
    with style():
        drawn, axes = panels(len(places), height=4.2, width=8.5 if len(places) > 1 else 6.5)
        for panel, place in zip(axes, places, strict=True):
            curves = data[(data["place"] == place) & data["training"].isin(shown)]
            for name, curve in curves.groupby("training", sort=False):
                width, front = (1.4, 2) if name in looks else (2.4, 3)
                look: dict[str, Any] = {"color": looks.get(str(name), COLOURS["ink"]), "lw": width, "zorder": front}
                panel.plot(curve["epoch"], curve[figure], marker="o", markersize=3, label=name, **look)
            panel.set_title(place)
            panel.set_xlabel("epochs")
            panel.set_ylabel(f"{figure} on dev, %")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            label_lines(panel, size=8.5)
        omitted = [name for name in scores if name not in shown]
        if omitted:
            largest = max(scores[name] for name in omitted)
            note(drawn, f"Not drawn, at most {largest:.2f} points from the base at the end: {', '.join(omitted)}.")
        finals = data.groupby(["place", "training"], sort=False)[figure].last()
        texts = [f"{name} {value:.2f} % ({place})" for (place, name), value in finals.items() if name in shown]
        describe(drawn, f"{figure} after the last epoch: {', '.join(texts)}.")
    return drawn


def _distance(data: pd.DataFrame, name: str, figure: str) -> float:
    """Return the largest difference in accuracy between a training and its base after the last epoch of both.

    The maximum is taken over all places, that is, pairs of corpus and run.
    """
    finals = data.groupby(["place", "training"], sort=False)[figure].last()
    bases = data.groupby("place", sort=False)["base"].first()
    pairs = [((place, name), (place, base)) for place, base in bases.items()]
    return max(
        (abs(finals[own] - finals[base]) for own, base in pairs if {own, base} <= set(finals.index)), default=0.0
    )


def by_arcs(data: pd.DataFrame, figure: str) -> Figure:
    """Draw accuracy against the number of candidate heads per word: one point per training, one panel per place.

    data    columns place, heads_a_word, threshold (0: none), learnt (whether a jackknifed pruner pruned the training
            data with the threshold), and the column `figure`
    figure  "UAS" or "LAS", in %

    A place is a corpus and a run. There is one line for the trainings with `learnt` and one for the other trainings.
    Both lines include the trainings without a threshold.
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
        handles, names = axes[0].get_legend_handles_labels()
        title = "a threshold prunes"
        drawn.legend(handles, names, title=title, loc="outside lower center", ncols=2, fontsize=8.5)
        least = data.loc[data.groupby("place", sort=False)["heads_a_word"].idxmin()].to_dict("records")
        texts = [f"{r['place']} {r[figure]:.2f} % with {r['heads_a_word']:.1f} heads per word" for r in least]
        describe(drawn, f"With the fewest candidate heads, the {figure} is {'; '.join(texts)}.")
    return drawn
