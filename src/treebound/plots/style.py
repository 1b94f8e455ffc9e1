"""Define one style for all figures: light background, unobtrusive axes, colours that colour-blind readers distinguish.

Drawings of trees and derivations use the colours only. The functions are for figures of matplotlib, which the extra
`plots` installs.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from treebound.support.extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: colours of Okabe & Ito (2008), without yellow, which is too pale on white
COLOURS = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "ink": "#222222",
    "grey": "#767676",
    "pale": "#d9d9d9",
}

#: colours of a series of curves, in this order
CYCLE = [COLOURS[name] for name in ("blue", "vermilion", "green", "purple", "orange", "sky", "ink")]
#: markers in addition to the colours, so that curves differ without colour in print
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d", "8", "H", "1", "2", "3", "4", "x"]


def style() -> AbstractContextManager[None]:
    """Return the context in which figures are made and saved. `svg.hashsalt` fixes matplotlib's random ids."""
    with needs("plots"):
        import matplotlib as mpl

    return mpl.rc_context(
        {
            "svg.hashsalt": "treebound",
            "svg.fonttype": "path",  # text looks the same on every machine
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
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())
