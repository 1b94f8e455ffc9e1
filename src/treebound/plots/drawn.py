"""Read the data of a figure back from matplotlib: as CSV for programs, and as sentences for alternative texts."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treebound.plots.style import END_LABEL, point_names, text_colour
from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.category import StrCategoryLocator
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_hex
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from matplotlib.ticker import FixedLocator

LARGEST, SIZE = 20_000, 100_000  #: a figure with more numbers, or a CSV with more characters, has no CSV
LONG = 30_000  #: a CSV with more characters gets one column per series
NO_MARKER = "None"  #: name of the marker of a line without markers
NAMED = 8  #: largest number of panels or curves that a description names
FEW = 6  #: a description states both ends of every curve if there are at most this many

Value = float | str


@dataclass(frozen=True)
class Point:
    """A point of a figure.

    panel, axis    title of its panel, and labels of the horizontal and the vertical axis
    series, label  name of its curve, and text that is written at the point; empty if there is none
    x, y           position; an axis whose ticks are names has names as positions
    low, high      ends of the interval around the point, or None if no interval is drawn
    """

    panel: str
    axis: tuple[str, str]
    series: str
    label: str
    x: Value
    y: Value
    low: float | None = None
    high: float | None = None


def points(figure: Figure) -> list[Point]:
    """Return the points of the curves, bars and scatter plots of a figure, panel by panel, in drawing order.

    Lines across a whole panel, areas and legends hold no points. Axes without ticks hold no positions. A thin line
    around a single point is its interval. A point that is drawn twice, for instance with a second mark, is returned
    once.
    """
    return list(dict.fromkeys(point for axes in figure.axes for point in _points(figure, axes)))


def as_csv(figure: Figure) -> str:
    """Return the points of a figure as CSV, with 6 significant digits.

    Columns: panel, series, label, the two axes, low, high. Columns without content are left out. If panels have
    different axes, the columns of the positions are called x and y, and the names of the axes precede them. If the CSV
    has more than LONG characters, each series becomes a column. If it is larger than SIZE, or if the figure has more
    than LARGEST numbers or no points, the result is empty.
    """
    data = points(figure)
    if not data or 2 * len(data) > LARGEST:
        return ""
    text = _written_rows(_long(data))
    if len(text) > LONG:
        text = _written_rows(_wide(data))
    return text if len(text) <= SIZE else ""


def _long(data: Sequence[Point]) -> list[dict[str, Any]]:
    """Return one row per point, as a dictionary from column names to values."""
    axes = {point.axis for point in data}
    names = _columns(data[0]) if len(axes) == 1 else ["x", "y"]
    return [
        {"panel": point.panel, "series": point.series, "label": point.label}
        | ({"horizontal axis": point.axis[0], "vertical axis": point.axis[1]} if len(axes) > 1 else {})
        | {names[0]: point.x, names[1]: point.y, "low": point.low, "high": point.high}
        for point in data
    ]


def _wide(data: Sequence[Point]) -> list[dict[str, Any]]:
    """Return one row per panel and horizontal position, with one column per series.

    A series with two points at the same position keeps the last one. Labels and intervals are left out.
    """
    names = dict.fromkeys(point.series for point in data)
    rows: dict[tuple, dict[str, Any]] = {}
    for point in data:
        place = {"panel": point.panel, "axis": point.axis[1], "x": point.x}
        rows.setdefault(tuple(place.values()), place | dict.fromkeys(names))[point.series] = point.y
    return list(rows.values())


def _written_rows(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows with the same columns as CSV, without the columns that have no content."""
    names = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_text(row[name]) for name in names] for row in rows)
    return out.getvalue()


def _columns(point: Point) -> list[str]:
    """Return the names of the two columns that hold positions: labels of axes, if both axes have different labels."""
    names = [
        re.sub(r" *\((log scale|logarithmic)\)", "", label) or ("name" if isinstance(value, str) else letter)
        for label, value, letter in zip(point.axis, (point.x, point.y), "xy", strict=True)
    ]
    taken = ("panel", "series", "label", "low", "high")
    return names if names[0] != names[1] and not set(names) & set(taken) else ["x", "y"]


def described(figure: Figure) -> str:
    """Describe a figure in sentences: its panels, its axes, its curves, and the values at both ends of each curve.

    If there are many curves, the range of all values replaces the ends. Empty for a figure without points.
    """
    data = points(figure)
    if not data:
        return ""
    panels = list(dict.fromkeys(point.panel for point in data if point.panel))
    names = list(dict.fromkeys(point.series for point in data if point.series))
    sentences = [f"{len(panels)} panels: {_listed(panels)}."] if len(panels) > 1 else []
    sentences.append(_axis("Horizontal", [(point.axis[0], point.x) for point in data], _limits(figure, "x")))
    sentences.append(_axis("Vertical", [(point.axis[1], point.y) for point in data], _limits(figure, "y")))
    if len(names) > 1:
        sentences.append(f"Series: {_listed(names)}.")
    ends = [_ends(name, [point for point in data if point.series == name]) for name in names]
    if len(panels) <= 1 and len(names) <= FEW and all(ends):
        sentences += ends
    return " ".join(filter(None, sentences))


