"""Labels at points that overprint neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator

from treebound.plots.style import COLOURS
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

#: typographic points: half the width of a marker, from a point to its label, one step further out
RADIUS, GAP, STEP = 3.5, 6.0, 10.0
STEPS = 8


def point_labels(figure: Figure) -> list[Annotation]:
    """The labels at points that are to be seen, panel by panel."""
    texts = (text for axes in figure.axes for text in axes.texts)
    return [text for text in texts if isinstance(text, Annotation) and text.get_text() and text.get_visible()]


def settle(figure: Figure) -> None:
    """Move every label that would lie over an earlier one, over a point or outside its panel to the nearest free place
    around its point; a thin line leads to one that is far away. Where none is free it is left out: legend and tables
    have what it says. O(labels (labels + points)).
    """
    labels = point_labels(figure)
    if not labels:
        return
    for label in labels:
        label.set_in_layout(False)  # panels must not move once labels are settled
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2})  # over lines and grids
    figure.draw_without_rendering()  # places panels, which a constrained layout does when it is drawn
    scale = figure.dpi / 72
    for axes in figure.axes:
        taken, room = _markers(axes, scale), _room(axes, figure, scale)
        for label in (label for label in labels if label.axes is axes):
            own, (x, y) = label.get_window_extent(), axes.transData.transform(label.xy)
            first, ann = ((own.x0 - x) / scale, (own.y0 - y) / scale), label.xyann
            width, height = own.width / scale, own.height / scale
            for dx, dy in (first, *_places(width, height)):
                box = own.translated((dx - first[0]) * scale, (dy - first[1]) * scale)
                if _within(box, room) and not any(box.overlaps(other) for other in taken):
                    taken.append(box)
                    label.xyann = ann[0] + dx - first[0], ann[1] + dy - first[1]
                    if max(dx, -dx - width, dy, -dy - height) > GAP + STEP:
                        _lead(axes, label, (dx + width / 2, dy + height / 2))
                    break
            else:
                label.set_visible(False)


def _places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """From a point to the lower left corner of its label: above, below and beside it, further and further out."""
    for step in range(STEPS):
        far = GAP + step * STEP
        for x in (-width / 2, GAP, -GAP - width):
            yield x, far
            yield x, -far - height
        yield far, -height / 2
        yield -far - width, -height / 2


def _markers(axes: Axes, scale: float) -> list[Bbox]:
    """Where points are drawn."""
    drawn = [line for line in axes.lines if line.get_marker() not in ("None", "none", "", " ", None)]
    points = [point for line in drawn for point in axes.transData.transform(line.get_xydata())]
    return [Bbox.from_bounds(x - RADIUS * scale, y - RADIUS * scale, *2 * [2 * RADIUS * scale]) for x, y in points]


def _room(axes: Axes, figure: Figure, scale: float) -> Bbox:
    """A little more than the panel, as far as the figure goes."""
    panel, more = axes.get_window_extent(), 2 * GAP * scale
    left, right = max(panel.x0 - more, 0.0), min(panel.x1 + more, figure.bbox.x1)
    return Bbox.from_extents(left, panel.y0 - scale, right, panel.y1 + GAP * scale)


def _within(box: Bbox, room: Bbox) -> bool:
    return box.x0 >= room.x0 and box.y0 >= room.y0 and box.x1 <= room.x1 and box.y1 <= room.y1


def _lead(axes: Axes, label: Annotation, to: tuple[float, float]) -> None:
    """A line from a point to the middle of its label, under all else."""
    line = {"arrowstyle": "-", "color": COLOURS["grey"], "linewidth": 0.5, "shrinkA": 7, "shrinkB": 4}
    axes.annotate("", label.xy, to, textcoords="offset points", arrowprops=line, zorder=1).set_in_layout(False)
