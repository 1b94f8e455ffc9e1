"""Figures of learners: accuracy and training time by feature model, and learning curves."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.hall_2006.classifiers.tables import SVM
from treebound.plots.style import CYCLE, MARKERS, end_labels, log_axis, panels, style


def training_cost(data: pd.DataFrame) -> Figure:
    """Draw UAS and CPU seconds of training by feature model, one row of panels per corpus and one curve per learner.

    UAS is drawn as a difference to the UAS of SVM, or of the first learner if there is no SVM. The gains of richer
    features are many times larger than the differences between learners.

    data  run, corpus, learner, features (poor models first), uas (%), train_cpu_s. Only the last run of a corpus is
          drawn
    """
    places = _corpora(data)
    with style():
        figure, axes = panels(2 * len(places), height=2.7, width=9.0)
        for i, (corpus, rows) in enumerate(places):
            models = list(dict.fromkeys(rows["features"]))
            rows = rows.assign(position=[models.index(name) for name in rows["features"]])
            accuracy, time = axes[2 * i : 2 * i + 2]
            reference = SVM if SVM in set(rows["learner"]) else sorted(set(rows["learner"]))[0]
            level = rows[rows["learner"] == reference].set_index("features")["uas"]
            _curves(accuracy, rows.assign(gain=rows["uas"] - rows["features"].map(level)), "position", "gain")
            _curves(time, rows, "position", "train_cpu_s")
            log_axis(time, "y")
            accuracy.set_ylabel(f"UAS minus UAS of {reference}")
            time.set_ylabel("training, CPU s (log scale)")
            for panel, title in ((accuracy, "accuracy"), (time, "training time")):
                panel.set_title(f"{corpus}: {title}")
                panel.set_xticks(range(len(models)), models)
                panel.set_xlabel("feature model, poor to rich")
    return figure


def learning_curve(data: pd.DataFrame) -> Figure:
    """Draw LAS against the size of the training set in words, one curve per learner and one panel per corpus.

    data  run, corpus, learner, trained_words, las (%). Only the last run of a corpus is drawn
    """
    places = _corpora(data)
    with style():
        figure, axes = panels(len(places), height=3.0, width=9.0 if len(places) > 1 else 6.0)
        for panel, (corpus, rows) in zip(axes, places, strict=True):
            _curves(panel, rows.sort_values("trained_words"), "trained_words", "las")
            log_axis(panel, "x")
            panel.set_title(corpus)
            panel.set_xlabel("words in the training set (log scale)")
            panel.set_ylabel("LAS, %")
    return figure


def growth_in_words(data: pd.DataFrame) -> str:
    """Describe `learning_curve` in words: the best learner with the least and the most data, for an alt text."""
    parts = []
    for corpus, rows in _corpora(data):
        ends = [rows[rows["share"] == share] for share in (rows["share"].min(), rows["share"].max())]
        best = [end.loc[end["las"].idxmax()] for end in ends]
        few, many = (f"{row['las']:.1f} % ({row['learner']}, {row['trained_words']:,.0f} words)" for row in best)
        parts.append(f"{corpus}: {few} to {many}")
    return f"The highest LAS with the least and the most data, one seed: {'; '.join(parts)}."


def _corpora(data: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the title and the rows of each corpus in its last run. The title names the run if there are several."""
    last = (
        (str(corpus), rows[rows["run"] == rows["run"].iloc[-1]]) for corpus, rows in data.groupby("corpus", sort=False)
    )
    several = data["run"].nunique() > 1
    return [(f"{corpus} ({rows['run'].iloc[0]})" if several else corpus, rows) for corpus, rows in last]


def _curves(axes: Axes, rows: pd.DataFrame, x: str, y: str) -> None:
    """Draw the column `y` against `x`, with one curve per learner and the name of the learner at its end."""
    ends = []
    for i, learner in enumerate(sorted(set(rows["learner"]))):
        curve, colour = rows[rows["learner"] == learner], CYCLE[i % len(CYCLE)]
        axes.plot(curve[x], curve[y], color=colour, marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=1.4)
        ends.append((float(curve[x].iloc[-1]), float(curve[y].iloc[-1]), str(learner), colour))
    end_labels(axes, ends)
