"""Draw a CCG derivation as SVG: words at the top, a line for every rule, and categories below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from treebound.plots.style import COLOURS
from treebound.plots.svg import Svg, drawing, text

_SIZE = 15  # font size of a word in px
_SMALL = 11  # font size of a category in px
_CHAR = 6.6  # width of a character of a category in px
_GAP = 14  # px between words
_STEP = 34  # px between a constituent and its children
_MARGIN = 14
#: the usual marks of the rules
_SIGNS = {
    "fa": ">", "ba": "<", "fc": ">B", "fx": ">Bx", "bc": "<B", "bx": "<Bx", "fs": ">S", "bs": "<Sx", "tr": "T",
    "tc": "*", "lp": "", "rp": "", "conj": "Φ", "coord": "Φ", "funny": "Φ", "ucp": "Φ!",
}  # fmt: skip


class Constituent(Protocol):
    """A node of the drawing: a word, or a rule with one or two children."""

    @property
    def category(self) -> object: ...
    @property
    def rule(self) -> str: ...
    @property
    def word(self) -> str: ...
    @property
    def children(self) -> Sequence[Constituent]: ...


def derivation_svg(derivation: Constituent, alt: str = "") -> Svg:
    """Draw one derivation: a line spans the constituents that a rule combines, with the rule's sign at its right end.

    Time O(constituents x depth).
    """
    order = [derivation]
    for node in order:
        order.extend(node.children)
    depth: dict[int, int] = {}
    need: dict[int, float] = {}
    for node in reversed(order):  # children before their parents
        depth[id(node)] = 1 + max((depth[id(c)] for c in node.children), default=-1)
        inside = sum(need[id(c)] for c in node.children) + _GAP * max(len(node.children) - 1, 0)
        own = max(_CHAR * len(str(node.category)), 0.6 * _SIZE * len(node.word)) + 12
        need[id(node)] = max(inside, own + (18 if node.children else 0))
    body: list[str] = []
    words: list[str] = []
    stack = [(derivation, float(_MARGIN))]
    while stack:
        node, x = stack.pop()
        width = need[id(node)]
        top = _MARGIN + _SIZE + _STEP * depth[id(node)]
        centre = x + width / 2
        if node.children:
            sign = _SIGNS.get(node.rule, node.rule)
            colour = COLOURS["blue"] if node.rule else COLOURS["vermilion"]
            end = x + width - 8 * len(sign)
            body.append(f'<path d="M{x:.1f} {top:.1f}H{end:.1f}" stroke="{colour}" stroke-width="1.4"/>')
            body.append(text(end + 2, top + 4, sign, size=10, fill=colour, anchor="start"))
            body.append(text(centre, top + 16, str(node.category), size=_SMALL))
        else:
            words.append(node.word)
            body.append(text(centre, top, node.word, size=_SIZE))
            body.append(text(centre, top + 16, str(node.category), size=_SMALL, fill=COLOURS["grey"]))
        inside = sum(need[id(c)] for c in node.children) + _GAP * max(len(node.children) - 1, 0)
        child_x = x + (width - inside) / 2
        placed = []
        for child in node.children:
            placed.append((child, child_x))
            child_x += need[id(child)] + _GAP
        stack.extend(reversed(placed))
    height = _MARGIN * 2 + _SIZE + 20 + _STEP * depth[id(derivation)]
    shown = alt or f"CCG derivation of “{' '.join(words)}”: {derivation.category}"
    return drawing(need[id(derivation)] + 2 * _MARGIN, height, shown, body)
