"""Draw a dependency tree as SVG, with arcs above the words; differences from the gold tree are coloured."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from xml.sax.saxutils import escape

from treebound.core.treebank import Sentence
from treebound.plots.style import COLOURS
from treebound.plots.svg import Svg, drawing, text

SIZE = 16  # font size of a word in px
_GAP = 18  # px between words
STEP = 26  # px between levels of arcs
MARGIN = 16


def tree_svg(
    words: Sequence[str],
    heads: Sequence[int],
    *,
    gold: Sequence[int] | None = None,
    tags: Sequence[str] | None = None,
    gloss: Sequence[str] | None = None,
    about: Sequence[str] | None = None,
    marked: Collection[tuple[int, int]] | None = None,
    alt: str = "",
) -> Svg:
    """Draw one dependency tree. Time O(n^2).

    Parameters
    ----------
    words : sequence of str, n
        The words.
    heads : sequence of int, n + 1
        Heads of the words; heads[0] is ignored, and head 0 is the root.
    gold : sequence of int, n + 1, optional
        Heads of the gold tree. Arcs of `heads` that are not in the gold tree are vermilion; the missed gold arcs are
        dashed and below the words.
    tags : sequence of str, n, optional
        Tags, drawn below the words.
    gloss : sequence of str, n, optional
        The words in another language, drawn below the tags.
    about : sequence of str, n, optional
        Text that is shown while the pointer is on a word, see `described`.
    marked : collection of (int, int), optional
        Arcs (head, modifier) to draw in colour, while others are grey. By default, all arcs have colour.
    alt : str
        Description for screen readers; by default, it lists the arcs.

    Raises
    ------
    ValueError
        If lengths disagree.
    """
    n = len(words)
    for name, values, expected in (
        ("heads", heads, n + 1),
        ("gold", gold, n + 1),
        *((title, row, n) for title, row in (("tags", tags), ("gloss", gloss), ("about", about))),
    ):
        if values is not None and len(values) != expected:
            raise ValueError(f"{name} has {len(values)} entries, {n} words need {expected}")
    rows = [row for row in (tags, gloss) if row is not None]
    centre, width = columns(words, rows)
    ours = [(int(heads[m]), m) for m in range(1, n + 1)]
    missed = [] if gold is None else [(int(gold[m]), m) for m in range(1, n + 1) if gold[m] not in (heads[m], -1)]
    wrong = {m for _, m in missed}
    above, below = levels(ours), levels(missed)
    top = MARGIN + STEP * (max(above.values(), default=0) + 1)
    baseline = top + SIZE + 4
    under = baseline + 20 * len(rows) + 8
    height = under + STEP * (max(below.values(), default=-1) + 1) + MARGIN + (22 if gold is not None else 0)

    body = []
    for arc in ours:
        plain = COLOURS["blue"] if marked is None or arc in marked else COLOURS["grey"]
        colour = COLOURS["vermilion"] if arc[1] in wrong else plain
        body += arc_paths(arc, above[arc], centre, top, -1, colour, dashed=False)
    for m, word in enumerate(words, 1):
        drawn = [text(centre[m], baseline, word, size=SIZE)]
        for i, row in enumerate(rows, 1):
            drawn.append(text(centre[m], baseline + 19 * i, row[m - 1], size=11, fill=COLOURS["grey"]))
        body += drawn if about is None else [f"<g><title>{escape(about[m - 1])}</title>", *drawn, "</g>"]
    for arc in missed:
        body += arc_paths(arc, below[arc], centre, under, 1, COLOURS["green"], dashed=True)
    if gold is not None:
        legend = "all heads as in the gold tree"
        if missed:
            legend = f"vermilion: {len(missed)} of {n} heads differ from gold; dashed green below: the gold arcs"
        width = max(width, MARGIN * 2 + 6.4 * len(legend))
        body.append(text(MARGIN, height - 10, legend, size=12, fill=COLOURS["grey"], anchor="start"))
    names = {(h, m): f"{words[h - 1] if h else 'root'} → {words[m - 1]}" for h, m in ours}
    standing_out = ", ".join(name for arc, name in names.items() if marked and arc in marked)
    arrows = ", ".join(names.values()) + (f"; marked: {standing_out}" if standing_out else "")
    caption = alt or f"Dependency tree of “{' '.join(words)}”"
    return drawing(width, height, alt or f"Dependency tree: {arrows}", body, caption)


def described(sentence: Sentence) -> list[str]:
    """Return a description of every word: form, lemma, tags and morphological features, one a line."""
    columns = [sentence.strings(name) for name in ("form", "lemma", "upos", "xpos", "feats")]
    return ["\n".join(part.replace("|", "\n") for part in word if part != "_") for word in zip(*columns, strict=True)]


def columns(words: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[float], float]:
    """Return (centre of each word in px, where index 0 is unused; total width in px).

    rows  texts below the words, one row after another, which may be wider than the words
    """
    x, centre = float(MARGIN), [0.0]
    for i, word in enumerate(words):
        w = max(_width(word, SIZE), *(_width(row[i], 11) for row in rows), 22.0)
        centre.append(x + w / 2)
        x += w + _GAP
    return centre, x - _GAP + MARGIN


def _width(string: str, size: float) -> float:
    """Return the estimated width of a string in px.

    No font is available when SVG is written, so characters are counted, with East Asian wide characters as a full em.
    """
    em = sum(
        1.0 if unicodedata.east_asian_width(c) in "WF" else 0.0 if unicodedata.combining(c) else 0.58 for c in string
    )
    return em * size


def levels(arcs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the level of each arc: one above the highest arc it covers. Arcs of the root are above all others."""
    level: dict[tuple[int, int], int] = {}
    for arc in sorted((a for a in arcs if a[0] > 0), key=lambda a: (abs(a[0] - a[1]), a)):
        left, right = sorted(arc)
        inside = [v for (h, m), v in level.items() if left <= min(h, m) and max(h, m) <= right]
        level[arc] = max(inside, default=-1) + 1
    highest = max(level.values(), default=-1)
    for arc in arcs:
        if arc[0] == 0:
            level[arc] = highest + 1
    return level


