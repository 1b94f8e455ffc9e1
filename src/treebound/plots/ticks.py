"""Choose the ticks of logarithmic axes: few round numbers, whose labels do not touch each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from treebound.support.extras import needs

with needs("plots"):
    from matplotlib.axis import Axis, XAxis
    from matplotlib.ticker import Locator, MaxNLocator

#: largest number of ticks, and the height of their labels in typographic points
MOST, SIZE = 5, 10.0
#: multiples of each power of ten, densest first
_MULTIPLES = ((1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def plain(value: float, _: int = 0) -> str:
    """Return the label of a tick as a plain number, without an exponent."""
    return f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"


class FewTicks(Locator):
    """Ticks at round numbers: as many as have space when the figure is drawn, and at most MOST."""

    def __call__(self) -> Sequence[float]:
        """Return the ticks within the limits of the axis."""
        low, high = sorted(self.axis.get_view_interval())  # type: ignore[union-attr]
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Return the ticks between two positive limits. There are at least two if two labels have space."""
        choices = [ticks for ticks in _choices(vmin, vmax) if len(ticks) <= MOST and self._fit(ticks, vmin, vmax)]
        return next((ticks for ticks in choices if len(ticks) > 1), choices[0] if choices else [])

    def _fit(self, ticks: Sequence[float], low: float, high: float) -> bool:
        """Return whether the labels of neighbouring ticks do not touch each other on an axis from `low` to `high`."""
        if not isinstance(self.axis, Axis) or not high > low > 0:
            return True
        axes, across = self.axis.axes, isinstance(self.axis, XAxis)
        length = (axes.bbox.width if across else axes.bbox.height) * 72 / axes.figure.dpi
        places = [math.log(tick / low) / math.log(high / low) * length for tick in ticks]
        sizes = [0.66 * SIZE * (len(plain(tick)) + 1) if across else 1.6 * SIZE for tick in ticks]
        pairs = zip(places, sizes, places[1:], sizes[1:], strict=False)
        return all(right - left >= (size + other) / 2 for left, size, right, other in pairs)


def _choices(low: float, high: float) -> Iterator[list[float]]:
    """Yield lists of ticks between two positive limits, densest first. The last list has evenly spaced numbers."""
    if not high > low > 0:
        return
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for multiples in _MULTIPLES:
        yield [m * 10.0**e for e in range(first, last + 1) for m in multiples if low <= m * 10.0**e <= high]
    for step in (2, 3, 4):
        yield [10.0**e for e in range(first, last + 1) if e % step == 0 and low <= 10.0**e <= high]
    for bins in (3, 2, 1):
        yield [float(tick) for tick in MaxNLocator(bins).tick_values(low, high) if low <= tick <= high]
