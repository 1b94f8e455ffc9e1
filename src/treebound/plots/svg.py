"""Represent SVG as a value that a notebook displays, a report embeds and a file stores."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from treebound.plots.compact import compacted
from treebound.plots.style import style
from treebound.support.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: MIME types of the form of a figure for narrow screens, and of its caption
NARROW, CAPTION = "application/vnd.treebound.narrow+xml", "application/vnd.treebound.caption"
#: functions whose entries are added to the MIME bundle of every picture, for instance the sources of its data
ADDITIONS: list[Callable[[], Mapping[str, Any]]] = []


@dataclass(frozen=True)
class Svg:
    """SVG markup that Jupyter displays as an image.

    alt      a description of the picture for readers who cannot see it
    narrow   markup of the same picture for narrow screens, with its panels below each other; empty: there is none
    caption  text below the picture; empty: there is none
    data     the points of the figure as CSV; empty: there is none
    """

    markup: str
    alt: str
    narrow: str = ""
    caption: str = ""
    data: str = ""

    def __repr__(self) -> str:
        return f"<Svg: {self.alt}>"

    def _repr_svg_(self) -> str:
        return self.markup

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"image/svg+xml": self.markup, "text/plain": repr(self)}
        parts = {NARROW: self.narrow, CAPTION: self.caption, "text/csv": self.data}
        bundle |= {kind: part for kind, part in parts.items() if part}
        for addition in ADDITIONS:
            bundle |= addition()
        return bundle

    def save(self, path: str | Path) -> Path:
        """Write the SVG to `path` in UTF-8, completely or not at all. Raises InputError."""
        with replacing(path) as file:
            file.write(self.markup.encode())
        return Path(path)


#: characters that XML forbids even when escaped: control characters, lone surrogates, U+FFFE and U+FFFF
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _shown(forbidden: re.Match[str]) -> str:
    """Return the control picture of a control character, or the replacement character for another character."""
    code = ord(forbidden[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def well_formed(markup: str) -> str:
    """Return the markup without characters that XML forbids. Words come from files, which may contain any character."""
    return _FORBIDDEN.sub(_shown, markup)


def drawing(width: float, height: float, alt: str, body: list[str], caption: str = "") -> Svg:
    """Return an SVG document of the given size in px, with the elements in `body`; the caption is `alt` if empty."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(alt)}>'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    markup = "\n".join([head, f"<title>{escape(alt)}</title>", ground, *body, "</svg>\n"])
    return Svg(well_formed(markup), alt, caption=caption or alt)


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 14,
    fill: str = "#222222",
    anchor: str = "middle",
    halo: bool = False,
) -> str:
    """Return a line of text as an SVG element; its baseline starts, is centred or ends at (x, y), as `anchor` states.

    `halo` adds a white outline.
    """
    around = ' paint-order="stroke" stroke="#ffffff" stroke-width="4"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}" text-anchor="{anchor}" '
        f'font-family="system-ui, sans-serif"{around}>{escape(content)}</text>'
    )


def as_svg(figure: Figure, alt: str, caption: str = "") -> Svg:
    """Return the figure as SVG, byte for byte the same for the same figure (no date, fixed ids).

    A figure that is too wide for a narrow screen also gets a narrow form, with its panels below each other. The points
    of the figure become its CSV.

    alt      what the figure shows; for readers who cannot see it, the label of the figure (a result) and a description
             of its axes, its curves and their values are added
    caption  text below the picture; empty: `alt` as it is passed
    """
    from treebound.plots.drawn import as_csv, described
    from treebound.plots.narrow import narrowed

    caption, data = caption or alt, as_csv(figure)
    content = " ".join(filter(None, [str(figure.get_label()), described(figure)]))
    if content:
        alt = f"{alt.removesuffix('.')}. {content}"
    other = narrowed(figure)  # before labels are placed in the wide form
    narrow = "" if other is None else _markup(other, caption)
    return Svg(_markup(figure, alt), alt, narrow, caption, data)


def _markup(figure: Figure, alt: str) -> str:
    """Place the labels of a figure and return the figure as SVG markup."""
    from treebound.plots.labels import settle

    out = io.StringIO()
    with style():
        settle(figure)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    markup = out.getvalue()
    markup = markup[markup.index("<svg ") :]  # a page can embed SVG without XML declaration and DOCTYPE
    return well_formed(compacted(markup).replace("<svg ", f'<svg role="img" aria-label={quoteattr(alt)} ', 1))