def _limits(figure: Figure, which: str) -> dict[str, tuple[float, float]]:
    """Map the label of each x or y axis (`which`) to the smallest and the largest end of the axes with this label."""
    limits: dict[str, tuple[float, float]] = {}
    for axes in figure.axes:
        label, ends = _axis_label(figure, axes, which), getattr(axes, f"get_{which}lim")()
        ends = (*limits.get(label, ()), *map(float, ends))
        limits[label] = min(ends), max(ends)
    return limits


def _axis(name: str, values: Sequence[tuple[str, Value]], limits: Mapping[str, tuple[float, float]]) -> str:
    """Describe the horizontal or the vertical axis of all panels: its names, or the numbers at its ends.

    values  label of the axis and position of each point; an axis without ticks has empty positions
    limits  label of the axis -> numbers at its ends
    """
    ranges = []
    for label in dict.fromkeys(label for label, _ in values):
        places = [value for own, value in values if own == label]
        numbers = [value for value in places if not isinstance(value, str)]
        names = list(dict.fromkeys(value for value in places if isinstance(value, str)))
        shown = _listed(names) if any(names) else " to ".join(map(_rounded, limits[label])) if numbers else ""
        if shown:
            shown = shown if any(names) else f"from {shown}"
            ranges.append(f"{label}, {shown}" if label else shown)
    if not ranges:
        return ""
    return f"{name} ax{'e' if len(ranges) > 1 else 'i'}s: {_listed(ranges)}."


def _ends(name: str, curve: Sequence[Point]) -> str:
    """Return a sentence with the first and the last value of a curve, or an empty text if it is no curve of numbers."""
    if len(curve) < 3 or any(isinstance(point.y, str) for point in curve):
        return ""
    verb = "stays at" if curve[0].y == curve[-1].y else "goes from"
    end = "" if curve[0].y == curve[-1].y else f" to {_rounded(curve[-1].y)}"
    return f"{name} {verb} {_rounded(curve[0].y)}{end}."


def _listed(names: Sequence[str]) -> str:
    """Return the first names of a list, separated by semicolons, with the number of the others."""
    others = len(names) - NAMED
    return "; ".join(names[:NAMED]) + (f" and {others} more" if others > 0 else "")


def _text(value: Any) -> str:
    """Return a number with 6 significant digits, or a text unchanged; nothing for None."""
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _rounded(value: Value) -> str:
    """Return a number with 3 significant digits and a minus sign, for a text that is read aloud; a text unchanged."""
    if isinstance(value, str):
        return value
    short = f"{float(f'{value:.3g}'):,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return short.replace("-", "\u2212")


def _points(figure: Figure, axes: Axes) -> list[Point]:
    """Return the points of one panel."""
    title, axis = _title(figure, axes), (_axis_label(figure, axes, "x"), _axis_label(figure, axes, "y"))
    written = _written(axes)
    names = _Names(figure, axes)
    ticks = [_tick_names(figure, axes, which) for which in "xy"]
    data: list[Point] = []
    spans: list[tuple[float, float, float, float]] = []
    for handle, xs, ys, lows, highs in _drawn(axes):
        series = names.of(handle, list(zip(xs, ys, strict=True)))
        bare = isinstance(handle, Line2D) and _look(handle)[1] == NO_MARKER
        if bare and len(xs) == 2 and (xs[0] == xs[1] or ys[0] == ys[1]) and not names.own(handle):
            spans.append((xs[0], ys[0], xs[1], ys[1]))
            continue
        if bare and not names.own(handle) and (pieces := _pieces(xs, ys)):
            spans += pieces
            continue
        stored = point_names(handle) or [""] * len(xs)
        for x, y, low, high, point_name in zip(xs, ys, lows, highs, stored, strict=True):
            if x == x and y == y:  # not NaN
                label = point_name or written.get((x, y), "")
                data.append(Point(title, axis, series, "" if label == series else label, x, y, low, high))
    data = [_with_interval(point, spans) for point in data]
    data = [replace(point, x=_named(point.x, ticks[0]), y=_named(point.y, ticks[1])) for point in data]
    # the positions on an axis without ticks and label only keep points apart: they are not data
    bare_x, bare_y = (not axis[i] and len(getattr(axes, f"get_{which}ticks")()) == 0 for i, which in enumerate("xy"))
    return [replace(point, x="" if bare_x else point.x, y="" if bare_y else point.y) for point in data]


