"""Figures of sampling: proved optima found against time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from treebound.plots.style import COLOURS, CYCLE, MARKERS, end_labels, log_axis, panels, style

EXACT = "branch-and-bound"


def score_against_time(table: pd.DataFrame) -> Figure:
    """Draw the share of proved optima that each method finds, against its CPU time as a multiple of the proof's time.

    There is one panel per run and space. A curve is the mean of a method over the corpora (of times, the geometric
    mean), with one point per budget. The dotted line at 1 marks the time of the proof, which finds every optimum.

    table  result of `tables.score_time`
    """
    shares = relative(table)
    places = list(dict.fromkeys(shares.index.droplevel(["corpus", "method", "patience"])))
    methods = list(dict.fromkeys(shares.index.get_level_values("method")))[: len(CYCLE)]
    with style():
        figure, axes = panels(len(places), height=3.6, width=9.5 if len(places) > 1 else 6.0)
        for panel, (run, space) in zip(axes, places, strict=True):
            rows = shares.xs((run, space), level=["run", "space"])
            ends = []
            for i, method in enumerate(methods):
                if method not in rows.index.get_level_values("method"):
                    continue
                curves, colour = rows.xs(method, level="method"), CYCLE[i % len(CYCLE)]
                mean = curves.assign(time=np.log(curves["time"])).groupby(level="patience").mean()
                x, y = np.exp(mean["time"]), mean["found"]
                panel.plot(x, y, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=4, label=str(method))
                ends.append((float(x.iloc[-1]), float(y.iloc[-1]), str(method), colour))
            panel.margins(x=0.06)
            panel.axvline(1, color=COLOURS["grey"], linestyle=":", linewidth=1.2)
            log_axis(panel, "x")
            panel.set_ylim(None, 101.5)
            names = dict.fromkeys(rows.index.get_level_values("corpus"))
            what = f"mean of {len(names)} corpora" if len(names) > 1 else ", ".join(names)
            panel.set_title(f"{space} trees, {what}" + f" ({run})" * (len({name for name, _ in places}) > 1))
            panel.set_xlabel("CPU time as a multiple of the proof's time (log scale)")
            panel.set_ylabel("proved optima found, %")
            end_labels(panel, ends)
    return figure


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of optima found (%), and the CPU time divided by the time of the proof on the same corpus.

    Index: run, corpus, space, method, patience, without exact search. Columns: found, time.

    table  result of `tables.score_time`
    """
    proof = table.xs(EXACT, level="method")["CPU µs / word"].droplevel("patience")
    sampled = table.drop(index=EXACT, level="method")
    times = sampled["CPU µs / word"] / proof.reindex(sampled.index.droplevel(["method", "patience"])).to_numpy()
    return pd.DataFrame({"found": sampled["optima found, %"], "time": times})
