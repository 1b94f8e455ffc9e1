"""Define one style for all figures: light background, unobtrusive axes, colours that colour-blind readers distinguish.

Drawings of trees and derivations use the colours only. The functions are for figures of matplotlib, which the extra
`plots` installs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from treebound.support.extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

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


def _plain(value: float, _: int) -> str:
    """Return the label of a tick as a plain number, without an exponent."""
    return f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"


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
    """Make an axis logarithmic, with plain numbers as labels where they fit. Call it after drawing all data."""
    with needs("plots"):
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis: Axis = getattr(axes, f"{which}axis")
    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    steps = ((3.5, (1.0,)), (1.6, (1.0, 3.0)), (0.9, (1.0, 2.0, 5.0)), (0.0, (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)))
    subs = next(multiples for least, multiples in steps if decades > least or not least)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())


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
