"""Place labels at points so that they overlap neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from treebound.plots.style import COLOURS, END_GAP, END_LABEL
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

#: in typographic points: half the width of a marker, distance of a label from its point, further distance per step
RADIUS, GAP, STEP = 3.5, 6.0, 10.0
STEPS = 8
#: number of times that the labels at the ends of curves are placed
ROUNDS = 3


def point_labels(figure: Figure) -> list[Annotation]:
    """Return the visible labels at points, panel by panel."""
    texts = (text for axes in figure.axes for text in axes.texts if text.get_gid() != END_LABEL)
    return [text for text in texts if isinstance(text, Annotation) and text.get_text() and text.get_visible()]


def settle(figure: Figure) -> None:
    """Move labels so that none overlaps an earlier label or a point, or leaves its panel. O(labels (labels + points)).

    A label moves to the nearest free place around its point, and a thin line leads to a label that is far away. A label
    without any free place is hidden; the legend and the tables hold its information.
    """
    labels = point_labels(figure)
    for label in labels:
        label.set_in_layout(False)  # panels must not move once labels are placed
        # a white box keeps text readable over lines and grids
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2})
    _settle_ends(figure)
    if not labels:
        return
    figure.draw_without_rendering()  # a constrained layout places panels only when drawn
    scale = figure.dpi / 72
    for axes in figure.axes:
        taken, area = _markers(axes, scale), _label_area(axes, figure, scale)
        for label in (label for label in labels if label.axes is axes):
            own, (x, y) = label.get_window_extent(), axes.transData.transform(label.xy)
            first, offset = ((own.x0 - x) / scale, (own.y0 - y) / scale), label.xyann
            width, height = own.width / scale, own.height / scale
            for dx, dy in (first, *_places(width, height)):
                box = own.translated((dx - first[0]) * scale, (dy - first[1]) * scale)
                if _within(box, area) and not any(box.overlaps(taken_box) for taken_box in taken):
                    taken.append(box)
                    label.xyann = offset[0] + dx - first[0], offset[1] + dy - first[1]
                    if max(dx, -dx - width, dy, -dy - height) > GAP + STEP:
                        _lead(axes, label, (dx + width / 2, dy + height / 2))
                    break
            else:
                label.set_visible(False)


def _settle_ends(figure: Figure) -> None:
    """Put the labels at the ends of curves below each other, as near to the ends as their heights allow."""
    ends = {
        axes: [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == END_LABEL]
        for axes in figure.axes
    }
    if not any(ends.values()):
        return
    for _ in range(ROUNDS):  # labels that move change the space for the panels
        figure.draw_without_rendering()
        for axes, labels in ends.items():
            _stack(axes, labels, figure.dpi / 72)
    for axes, labels in ends.items():
        for label in labels:
            x, y = label.xyann
            if abs(y) > STEP / 3 or x > END_GAP + STEP:
                _lead(axes, label, (x, y))


def _stack(axes: Axes, labels: list[Annotation], scale: float) -> None:
    """Move the labels at the ends of the curves of a panel into a column to the right of the last end.

    Of ends at the same height, the leftmost end has the highest label, so that the lines to the labels do not cross.
    """
    if not labels:
        return
    ends = [axes.transData.transform(label.xy) for label in labels]
    order = sorted(range(len(labels)), key=lambda i: (round(ends[i][1] / scale), -ends[i][0]))
    right, panel = max(x for x, _ in ends), axes.get_window_extent()
    tallest = max(label.get_window_extent().height for label in labels) + scale
    heights = spread(sorted(float(y) for _, y in ends), tallest, panel.y0 + tallest / 2, panel.y1)
    for i, height in zip(order, heights, strict=True):
        labels[i].xyann = ((right - ends[i][0]) / scale + END_GAP, (height - ends[i][1]) / scale)


def spread(heights: list[float], distance: float, low: float = -inf, high: float = inf) -> list[float]:
    """Return heights as near to the increasing `heights` as possible, with at least `distance` between neighbours.

    Neighbours that are too close form a group around the mean of their heights (isotonic regression by pooling
    adjacent violators). The result lies between `low` and `high` if it fits; otherwise it begins at `low`. O(number of
    heights).
    """
    groups: list[tuple[float, int]] = []  # sum of height - rank * distance in a group, and the size of the group
    for rank, height in enumerate(heights):
        total, count = height - rank * distance, 1
        while groups and groups[-1][0] * count >= total * groups[-1][1]:
            total, count = total + groups[-1][0], count + groups[-1][1]
            groups.pop()
        groups.append((total, count))
    top = high - (len(heights) - 1) * distance
    means = [max(min(total / count, top), low) for total, count in groups for _ in range(count)]
    return [mean + rank * distance for rank, mean in enumerate(means)]


def _places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield offsets of a label's lower left corner from its point: above, below and beside it, at growing distance."""
    for step in range(STEPS):
        distance = GAP + step * STEP
        for x in (-width / 2, GAP, -GAP - width):
            yield x, distance
            yield x, -distance - height
        yield distance, -height / 2
        yield -distance - width, -height / 2


def _markers(axes: Axes, scale: float) -> list[Bbox]:
    """Return the boxes of the markers that are drawn at points."""
    drawn = [line for line in axes.lines if line.get_marker() not in ("None", "none", "", " ", None)]
    points = [point for line in drawn for point in axes.transData.transform(line.get_xydata())]
    return [Bbox.from_bounds(x - RADIUS * scale, y - RADIUS * scale, *2 * [2 * RADIUS * scale]) for x, y in points]


def _label_area(axes: Axes, figure: Figure, scale: float) -> Bbox:
    """Return the area for labels: the panel plus a margin on the right, within the width of the figure."""
    panel, margin = axes.get_window_extent(), 2 * GAP * scale
    left, right = max(panel.x0 - scale, 0.0), min(panel.x1 + margin, figure.bbox.x1)
    return Bbox.from_extents(left, panel.y0 - scale, right, panel.y1 + GAP * scale)


def _within(box: Bbox, area: Bbox) -> bool:
    """Return whether a box lies within an area."""
    return box.x0 >= area.x0 and box.y0 >= area.y0 and box.x1 <= area.x1 and box.y1 <= area.y1


def _lead(axes: Axes, label: Annotation, to: tuple[float, float]) -> None:
    """Draw a line from a point to the middle of its label, below everything else."""
    line = {"arrowstyle": "-", "color": COLOURS["grey"], "linewidth": 0.5, "shrinkA": 7, "shrinkB": 4}
    lead = axes.annotate("", label.xy, to, textcoords="offset points", arrowprops=line, zorder=1)
    lead.set_in_layout(False)
    lead.set_annotation_clip(False)
