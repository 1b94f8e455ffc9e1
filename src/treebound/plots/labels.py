"""Place labels at points so that they overlap neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import hypot, inf

from treebound.plots.style import COLOURS, END_GAP, END_LABEL
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.ticker import FixedLocator
    from matplotlib.transforms import Bbox

#: in typographic points: half the width of a marker, distance of a label from its point, further distance per step
RADIUS, GAP, STEP = 3.5, 6.0, 10.0
STEPS = 8
#: number of times that the labels at the ends of curves are placed
ROUNDS = 3
#: pixels between the names of two places on an axis
APART = 3


def point_labels(figure: Figure) -> list[Annotation]:
    """Return the visible labels at points, panel by panel."""
    texts = (text for axes in figure.axes for text in axes.texts if text.get_gid() != END_LABEL)
    return [text for text in texts if isinstance(text, Annotation) and text.get_text() and text.get_visible()]


def settle(figure: Figure) -> None:
    """Move labels so that none overlaps an earlier label or a point, or leaves its panel. O(labels (labels + points)).

    A label moves to the nearest free place around its point, and a thin line leads to a label that is far away. A label
    without a line is nearer to its own point than to any other point. A label without any free place is hidden; the
    legend and the tables hold its information. A line crosses another label only if nothing else is free.
    """
    labels = point_labels(figure)
    for label in labels:
        label.set_in_layout(False)  # panels must not move once labels are placed
        # a white box keeps text readable over lines and grids
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2})
    _fit_axes(figure)
    _settle_ends(figure)
    if not labels:
        return
    figure.draw_without_rendering()  # a constrained layout places panels only when drawn
    scale = figure.dpi / 72
    for axes in figure.axes:
        taken, area = _obstacles(axes, scale), _label_area(axes, figure, scale)
        points = _marked_points(axes)
        texts: list[Bbox] = []  # labels that have a place
        leads: list[Bbox] = []  # pieces of the lines that lead to them
        for label in (label for label in labels if label.axes is axes):
            own, (x, y) = label.get_window_extent(), axes.transData.transform(label.xy)
            first = dx0, dy0 = (own.x0 - x) / scale, (own.y0 - y) / scale
            offset, width, height = label.xyann, own.width / scale, own.height / scale
            choices = []  # (number of labels and lines covered, offset, box, far, line)
            for dx, dy in (first, *_places(width, height)):
                box = own.translated((dx - dx0) * scale, (dy - dy0) * scale)
                far = max(dx, -dx - width, dy, -dy - height) > GAP + STEP
                if not _within(box, area) or any(box.overlaps(taken_box) for taken_box in taken):
                    continue
                if not far and not _nearest(box, (x, y), points, scale):
                    continue
                middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
                lead = _straight((x, y), middle, scale) if far else []
                crosses = sum(any(piece.overlaps(text) for piece in lead) for text in texts)
                crosses += any(box.overlaps(piece) for piece in leads)
                choices.append((crosses, (dx, dy), box, far, lead))
                if not crosses:
                    break
            if not choices:
                label.set_visible(False)
                continue
            _, (dx, dy), box, far, lead = min(choices, key=lambda choice: choice[0])
            texts.append(box)
            taken.append(box)
            leads += lead
            label.xyann = offset[0] + dx - dx0, offset[1] + dy - dy0
            if far:
                _lead(axes, label, (dx + width / 2, dy + height / 2))


def _fit_axes(figure: Figure) -> None:
    """Leave out names of places on a horizontal axis that overlap, and keep the name of the axis inside the figure.

    Every second name stays, or every third, and so on, until none overlaps the next one. A long name of an axis ends
    where the axis ends.
    """
    figure.draw_without_rendering()
    for axes in figure.axes:
        if axes.xaxis.label.get_window_extent().x1 > figure.bbox.x1:
            axes.set_xlabel(axes.get_xlabel(), loc="right")
        if not isinstance(axes.xaxis.get_major_locator(), FixedLocator):
            continue
        labels, step = axes.get_xticklabels(), 1
        boxes = [label.get_window_extent() for label in labels]
        while any(left.x1 + APART > right.x0 for left, right in pairwise(boxes[::step])):
            step += 1
        if step > 1:
            names = [label.get_text() if i % step == 0 else "" for i, label in enumerate(labels)]
            axes.set_xticks(axes.get_xticks(), names, fontsize=labels[0].get_fontsize())


def _settle_ends(figure: Figure) -> None:
    """Put the labels at the ends of curves beside early ends if they fit there, and the others into a column.

    The column is to the right of the last end. Its labels are as near to their ends as their heights allow.
    """
    ends = {
        axes: [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == END_LABEL]
        for axes in figure.axes
    }
    if not any(ends.values()):
        return
    columns: dict[Axes, list[Annotation]] = {}
    for _ in range(ROUNDS):  # labels that move change the space for the panels
        figure.draw_without_rendering()
        for axes, labels in ends.items():
            columns[axes] = _beside(axes, labels, figure.dpi / 72)
            _stack(axes, columns[axes], figure.dpi / 72)
    for axes, labels in columns.items():
        for label in labels:
            x, y = label.xyann
            if abs(y) > STEP / 3 or x > END_GAP + STEP:
                _lead(axes, label, (x, y))


def _beside(axes: Axes, labels: list[Annotation], scale: float) -> list[Annotation]:
    """Move the labels of curves that end early to free places beside their last points, and return the other labels.

    A place is free if the label neither covers a curve, a marker or another label there, nor reaches beyond the last
    end of all curves. `scale` is the number of pixels per typographic point.
    """
    if not labels:
        return []
    places = {label: axes.transData.transform(label.xy) for label in labels}
    right, panel = max(x for x, _ in places.values()), axes.get_window_extent()
    lines = [line for line in axes.lines if line.get_transform() is axes.transData and line.get_visible()]
    curves = [axes.transData.transform_path(line.get_path()) for line in lines]
    taken, others = [_around(point, RADIUS * scale) for point in _marked_points(axes)], []
    for label in labels:
        x, y = places[label]
        own = label.get_window_extent()
        width, height = own.width / scale, own.height / scale
        for dx, dy in _early_places(width, height) if right - x > (END_GAP + STEP) * scale else ():
            box = Bbox.from_bounds(x + dx * scale, y + dy * scale - own.height / 2, own.width, own.height)
            inside = _within(box, Bbox.from_extents(panel.x0, panel.y0, right + scale, panel.y1))
            covers = any(curve.intersects_bbox(box, filled=False) for curve in curves)
            if inside and not covers and not any(box.overlaps(taken_box) for taken_box in taken):
                taken.append(box)
                label.xyann = dx, dy
                break
        else:
            others.append(label)
    return others


def _early_places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield offsets of the middle of a label's left edge from the last point of its curve, the nearest first."""
    for step in (0.0, 0.7, -0.7, 1.3, -1.3):
        yield END_GAP, step * height
    for side in (1, -1):
        yield -width / 2, side * (height / 2 + GAP)


