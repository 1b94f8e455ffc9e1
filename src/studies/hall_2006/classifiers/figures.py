"""Figures of learners: accuracy against the cost of training, and learning curves."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import CYCLE, MARKERS, log_axis, panels, style


def training_cost(data: pd.DataFrame) -> Figure:
    """LAS against CPU seconds of training, one point a feature model, one curve a learner, one panel a corpus.

    data  corpus, learner, features, las, train_cpu_s
    """
    return _curves(data.sort_values("train_cpu_s"), "train_cpu_s", "CPU seconds of training (log scale)", "features")


def learning_curve(data: pd.DataFrame) -> Figure:
    """LAS against words of training, one curve a learner, one panel a corpus.

    data  corpus, learner, trained_words, las
    """
    return _curves(data.sort_values("trained_words"), "trained_words", "words of the training set (log scale)", "")


def _curves(data: pd.DataFrame, x: str, label: str, noted: str) -> Figure:
    corpora, learners = (list(dict.fromkeys(data[name])) for name in ("corpus", "learner"))
    with style():
        figure, axes = panels(len(corpora), height=3.6, width=8.5 if len(corpora) > 1 else 6.0)
        for panel, corpus in zip(axes, corpora, strict=True):
            for i, learner in enumerate(sorted(learners)):
                curve = data[(data["corpus"] == corpus) & (data["learner"] == learner)]
                look = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)], "label": learner}
                panel.plot(curve[x], curve["las"], **look)
                for row in curve.to_dict("records") if noted else ():
                    panel.annotate(row[noted], (row[x], row["las"]), (3, 4), textcoords="offset points", fontsize=7)
            log_axis(panel, "x")
            panel.set_title(corpus)
            panel.set_xlabel(label)
            panel.set_ylabel("LAS, %")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8)
    return figure
