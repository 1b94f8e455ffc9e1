"""Figures of CCG supertagging: effect of wider beams on the model score, the accuracy and the oracle accuracy."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from treebound.plots.style import COLOURS, CYCLE, MARKERS, end_labels, log_axis, panels, style

BETAS = (0.1, 0.01, 0.001, 0.0001)  #: ticks of the axis of beams
#: measure -> title of its panel, label of its axis
MEASURES = {
    "model score": ("score of the model", "change of score per sentence"),
    "LF": ("accuracy of the parser", "change of LF, points"),
    "oracle LF": ("accuracy of the oracle", "change of LF, points"),
}


def beams(data: pd.DataFrame) -> Figure:
    """Draw how model score, accuracy and oracle accuracy change with wider beams.

    There is one panel per measure, with one curve per parser. Zero is the value of a parser at its first beam.

    data  parser, beam (`beta:k`, narrow beams first), model score (sum over `sentences`), LF and oracle LF (%). The
          first six parsers are drawn
    """
    names = list(dict.fromkeys(data["parser"]))[: len(CYCLE)]
    changes = data.assign(**{"model score": data["model score"] / data["sentences"]})
    for measure in MEASURES:
        changes[measure] -= changes.groupby("parser")[measure].transform("first")
    with style():
        figure, axes = panels(len(MEASURES), height=3.0, width=9.5)
        for panel, (measure, (title, label)) in zip(axes, MEASURES.items(), strict=True):
            curves(panel, {name: changes[changes["parser"] == name] for name in names}, measure)
            panel.axhline(0, color=COLOURS["grey"], linewidth=0.8, zorder=1)
            panel.set_title(title)
            panel.set_ylabel(label)
    return figure


def beams_in_words(data: pd.DataFrame) -> str:
    """Describe `beams` in words: the change of LF from the first to the last beam of each parser, for an alt text."""
    parts = []
    for name, rows in data.groupby("parser", sort=False):
        parser, oracle = (float(rows[measure].iloc[-1] - rows[measure].iloc[0]) for measure in ("LF", "oracle LF"))
        parts.append(f"{name} {parser:+.1f} (oracle {oracle:+.1f})")
    return f"Change of LF in points from the narrowest to the widest beam: {'; '.join(parts)}."


def curves(axes: Axes, rows: Mapping[str, pd.DataFrame], measure: str) -> None:
    """Draw a measure against the beams of a supertagger, with one named curve per entry of `rows`.

    A smaller beta keeps more categories, so the axis runs from large to small values.

    rows  name of a curve -> table with the columns beam (`beta:k`) and `measure`
    """
    ends = []
    for i, (name, curve) in enumerate(rows.items()):
        beta = [float(str(beam).partition(":")[0]) for beam in curve["beam"]]
        axes.plot(beta, curve[measure], color=CYCLE[i], marker=MARKERS[i], markersize=4, linewidth=1.4)
        ends.append((beta[-1], float(curve[measure].iloc[-1]), str(name), CYCLE[i]))
    log_axis(axes, "x")
    axes.set_xticks([tick for tick in BETAS if min(axes.get_xlim()) <= tick <= max(axes.get_xlim())])
    axes.invert_xaxis()
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlabel("beta of the beam (log scale), wider to the right")
    end_labels(axes, ends, size=8.5)
