"""Draw two labelled trees of one sentence as SVG: the annotation above the words, arcs that differ from it below."""

from __future__ import annotations

from collections.abc import Sequence

from treebound.plots.style import COLOURS
from treebound.plots.svg import Svg, drawing, text
from treebound.plots.tree import MARGIN, SIZE, STEP, arc_paths, columns, levels

_LABEL = 11  # font size of a label in px
_LEGEND = "{} of {} arcs differ: vermilion, the annotation; dashed green, the model"
_SAME = "the model has all arcs and labels as annotated"


def tree_pair_svg(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    *,
    other_heads: Sequence[int],
    other_labels: Sequence[str],
    emphasised: Sequence[int] = (),
    alt: str = "",
) -> Svg:
    """Draw an annotated tree above the words, and below them the arcs of another tree that differ.

    Parameters
    ----------
    words : sequence of str, n
        The words.
    heads, labels : sequences of int, n + 1, and of str, n
        The annotation; heads[0] is ignored, and head 0 is the root.
    other_heads, other_labels : sequences of int, n + 1, and of str, n
        The tree to compare with. An arc differs if its head or its label differs.
    emphasised : sequence of int
        Words, from 1, that are underlined, the most important one first.
    alt : str
        Description for screen readers; by default, it names the arcs that differ.

    Raises
    ------
    ValueError
        If lengths disagree.

    Notes
    -----
    Time O(n^2).
    """
    n = len(words)
    _check_lengths(n, heads, labels)
    _check_lengths(n, other_heads, other_labels)
    annotated = [(int(heads[m]), m) for m in range(1, n + 1)]
    differing = [
        (int(other_heads[m]), m)
        for m in range(1, n + 1)
        if other_heads[m] != heads[m] or other_labels[m - 1] != labels[m - 1]
    ]
    centre, width = columns(words, [labels, other_labels])
    above, below = levels(annotated), levels(differing)
    top = MARGIN + STEP * (max(above.values(), default=0) + 1)
    baseline = top + SIZE + 4
    under = baseline + 10
    height = under + STEP * (max(below.values(), default=-1) + 1) + MARGIN + 22
    changed = {m for _, m in differing}
    colours = [COLOURS["vermilion" if m in changed else "grey"] for _, m in annotated]
    paths, captions = _arcs(annotated, above, centre, (top, -1), labels, colours)
    lower = _arcs(differing, below, centre, (under, 1), other_labels, [COLOURS["green"]] * len(differing))
    legend = _LEGEND.format(len(differing), n) if differing else _SAME
    width = max(width, MARGIN * 2 + 6.4 * len(legend))
    body = [*paths, *lower[0], *_words(words, emphasised, centre, baseline), *captions, *lower[1]]
    body.append(text(MARGIN, height - 10, legend, size=12, fill=COLOURS["grey"], anchor="start"))
    caption = alt or f"Two dependency trees of “{' '.join(words)}”"
    return drawing(width, height, alt or _described(words, annotated, differing, labels, other_labels), body, caption)


def _check_lengths(n: int, heads: Sequence[int], labels: Sequence[str]) -> None:
    """Raise ValueError if a tree does not have n + 1 heads and n labels."""
    if len(heads) != n + 1 or len(labels) != n:
        raise ValueError(f"{len(heads)} heads and {len(labels)} labels, {n} words need {n + 1} and {n}")


def _arcs(
    arcs: Sequence[tuple[int, int]],
    level: dict[tuple[int, int], int],
    centre: list[float],
    side: tuple[float, int],
    labels: Sequence[str],
    colours: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Return (SVG elements of the paths of arcs, SVG elements of the labels of the arcs).

    level    level of each arc, see `levels`
    centre   centre of each word in px
    side     (height in px at which arcs begin and end, -1 to draw them above the words or 1 below)
    labels   the label of each word's arc
    colours  colour of each arc
    """
    y0, up = side
    paths, captions = [], []
    for arc, colour in zip(arcs, colours, strict=True):
        label = labels[arc[1] - 1]
        paths += arc_paths(arc, level[arc], centre, y0, up, colour, dashed=up > 0, root=label)
        if arc[0] > 0:  # an arc from the root has its label at its end
            y = y0 + up * (level[arc] + 1) * STEP + 4
            captions.append(text((centre[arc[0]] + centre[arc[1]]) / 2, y, label, size=_LABEL, halo=True))
    return paths, captions


def _words(words: Sequence[str], emphasised: Sequence[int], centre: list[float], baseline: float) -> list[str]:
    """Return the SVG elements of the words, with a line below the emphasised words."""
    body = [text(x, baseline, word, size=SIZE) for x, word in zip(centre[1:], words, strict=True)]
    for m in dict.fromkeys(emphasised):
        ends = f'x1="{centre[m] - 14:.1f}" x2="{centre[m] + 14:.1f}" y1="{baseline + 5:.1f}" y2="{baseline + 5:.1f}"'
        body.append(f'<line {ends} stroke="{COLOURS["ink"]}" stroke-width="2"/>')
    return body


def _described(
    words: Sequence[str],
    annotated: Sequence[tuple[int, int]],
    differing: Sequence[tuple[int, int]],
    labels: Sequence[str],
    other_labels: Sequence[str],
) -> str:
    """Return a description for screen readers that names each arc in which the two trees differ."""

    def arc(head: int, word: int, label: str) -> str:
        return f"{words[head - 1] if head else 'root'} → {words[word - 1]} ({label})"

    pairs = [
        f"annotated {arc(*annotated[m - 1], labels[m - 1])}, model {arc(head, m, other_labels[m - 1])}"
        for head, m in differing
    ]
    return "Two dependency trees. " + ("; ".join(pairs) or _SAME)
