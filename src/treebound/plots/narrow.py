"""Lay out a figure for a narrow screen: its panels below each other, in the width of a phone."""

from __future__ import annotations

import gc
import pickle

from treebound.plots.style import END_LABEL, note, style, wrapped
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec
    from matplotlib.ticker import FixedLocator

#: inches: width of the narrow form, and the width up to which a figure needs no narrow form
WIDTH, ENOUGH = 3.9, 4.6
#: inches: smallest height of a panel; letters in a line of a legend
HEIGHT, LETTERS = 2.5, 44
#: letters of 10 points in a line of a title (which is bold), and of the names of the horizontal and the vertical axis
TITLE, ACROSS, UP = 34, 38, 24
#: letters in a line of a label at the end of a curve, and of a name of a row on the vertical axis
END_LETTERS, NAME_LETTERS = 18, 16


def narrowed(figure: Figure) -> Figure | None:
    """Return a copy of a figure for narrow screens, or None if the figure itself is narrow.

    The panels are below each other, legends have one column, and long titles and labels are broken into lines. Call it
    before labels are placed. Raises pickle.PicklingError for a figure with a function that cannot be copied.
    """
    if figure.get_figwidth() <= ENOUGH:
        return None
    with style():
        copy = _copied(figure)
        panels = [axes for axes in copy.axes if axes.get_subplotspec() is not None]
        rows = len({axes.get_subplotspec().rowspan.start for axes in panels})  # type: ignore[union-attr]
        height = max(figure.get_figheight() / max(rows, 1) * (1.0 if len(panels) == 1 else 0.85), HEIGHT)
        grid = GridSpec(len(panels), 1, figure=copy)
        for i, axes in enumerate(panels):
            axes.set_subplotspec(grid[i])
            _break_lines(axes)
        _name_rows(panels)
        if text := copy.get_supxlabel():
            note(copy, text, WIDTH)
        legends = sum(_stack_legend(copy) for _ in range(len(copy.legends)))
        copy.set_size_inches(WIDTH, height * len(panels) + legends)
    return copy


def _copied(figure: Figure) -> Figure:
    """Return a copy of a figure.

    A garbage collection must not run meanwhile: it would change a dictionary of matplotlib that is being copied.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        copy: Figure = pickle.loads(pickle.dumps(figure))
    finally:
        if enabled:
            gc.enable()
    return copy


def _break_lines(axes: Axes) -> None:
    """Break the title, the names of the axes, long names of rows and the labels of curves into lines."""
    for text, letters in ((axes._left_title, TITLE), (axes.xaxis.label, ACROSS), (axes.yaxis.label, UP)):  # type: ignore[attr-defined]
        text.set_text(wrapped(text.get_text(), int(letters * 10 / float(text.get_fontsize()))))
    for label in axes.texts:
        if label.get_gid() == END_LABEL:
            label.set_text(wrapped(label.get_text(), END_LETTERS))


def _name_rows(panels: list[Axes]) -> None:
    """Break long names of rows into lines, and repeat them in panels that show no names because a neighbour does."""
    names: list[str] = []
    for axes in panels:
        if isinstance(axes.yaxis.get_major_locator(), FixedLocator):
            own = [label.get_text() for label in axes.get_yticklabels()]
            names = own if any(own) or len(own) != len(names) else names
            axes.set_yticks(axes.get_yticks(), [wrapped(name, NAME_LETTERS) for name in names])


def _stack_legend(figure: Figure) -> float:
    """Replace the first legend of the figure by one with a single column, and return its height in inches."""
    legend = figure.legends.pop(0)
    handles, names = (
        [handle for handle in legend.legend_handles if handle],
        [text.get_text() for text in legend.get_texts()],
    )
    size = float(legend.get_texts()[0].get_fontsize()) if names else 8.0
    title, title_size = wrapped(legend.get_title().get_text(), LETTERS), legend.get_title().get_fontsize()
    stacked = figure.legend(
        handles, [wrapped(name, LETTERS) for name in names], title=title, loc="outside lower center", fontsize=size
    )
    stacked.get_title().set_fontsize(title_size)
    lines = len(names) + (title.count("\n") + 1 if title else 0)
    return lines * size * 1.6 / 72
