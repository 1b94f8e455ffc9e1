"""Place labels at points so that they overlap neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator

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


def point_labels(figure: Figure) -> list[Annotation]:
    """Return the visible labels at points, panel by panel."""
    texts = (text for axes in figure.axes for text in axes.texts if text.get_gid() != END_LABEL)
    return [text for text in texts if isinstance(text, Annotation) and text.get_text() and text.get_visible()]


def settle(figure: Figure) -> None:
    """Move labels so that none overlaps an earlier label or a point, or leaves its panel. O(labels (labels + points)).

    A label moves to the nearest free place around its point, and a thin line leads to a label that is far away. A label
    without any free place is hidden; the legend and the tables hold its information.
    """
    _settle_ends(figure)
    labels = point_labels(figure)
    if not labels:
        return
    for label in labels:
        label.set_in_layout(False)  # panels must not move once labels are placed
        # a white box keeps text readable over lines and grids
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2})
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
    figure.draw_without_rendering()  # a constrained layout places panels only when drawn
    scale = figure.dpi / 72
    for axes, labels in ends.items():
        points = sorted(((*axes.transData.transform(label.xy), i) for i, label in enumerate(labels)), key=_height)
        if not points:
            continue
        right = max(x for x, _, _ in points)
        heights = spread([y for _, y, _ in points], max(float(label.get_fontsize()) for label in labels) * 1.25 * scale)
        for (x, y, i), height in zip(points, heights, strict=True):
            offset = ((right - x) / scale + END_GAP, (height - y) / scale)
            labels[i].xyann = offset
            if abs(offset[1]) > STEP / 3 or offset[0] > END_GAP + STEP:
                _lead(axes, labels[i], offset)


def _height(point: tuple[float, float, int]) -> float:
    """Return the height of a point (x, y, number)."""
    return point[1]


def spread(heights: list[float], distance: float) -> list[float]:
    """Return heights as near to the increasing `heights` as possible, with at least `distance` between neighbours.

    Neighbours that are too close form a group around the mean of their heights (isotonic regression by pooling
    adjacent violators). O(number of heights).
    """
    groups: list[tuple[float, int]] = []  # sum of height - rank * distance in a group, and the size of the group
    for rank, height in enumerate(heights):
        total, count = height - rank * distance, 1
        while groups and groups[-1][0] * count >= total * groups[-1][1]:
            total, count = total + groups[-1][0], count + groups[-1][1]
            groups.pop()
        groups.append((total, count))
    means = [total / count for total, count in groups for _ in range(count)]
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
    """Return the area for labels: the panel plus a margin, within the width of the figure."""
    panel, margin = axes.get_window_extent(), 2 * GAP * scale
    left, right = max(panel.x0 - margin, 0.0), min(panel.x1 + margin, figure.bbox.x1)
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
