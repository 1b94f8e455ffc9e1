"""Figures of learners: accuracy against training time, and learning curves."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import CYCLE, MARKERS, log_axis, panels, style


def training_cost(data: pd.DataFrame) -> Figure:
    """Draw LAS against CPU seconds of training: points are feature models, curves are learners, panels are corpora.

    data  table with the columns corpus, learner, features, las and train_cpu_s
    """
    return _curves(data.sort_values("train_cpu_s"), "train_cpu_s", "CPU seconds of training (log scale)", "features")


def learning_curve(data: pd.DataFrame) -> Figure:
    """Draw LAS against the size of the training set in words, one curve per learner and one panel per corpus.

    data  table with the columns corpus, learner, trained_words and las
    """
    return _curves(data.sort_values("trained_words"), "trained_words", "words in the training set (log scale)", "")


def _curves(data: pd.DataFrame, x: str, label: str, annotation: str) -> Figure:
    """Draw LAS against the column `x`: one curve per learner, one panel per corpus.

    annotation  name of the column whose text stands at each point; "" writes no text
    """
    corpora, learners = (list(dict.fromkeys(data[name])) for name in ("corpus", "learner"))
    with style():
        figure, axes = panels(len(corpora), height=3.6, width=8.5 if len(corpora) > 1 else 6.0)
        for panel, corpus in zip(axes, corpora, strict=True):
            for i, learner in enumerate(sorted(learners)):
                curve = data[(data["corpus"] == corpus) & (data["learner"] == learner)]
                style_of_curve = {"color": CYCLE[i % len(CYCLE)], "marker": MARKERS[i % len(MARKERS)], "label": learner}
                panel.plot(curve[x], curve["las"], **style_of_curve)
                for row in curve.to_dict("records") if annotation else ():
                    panel.annotate(
                        row[annotation], (row[x], row["las"]), (3, 4), textcoords="offset points", fontsize=7
                    )
            log_axis(panel, "x")
            panel.set_title(corpus)
            panel.set_xlabel(label)
            panel.set_ylabel("LAS, %")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8)
    return figure
