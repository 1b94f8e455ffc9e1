"""Define one style for all figures: light background, unobtrusive axes, colours that colour-blind readers distinguish.

Drawings of trees and derivations use the colours only. The functions are for figures of matplotlib, which the extra
`plots` installs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

import numpy as np

from treebound.support.extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: colours of marks and lines. The six colours of CYCLE have a contrast of 3 or more to white, and differ for readers
#: with any kind of colour blindness
COLOURS = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "purple": "#c2649a",
    "brown": "#7b3f00",
    "ink": "#222222",
    "grey": "#767676",
    "pale": "#d9d9d9",
}

#: colours of a series of curves, in this order. A panel with more series is divided into several panels
CYCLE = [COLOURS[name] for name in ("blue", "vermilion", "green", "purple", "brown", "ink")]
#: darker shades for text in the colour of a curve, with a contrast of 4.5 or more to white
_TEXT = {COLOURS["vermilion"]: "#b84f00", COLOURS["green"]: "#007a59", COLOURS["purple"]: "#a8487f"}
#: group name of the labels at the ends of curves, and their distance from the last point in typographic points
END_LABEL, END_GAP = "end-label", 8
#: attribute of a line with the names of its points
_POINT_NAMES = "_treebound_point_names"
#: letters of a note per inch of the width of its figure
NOTE_LETTERS = 14.5
#: markers in addition to the colours, so that curves differ without colour in print
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d", "8", "H", "1", "2", "3", "4", "x"]


def style() -> AbstractContextManager[None]:
    """Return the context in which figures are made and saved. `svg.hashsalt` fixes matplotlib's random ids."""
    with needs("plots"):
        import matplotlib as mpl

    return mpl.rc_context(
        {
            "svg.hashsalt": "treebound",
            "svg.fonttype": "none",  # real text: it can be read aloud, searched and selected, and the files are small
            "font.family": "DejaVu Sans",  # comes with matplotlib
            "font.size": 10,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.labelcolor": COLOURS["ink"],
            "axes.edgecolor": COLOURS["grey"],
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#ececec",
            "axes.axisbelow": True,
            "xtick.color": COLOURS["grey"],
            "ytick.color": COLOURS["grey"],
            "xtick.labelcolor": COLOURS["ink"],
            "ytick.labelcolor": COLOURS["ink"],
            "lines.linewidth": 1.8,
            "lines.markersize": 5,
            "legend.frameon": False,
            "figure.facecolor": "white",
            "axes.facecolor": "white",
        }
    )


def text_colour(colour: str) -> str:
    """Return the shade of a colour in which text is written, with a contrast of 4.5 or more to white."""
    return _TEXT.get(colour, colour)


def panels(count: int, *, columns: int = 2, width: float = 8.0, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels in rows of `columns`, and its panels.

    `width` is the width of the figure and `height` the height of a row, both in inches. Call it inside `with style():`.
    The figure does not use pyplot, so there is no global state, no backend and nothing to close.
    """
    with needs("plots"):
        from matplotlib.figure import Figure

    if count < 1:
        raise ValueError("a figure needs at least one panel")
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for extra in axes[count:]:
        extra.remove()
    return figure, axes[:count]


def log_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with at most five plain numbers as labels, which do not touch each other.

    The ticks are chosen when the figure is drawn, so that they suit its wide and its narrow form.
    """
    with needs("plots"):
        from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

        from treebound.plots.ticks import FewTicks, plain

    getattr(axes, f"set_{which}scale")("log")
    axis: Axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(FewTicks())
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def describe(figure: Figure, result: str) -> None:
    """Store sentences that state the result that a figure shows. `as_svg` adds them to the alternative text."""
    figure.set_label(result)


def note(figure: Figure, text: str, width: float = 0.0) -> None:
    """Write a small text below all panels, for instance a list of the curves that are not drawn.

    width  width of the text in inches; 0 takes the width of the figure
    """
    letters = int((width or figure.get_figwidth()) * NOTE_LETTERS)
    figure.supxlabel(wrapped(text, letters), x=0.01, ha="left", fontsize=8, color=COLOURS["ink"])


def wrapped(text: str, letters: int) -> str:
    """Break long lines of a text after a space or a plus sign, which stays at the end of the line.

    Line breaks after a space or a plus sign are removed first, so that text can be wrapped for another width. Words
    longer than a line stay whole. A percent sign stays beside its number, and `(log scale)` in one line.
    """
    lines, text = [], text.replace(" %", "\u00a0%").replace("(log scale)", "(log\u00a0scale)")
    for line in re.sub(r"(?<=[ +])\n", "", text).split("\n"):
        current = ""
        for piece in re.split(r"(?<=[ +])(?=[^ +])", line):
            if current and len((current + piece).rstrip()) > letters:
                lines.append(current)
                current = ""
            current += piece
        lines.append(current)
    return "\n".join(lines)


def distinct(scores: Mapping[str, float], count: int = len(CYCLE)) -> list[str]:
    """Return the `count` names with the highest scores, in the order of the mapping. NaN counts as the lowest score."""
    ranked = sorted(scores, key=lambda name: -math.inf if math.isnan(scores[name]) else scores[name], reverse=True)
    return [name for name in scores if name in ranked[:count]]


def thinned(count: int, most: int = 200) -> list[int]:
    """Return at most `most` increasing indices below `count`, evenly spaced, with the first and the last one."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def label_lines(axes: Axes, *, size: float = 9) -> None:
    """Write the name of every named line of a panel to the right of its last point, in the colour of the line."""
    with needs("plots"):
        from matplotlib.colors import to_hex

    labels = []
    for line in axes.lines:
        x, y = (np.asarray(values, dtype=float) for values in (line.get_xdata(), line.get_ydata()))
        finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if len(finite) and not str(line.get_label()).startswith("_"):
            end = finite[-1]
            labels.append((float(x[end]), float(y[end]), str(line.get_label()), to_hex(line.get_color())))
    end_labels(axes, labels, size=size)


def end_labels(axes: Axes, labels: Sequence[tuple[float, float, str, str]], *, size: float = 9) -> None:
    """Write the name of each curve to the right of its last point, in the colour of the curve, instead of a legend.

    `labels.settle` moves labels apart that would overlap, when the figure is converted to SVG.

    labels  (x, y, name, colour) of the last point of each curve, in the units of the axes
    size    font size in typographic points
    """
    for x, y, name, colour in labels:
        axes.annotate(
            name,
            (x, y),
            (END_GAP, 0),
            textcoords="offset points",
            color=text_colour(colour),
            fontsize=size,
            va="center",
            annotation_clip=False,
            gid=END_LABEL,
        )


def name_points(line: Line2D, names: Sequence[str]) -> None:
    """Store the names of the points of a line. The CSV of the figure holds them; they are not drawn."""
    setattr(line, _POINT_NAMES, list(names))


def point_names(artist: object) -> list[str]:
    """Return the names that `name_points` has stored for the points of a line, or nothing."""
    return getattr(artist, _POINT_NAMES, [])