def _pieces(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float, float, float]]:
    """Return the ends of horizontal or vertical pieces that are drawn as one line with gaps, or nothing.

    The gaps are NaN after every second point. Pieces with an end at NaN are left out.
    """
    places = [*zip(xs, ys, strict=True)]
    if len(places) < 6 or len(places) % 3 or any(x == x and y == y for x, y in places[2::3]):
        return []
    pieces = [(*start, *end) for start, end in zip(places[::3], places[1::3], strict=True)]
    return [piece for piece in pieces if piece[0] == piece[2] or piece[1] == piece[3]]


def _drawn(axes: Axes) -> Iterator[tuple[Any, list[float], list[float], list[Any], list[Any]]]:
    """Yield the artist, the positions and the interval ends of each curve, bar chart and scatter plot of a panel."""
    errors = [item for item in axes.containers if isinstance(item, ErrorbarContainer)]
    caps = {id(line) for item in errors for line in item.lines[1]}
    bars = {id(item.lines[0]): item for item in errors if item.lines[0] is not None}
    for line in axes.lines:
        if line.get_transform() is not axes.transData or id(line) in caps or not line.get_visible():
            continue
        xs, ys = (np.asarray(values, float).tolist() for values in line.get_data(orig=False))
        nothing = [None] * len(xs)
        lows, highs = _error_ends(bars[id(line)], len(xs)) if id(line) in bars else (nothing, nothing)
        yield bars.get(id(line), line), xs, ys, lows, highs
    for item in axes.containers:
        if isinstance(item, BarContainer):
            boxes = [patch.get_bbox() for patch in item.patches]
            upright = item.orientation != "horizontal"
            xs = [(box.x0 + box.x1) / 2 if upright else box.x1 for box in boxes]
            ys = [box.y1 if upright else (box.y0 + box.y1) / 2 for box in boxes]
            yield item, xs, ys, [None] * len(xs), [None] * len(xs)
    for cloud in axes.collections:
        if isinstance(cloud, PathCollection):
            offsets = np.asarray(cloud.get_offsets()).tolist()
            nothing = [None] * len(offsets)
            yield cloud, [x for x, _ in offsets], [y for _, y in offsets], nothing, nothing


def _error_ends(item: ErrorbarContainer, count: int) -> tuple[list[Any], list[Any]]:
    """Return the lower and upper ends of the error bars of a curve with `count` points."""
    segments = [segment for lines in item.lines[2] for segment in lines.get_segments()]
    if len(segments) != count:  # some points have no bar, or bars in both directions
        return [None] * count, [None] * count
    column = 1 if item.has_yerr else 0
    ends = [sorted(float(end[column]) for end in segment) for segment in segments]
    return [end[0] for end in ends], [end[-1] for end in ends]


def _with_interval(point: Point, spans: Sequence[tuple[float, float, float, float]]) -> Point:
    """Return the point with the ends of the line that is drawn through it as an interval, if there is one."""
    for x0, y0, x1, y1 in spans:
        assert not isinstance(point.x, str)
        assert not isinstance(point.y, str)
        if y0 == y1 == point.y and min(x0, x1) <= point.x <= max(x0, x1):
            return replace(point, low=min(x0, x1), high=max(x0, x1))
        if x0 == x1 == point.x and min(y0, y1) <= point.y <= max(y0, y1):
            return replace(point, low=min(y0, y1), high=max(y0, y1))
    return point