def _stack(axes: Axes, labels: list[Annotation], scale: float) -> None:
    """Move the labels at the ends of the curves of a panel into a column to the right of the last end.

    If several ends have the same height, the leftmost end has the highest label. The lines to the labels therefore do
    not cross. `scale` is the number of pixels per typographic point.
    """
    if not labels:
        return
    ends = [axes.transData.transform(label.xy) for label in labels]
    order = sorted(range(len(labels)), key=lambda i: (round(ends[i][1] / scale), -ends[i][0]))
    right, panel = max(x for x, _ in ends), axes.get_window_extent()
    sizes = [labels[i].get_window_extent().height + scale for i in order]
    gaps = [(lower + upper) / 2 for lower, upper in pairwise(sizes)]
    heights = spread(sorted(float(y) for _, y in ends), gaps, panel.y0 + sizes[0] / 2, panel.y1)
    for i, height in zip(order, heights, strict=True):
        labels[i].xyann = ((right - ends[i][0]) / scale + END_GAP, (height - ends[i][1]) / scale)


def spread(heights: list[float], gaps: Sequence[float], low: float = -inf, high: float = inf) -> list[float]:
    """Return heights as near to the increasing `heights` as possible, with at least gaps[i] between i and i + 1.

    Neighbours that are too close form a group around the mean of their heights (isotonic regression by pooling
    adjacent violators). The result lies between `low` and `high` if it fits; otherwise it begins at `low`. O(number of
    heights).
    """
    stacked = list(accumulate(gaps, initial=0.0))  # heights above the first one if all neighbours touch
    groups: list[tuple[float, int]] = []  # sum of height - stacked height in a group, and the size of the group
    for height, least in zip(heights, stacked, strict=False):
        total, count = height - least, 1
        while groups and groups[-1][0] * count >= total * groups[-1][1]:
            total, count = total + groups[-1][0], count + groups[-1][1]
            groups.pop()
        groups.append((total, count))
    means = [max(min(total / count, high - stacked[-1]), low) for total, count in groups for _ in range(count)]
    return [mean + least for mean, least in zip(means, stacked, strict=False)]


