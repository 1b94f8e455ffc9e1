"""Lay out a figure for a narrow screen: its panels below each other, in the width of a phone."""

from __future__ import annotations

import pickle
from textwrap import fill

from treebound.plots.style import style
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

#: inches: width of the narrow form, and the width up to which a figure needs no narrow form
WIDTH, ENOUGH = 3.9, 4.6
#: inches: smallest height of a panel; letters in a line of a title or label
HEIGHT, LETTERS = 2.5, 44


def narrowed(figure: Figure) -> Figure | None:
    """Return a copy of a figure for narrow screens, or None if the figure itself is narrow.

    The panels are below each other, legends have one column, and long titles and labels are broken into lines. Call it
    before labels are placed. Raises pickle.PicklingError for a figure with a function that cannot be copied.
    """
    if figure.get_figwidth() <= ENOUGH:
        return None
    with style():
        copy: Figure = pickle.loads(pickle.dumps(figure))
        panels = [axes for axes in copy.axes if axes.get_subplotspec() is not None]
        rows = len({axes.get_subplotspec().rowspan.start for axes in panels})  # type: ignore[union-attr]
        height = max(figure.get_figheight() / max(rows, 1) * (1.0 if len(panels) == 1 else 0.85), HEIGHT)
        grid = GridSpec(len(panels), 1, figure=copy)
        for i, axes in enumerate(panels):
            axes.set_subplotspec(grid[i])
            _break_lines(axes)
        legends = sum(_stack_legend(copy) for _ in range(len(copy.legends)))
        copy.set_size_inches(WIDTH, height * len(panels) + legends)
    return copy


def _break_lines(axes: Axes) -> None:
    """Break the title and the label of the horizontal axis into lines that fit."""
    axes.set_title(_lines(axes.get_title(loc="left")), loc="left")
    axes.set_xlabel(_lines(axes.get_xlabel()))


def _lines(text: str) -> str:
    """Break each line of a text that is too long."""
    return "\n".join(fill(line, LETTERS) for line in text.split("\n"))


def _stack_legend(figure: Figure) -> float:
    """Replace the first legend of the figure by one with a single column, and return its height in inches."""
    legend = figure.legends.pop(0)
    handles, names = (
        [handle for handle in legend.legend_handles if handle],
        [text.get_text() for text in legend.get_texts()],
    )
    size = float(legend.get_texts()[0].get_fontsize()) if names else 8.0
    title = legend.get_title().get_text()
    figure.legend(
        handles,
        [_lines(name) for name in names],
        title=title and _lines(title),
        loc="outside lower center",
        fontsize=size,
    )
    return (len(names) + bool(title)) * size * 1.6 / 72