def arc_paths(
    arc: tuple[int, int],
    level: int,
    centre: list[float],
    y0: float,
    up: int,
    colour: str,
    *,
    dashed: bool,
    root: str = "root",
) -> list[str]:
    """Return the SVG elements of an arc (head, modifier), with an arrow head at the modifier.

    level   level of the arc, see `levels`
    centre  centre of each word in px
    y0      height in px at which the arc begins and ends
    up      -1 draws the arc above the words, 1 below
    root    text that is written beside an arc from the root
    """
    head, mod = arc
    y = y0 + up * (level + 1) * STEP
    x2 = centre[mod]
    line = f'fill="none" stroke="{colour}" stroke-width="1.6"' + (' stroke-dasharray="5 4"' if dashed else "")
    if head == 0:
        path = f"M{x2:.1f} {y:.1f} V{y0:.1f}"
    else:
        side = 1 if x2 > centre[head] else -1
        x1 = centre[head] + 5 * side  # leave the head beside its own incoming arrow
        r = min(12.0, abs(x2 - x1) / 2)
        path = (
            f"M{x1:.1f} {y0:.1f} V{y - up * r:.1f} Q{x1:.1f} {y:.1f} {x1 + r * side:.1f} {y:.1f} "
            f"H{x2 - r * side:.1f} Q{x2:.1f} {y:.1f} {x2:.1f} {y - up * r:.1f} V{y0:.1f}"
        )
    tip = f"M{x2 - 4:.1f} {y0 + up * 7:.1f} L{x2:.1f} {y0:.1f} L{x2 + 4:.1f} {y0 + up * 7:.1f} Z"
    parts = [f'<path d="{path}" {line}/>', f'<path d="{tip}" fill="{colour}"/>']
    if head == 0:
        parts.append(text(x2 + 6, y + (10 if up < 0 else 0), root, size=11, fill=COLOURS["grey"], anchor="start"))
    return parts