def _places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield offsets of a label's lower left corner from its point: above, below and beside it, at growing distance."""
    for step in range(STEPS):
        distance = GAP + step * STEP
        diagonal = (distance, -distance - width) if step else ()
        for x in (-width / 2, GAP, -GAP - width, *diagonal):
            yield x, distance
            yield x, -distance - height
        yield distance, -height / 2
        yield -distance - width, -height / 2


def _marked_points(axes: Axes) -> list[Sequence[float]]:
    """Return the points of a panel that have a marker, in pixels."""
    drawn = [line for line in axes.lines if line.get_marker() not in ("None", "none", "", " ", None)]
    return [point for line in drawn for point in axes.transData.transform(line.get_xydata())]


def _nearest(box: Bbox, own: Sequence[float], points: list[Sequence[float]], scale: float) -> bool:
    """Return whether the label in `box` is nearer to its own point than to any other of `points`.

    Half a typographic point of tolerance is allowed; `scale` is the number of pixels per typographic point.
    """
    limit = _distance(box, own) - scale / 2
    return all(_distance(box, point) >= limit for point in points)


def _distance(box: Bbox, point: Sequence[float]) -> float:
    """Return the distance of a point from a box."""
    x, y = point
    return hypot(max(box.x0 - x, x - box.x1, 0.0), max(box.y0 - y, y - box.y1, 0.0))


def _obstacles(axes: Axes, scale: float) -> list[Bbox]:
    """Return the boxes of the markers of a panel, and of pieces of lines that are drawn as steps.

    scale  number of pixels per typographic point
    """
    boxes = [_around(point, RADIUS * scale) for point in _marked_points(axes)]
    for line in axes.lines:
        if line.get_drawstyle() == "steps-pre":
            boxes += _pieces(axes.transData.transform(line.get_xydata()).tolist(), scale)
    return boxes


def _around(point: Sequence[float], radius: float) -> Bbox:
    """Return the square box around a point."""
    return Bbox.from_bounds(point[0] - radius, point[1] - radius, 2 * radius, 2 * radius)


def _pieces(points: Sequence[Sequence[float]], scale: float) -> list[Bbox]:
    """Return small boxes along a line of steps; each step goes up or down first, then to the right.

    scale  number of pixels per typographic point
    """
    boxes = []
    for (x, y), (right, height) in pairwise(points):
        for start, end in (((x, y), (x, height)), ((x, height), (right, height))):
            boxes += _straight(start, end, scale)
    return boxes


def _straight(start: Sequence[float], end: Sequence[float], scale: float) -> list[Bbox]:
    """Return small boxes along the straight line from `start` to `end`; `scale` is as in `_pieces`."""
    count = int(max(abs(end[0] - start[0]), abs(end[1] - start[1])) / (4 * scale)) + 1
    shares = [i / count for i in range(count)]
    places = [(start[0] + s * (end[0] - start[0]), start[1] + s * (end[1] - start[1])) for s in shares]
    return [_around(place, scale) for place in places]


def _label_area(axes: Axes, figure: Figure, scale: float) -> Bbox:
    """Return the area for labels: the panel plus a margin on the right, within the width of the figure.

    scale  number of pixels per typographic point
    """
    panel, margin = axes.get_window_extent(), 2 * GAP * scale
    left, right = max(panel.x0 - scale, 0.0), min(panel.x1 + margin, figure.bbox.x1)
    return Bbox.from_extents(left, panel.y0 - scale, right, panel.y1 + scale)


def _within(box: Bbox, area: Bbox) -> bool:
    """Return whether a box lies within an area."""
    return box.x0 >= area.x0 and box.y0 >= area.y0 and box.x1 <= area.x1 and box.y1 <= area.y1


def _lead(axes: Axes, label: Annotation, to: tuple[float, float]) -> None:
    """Draw a line from a point to the middle of its label, below everything else."""
    line = {"arrowstyle": "-", "color": COLOURS["grey"], "linewidth": 0.5, "shrinkA": 7, "shrinkB": 4}
    lead = axes.annotate("", label.xy, to, textcoords="offset points", arrowprops=line, zorder=1)
    lead.set_in_layout(False)
    lead.set_annotation_clip(False)
