"""Draw the branch-and-bound tree of one sentence as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treebound.plots.style import COLOURS
from treebound.plots.svg import Svg, drawing, text

_WIDTH, _HEIGHT = 112, 44  # size of a node in px
_ACROSS, _DOWN = 132, 112  # distance between the centres of neighbouring nodes in px
_FILL = {"branched": "#ffffff", "closed": "#e3f1ec"}


def search_tree_svg(nodes: Sequence[dict[str, Any]], words: Sequence[str], *, limit: int = 40, alt: str = "") -> Svg:
    """Draw the search tree of a decoder's record (`Parse.record.nodes`).

    Parameters
    ----------
    nodes : sequence of dict
        Nodes in the order in which the search created them. The keys are id, parent (-1 or None at the root), arc
        ([head, modifier] or None), value (1 if the arc is required, 0 if it is forbidden), ub (upper bound of the node)
        and status.
    words : sequence of str
        The n words, which name the branching arcs.
    limit : int
        Maximum number of nodes to draw, because hundreds would be unreadable. A note gives the total number.
    alt : str
        Description for screen readers; by default, it gives the number of nodes.

    Raises
    ------
    ValueError
        If there are no nodes.
    """
    shown = list(nodes[:limit])
    if not shown:
        raise ValueError("the search tree is empty")
    children: dict[Any, list[dict[str, Any]]] = {node["id"]: [] for node in shown}
    roots: list[dict[str, Any]] = []
    for node in shown:
        children.get(node["parent"], roots).append(node)
    place: dict[Any, tuple[float, int]] = {}
    leaves = 0.0
    for root in roots:
        leaves = _layout(root, 0, leaves, children, place)
    width = max(leaves * _ACROSS, _WIDTH + 40, 360) + 20
    depth = max(level for _, level in place.values())
    height = depth * _DOWN + _HEIGHT + 32

    shift = (width - leaves * _ACROSS) / 2
    body, boxes = [], []
    for node in shown:
        column, level = place[node["id"]]
        x, y = shift + (column + 0.5) * _ACROSS, 16 + level * _DOWN
        if node["parent"] in place:
            px, py = place[node["parent"]]
            x0, y0 = shift + (px + 0.5) * _ACROSS, 16 + py * _DOWN + _HEIGHT
            body.append(f'<path d="M{x0:.1f} {y0:.1f} L{x:.1f} {y:.1f}" stroke="{COLOURS["grey"]}" fill="none"/>')
            required = bool(node["value"])
            colour = COLOURS["green"] if required else COLOURS["vermilion"]
            head, mod = node["arc"]
            name = f"{words[head - 1] if head else 'root'} → {words[mod - 1]}"
            boxes.append(text(x, y - 20, name if len(name) <= 20 else name[:19] + "…", size=11, fill=colour, halo=True))
            boxes.append(text(x, y - 7, "required" if required else "forbidden", size=10, fill=colour, halo=True))
        boxes += _box(node, x, y)
    if len(nodes) > len(shown):
        height += 20
        note = f"the first {len(shown)} of {len(nodes)} nodes"
        boxes.append(text(width / 2, height - 8, note, size=12, fill=COLOURS["grey"]))
    alt = alt or f"Branch-and-bound tree of {len(nodes)} node{'s' * (len(nodes) != 1)}"
    return drawing(width, height, alt, body + boxes)


def _layout(
    root: dict[str, Any], level: int, next_column: float, children: dict[Any, list], place: dict[Any, tuple[float, int]]
) -> float:
    """Write column and level of each node to `place`; return the first free column.

    Leaves stand side by side, from `next_column` on, and each parent is centred over its children.

    Recursion is safe: the depth is bounded by the number of arcs of a sentence and by the number of nodes drawn.
    """
    below = children[root["id"]]
    first_column = next_column
    for child in below:
        next_column = _layout(child, level + 1, next_column, children, place)
    if below:
        column = (place[below[0]["id"]][0] + place[below[-1]["id"]][0]) / 2
    else:
        column, next_column = first_column, next_column + 1
    place[root["id"]] = (column, level)
    return next_column


def _box(node: dict[str, Any], x: float, y: float) -> list[str]:
    """Return the SVG elements of a node whose top edge is centred at (x, y): a box with upper bound and status."""
    status = str(node["status"])
    label = "no tree" if node["ub"] < -1e15 else f"≤ {node['ub']:.3f}"
    return [
        f'<rect x="{x - _WIDTH / 2:.1f}" y="{y:.1f}" width="{_WIDTH}" height="{_HEIGHT}" rx="7" '
        f'fill="{_FILL.get(status, "#ffffff")}" stroke="{COLOURS["grey"]}"/>',
        text(x, y + 18, label, size=13),
        text(x, y + 35, status, size=11, fill=COLOURS["grey"]),
    ]