class _Names:
    """The names of the curves of a panel: their own labels, labels at their ends, or entries of a legend."""

    def __init__(self, figure: Figure, axes: Axes):
        legends = [*figure.legends, *([legend] if (legend := axes.get_legend()) else [])]
        entries = [
            (handle, text.get_text())
            for legend in legends
            for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        ]
        entries += [(line, str(line.get_label())) for line in axes.lines if self.own(line)]
        lines = [(handle, name) for handle, name in reversed(entries) if isinstance(handle, Line2D)]
        self.by_look = {_look(line): name for line, name in lines}
        self.by_colour = {_look(line)[0]: name for line, name in lines if _look(line)[1] == NO_MARKER}
        self.by_marker = {_look(line)[1]: name for line, name in lines if line.get_linestyle() == "None"}
        self.ends = [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == END_LABEL]
        self.used: set[int] = set()  # labels at ends that name a curve already

    @staticmethod
    def own(handle: Any) -> str:
        """Return the label of an artist, or an empty text for a label that matplotlib has generated."""
        label = str(handle.get_label() or "")
        return "" if label.startswith("_") else label

    def of(self, handle: Any, places: Sequence[tuple[float, float]]) -> str:
        """Return the name of a curve with points at `places`."""
        line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
        name = self._at_end(line, places)
        if label := self.own(handle) or name:
            return _line(label)
        if not isinstance(line, Line2D):
            return ""
        colour, marker = _look(line)
        parts = [self.by_colour.get(colour, ""), self.by_marker.get(marker, "")]
        return _line(self.by_look.get((colour, marker)) or ", ".join(part for part in parts if part))

    def _at_end(self, line: Any, places: Sequence[tuple[float, float]]) -> str:
        """Return the text of the label at an end of a curve, or an empty text.

        If several curves end at the same point, a label in the colour of the curve is preferred, and then a label that
        names no other curve yet.
        """
        ends = (*places[-1:], *places[:1])
        labels = [text for place in ends for text in self.ends if _near(text.xy, place)]
        if not labels:
            return ""
        colour = text_colour(to_hex(line.get_color())) if isinstance(line, Line2D) else ""
        best = min(labels, key=lambda text: (to_hex(text.get_color()) != colour, id(text) in self.used))
        self.used.add(id(best))
        return str(best.get_text())


def _look(line: Line2D) -> tuple[str, str]:
    """Return colour and marker of a line; NO_MARKER if it has none."""
    marker = str(line.get_marker())
    return to_hex(line.get_color()), NO_MARKER if marker in ("None", "none", " ", "") else marker


def _near(a: Any, b: tuple[float, float]) -> bool:
    """Return whether two places are the same, apart from rounding. Positions may also be names."""
    try:
        return all(abs(float(p) - q) <= 1e-9 * max(1.0, abs(q)) for p, q in zip(a, b, strict=True))
    except (TypeError, ValueError):
        return False


def _written(axes: Axes) -> dict[tuple[float, float], str]:
    """Return the texts that are written at points, except the names at the ends of curves."""
    return {
        (float(text.xy[0]), float(text.xy[1])): _line(text.get_text())
        for text in axes.texts
        if isinstance(text, Annotation) and text.get_gid() != END_LABEL and text.get_text()
    }


def _title(figure: Figure, axes: Axes) -> str:
    """Return the title of a panel. A second vertical axis has the title of its panel."""
    spec = axes.get_subplotspec()
    same = [axes, *(other for other in figure.axes if spec is not None and other.get_subplotspec() == spec)]
    titles = (other.get_title(loc=loc) for other in same for loc in ("left", "center", "right"))
    return _line(next((title for title in titles if title), ""))


def _axis_label(figure: Figure, axes: Axes, which: str) -> str:
    """Return the first line of the label of the x or y axis (`which`) of a panel.

    An axis without a label has the label of the other panels, if they have one label and the panel has no twin.
    """
    own, *others = (getattr(each, f"get_{which}label")().partition("\n")[0] for each in (axes, *figure.axes))
    spec = axes.get_subplotspec()
    twins = [each for each in figure.axes if spec is not None and each.get_subplotspec() == spec]
    labels = {label for label in others if label}
    return str(own or (labels.pop() if len(labels) == len(twins) == 1 else ""))


def _tick_names(figure: Figure, axes: Axes, which: str) -> dict[float, str]:
    """Return the names at the ticks of the x or y axis (`which`) of a panel, or nothing if its ticks are numbers.

    A panel without names at its ticks has the names of another panel with the same ticks.
    """
    ticks = _ticks(axes, which)
    others = (_ticks(other, which) for other in figure.axes)
    names = next((each for each in (ticks, *others) if set(each) == set(ticks) and any(each.values())), {})
    try:
        [float(name.replace(",", "")) for name in names.values() if name]
    except ValueError:
        return names
    return {}


def _ticks(axes: Axes, which: str) -> dict[float, str]:
    """Return the fixed ticks of an axis with their labels, or nothing if the ticks are not fixed."""
    axis = getattr(axes, f"{which}axis")
    locator, formatter = axis.get_major_locator(), axis.get_major_formatter()
    if not isinstance(locator, FixedLocator | StrCategoryLocator):
        return {}
    return {float(place): _line(formatter(place, i)) for i, place in enumerate(locator())}


def _named(value: Value, names: dict[float, str]) -> Value:
    """Return the name of the tick that is nearest to a position, or the position if there are no names."""
    if not names or isinstance(value, str):
        return value
    nearest = min(names, key=lambda place: abs(place - value))
    return names[nearest] if abs(nearest - value) < 0.5 and names[nearest] else value


def _line(text: str) -> str:
    """Return a text in one line."""
    return " ".join(str(text).split())
