"""Labels at points that do not overprint each other."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox


def point_labels(figure: Figure) -> list[Annotation]:
    """The labels at points that are to be seen, panel by panel."""
    texts = (text for axes in figure.axes for text in axes.texts)
    return [text for text in texts if isinstance(text, Annotation) and text.get_text() and text.get_visible()]


def settle(figure: Figure) -> None:
    """Move every label that would lie over an earlier one to a free side of its point: the other, further out, left,
    right. Where none is free it is left out: legend and tables have what it says. O(labels^2).
    """
    labels = point_labels(figure)
    if len(labels) < 2:
        return
    figure.draw_without_rendering()  # places panels, which a constrained layout does when it is drawn
    taken: list[Bbox] = []
    for label in labels:
        x, y = label.xyann
        down = -y - 6 if y >= 0 else -y - 8
        for label.xyann in ((x, y), (x, down), (x, y + 11), (x, down - 11), (x + 26, y / 2), (x - 26, y / 2)):
            box = label.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
        else:
            label.set_visible(False)
