"""List the headings, tables, figures, claims, commands and first sentences of the site for the search in its pages.

The list is a script, because a browser does not let pages on disk read other files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html.parser import HTMLParser

#: kinds of entries
HEADING, TABLE, FIGURE, CLAIM = "heading", "table", "figure", "claim"
COMMAND, TEXT = "command", "text"
LONGEST = 200  #: number of characters of an entry that are stored
NAME = "search-index.js"  #: name of the script in the site
_VOID = frozenset(("area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))


@dataclass(frozen=True)
class Entry:
    """A place in a page that a search can return.

    kind    HEADING, TABLE, FIGURE, CLAIM, COMMAND (of `treebound`), or TEXT (paragraph of the question or the answer)
    anchor  id of the place in the page; empty for the top of the page
    text    words of the heading, caption, claim, command or paragraph
    names   names of the rows of a table, which a reader may search for: parsers, corpora, measures
    """

    kind: str
    anchor: str
    text: str
    names: str = ""


def entries(html: str) -> list[Entry]:
    """Return the entries of the content of a page, in order; equal texts of one kind are listed once."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    unique = {(entry.kind, entry.text): entry for entry in reversed(reader.entries)}
    return [entry for entry in reader.entries if unique[entry.kind, entry.text] is entry]


def script(pages: Iterable[tuple[str, str, str, str]]) -> str:
    """Return the script that defines the list of entries.

    pages  (file, title, group, HTML of the content) of each page. A claim of several pages is listed for the first one
           whose content holds its anchor.
    """
    files: list[list[str]] = []
    rows: list[list[str | int]] = []
    claims: set[str] = set()
    for number, (file, title, group, html) in enumerate(pages):
        files.append([file, title, group])
        for entry in entries(html):
            if entry.kind == CLAIM:
                if entry.anchor in claims:
                    continue
                claims.add(entry.anchor)
            rows.append([number, entry.kind, entry.anchor, entry.text, *([entry.names] if entry.names else [])])
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    named = ",\n".join(json.dumps(file, ensure_ascii=False, separators=(",", ":")) for file in files)
    return f"const SEARCH_PAGES = [\n{named}\n];\nconst SEARCH_ENTRIES = [\n{lines}\n];\n"


class _Reader(HTMLParser):
    """Parser of a page that collects its entries.

    The anchor of a caption is the id of the innermost element around it that has an id. Without such an element, it is
    the id of the table that follows, or else the id of the last heading. A figure without a caption is described by
    the text of its image.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self._open: list[tuple[str, str, str]] = []  # tag, id and class of the elements around the present position
        self._heading = ""
        self._kind, self._depth, self._text = "", 0, [""]
        self._alt = ""  # text of the image of the open figure
        self._figures = 0  # number of entries when the open figure began
        self._row: list[str] | None = None  # texts of the row name that is open
        self._code: list[str] | None = None  # texts of the code that is open
        self._open_caption = False  # True if the last entry is a caption whose table has yet to come

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "img":
            self._alt = values.get("alt", "")
        elif tag == "svg":
            self._alt = self._alt or values.get("aria-label", "")
        if tag in _VOID:
            return
        classes = values.get("class", "").split()
        outer = self._open[-1][2].split() if self._open else []
        self._open.append((tag, values.get("id", ""), values.get("class", "")))
        if tag == "figure":
            self._alt, self._figures = "", len(self.entries)
        if self._open_caption and values.get("id") and "scroll" in classes:
            self.entries[-1] = replace(self.entries[-1], anchor=values["id"])
            self._open_caption = False
        if tag in ("h2", "h3"):
            self._heading = values.get("id", "")
        if tag == "code":
            self._code = []
        if self._kind:
            return
        if tag == "th" and values.get("scope", "").startswith("row"):
            self._row = []
        if tag in ("h2", "h3"):
            self._begin(HEADING)
        elif values.get("id", "").startswith("claim-"):
            self._begin(CLAIM)
        elif tag == "caption" or "caption" in classes or (tag == "summary" and "long" in outer):
            self._begin(FIGURE if self._inside("figure") else TABLE)
        elif tag == "figcaption":
            self._begin(FIGURE)
        elif tag == "p" and ("lead" in classes or "answer" in outer):
            self._begin(TEXT)

    def handle_endtag(self, tag: str) -> None:
        if tag not in [name for name, _, _ in self._open]:
            return
        name = ""
        while name != tag:
            # the first cell of a claim is the claim; the figures that follow are left out
            if self._kind and (
                len(self._open) == self._depth or (self._kind == CLAIM and self._open[-1][0] in ("th", "td"))
            ):
                self._end()
            anchor = self._anchor()
            name = self._open.pop()[0]
            if name == "code" and self._code is not None:
                if (code := "".join(self._code)).startswith("treebound "):
                    self._store(COMMAND, code, anchor)
                self._code = None
            if name == "th" and self._row is not None:
                self._name_row("".join(self._row))
                self._row = None
            if name == "figure" and len(self.entries) == self._figures:
                self._store(FIGURE, self._alt, anchor)

    def handle_data(self, data: str) -> None:
        if self._code is not None:
            self._code.append(data)
        where = any("where" in classes.split() for _, _, classes in self._open)  # section of a paper, beside a claim
        if self._kind and not (where or self._inside("a") or self._inside("math")):
            self._text.append(data)
        elif self._row is not None:
            self._row.append(data)

    def _name_row(self, name: str) -> None:
        """Add the words of a row name to the last entry, if this is a table and does not have them yet."""
        if self.entries and self.entries[-1].kind == TABLE:
            last = self.entries[-1]
            known = f"{last.text} {last.names}".lower().split()
            words = [word for word in dict.fromkeys(name.split()) if len(word) > 2 and word.lower() not in known]
            words = [word for word in words if re.search(r"[^\W\d]{3}", word)]
            if words and len(last.names) < LONGEST:
                self.entries[-1] = replace(last, names=" ".join([last.names, *words]).strip())

    def _inside(self, tag: str) -> bool:
        """Return True if an element with this tag is open."""
        return any(name == tag for name, _, _ in self._open)

    def _begin(self, kind: str) -> None:
        """Begin an entry at the element that was opened last."""
        self._kind, self._depth, self._text = kind, len(self._open), []

    def _end(self) -> None:
        """Store the entry of the caption, heading or claim that ends."""
        self._store(self._kind, "".join(self._text), self._anchor())
        self._kind = ""

    def _anchor(self) -> str:
        """Return the id of the innermost open element that has one, otherwise the id of the last heading."""
        return next((name for _, name, _ in reversed(self._open) if name), self._heading)

    def _store(self, kind: str, text: str, anchor: str) -> None:
        """Store an entry, shortened, unless its text has no words."""
        text = " ".join(text.split())
        if re.search(r"\w", text):
            short = text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"
            self.entries.append(Entry(kind, anchor, short))
            self._open_caption = kind == TABLE and not any(name for _, name, _ in self._open)
