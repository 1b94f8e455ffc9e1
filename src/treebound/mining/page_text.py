"""Texts on the HTML page of suspects: escaped text, sentences with marked words, changes and scores."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from treebound.mining.suspects import Suspect
from treebound.plots.svg import well_formed
from treebound.treebanks.document import Document

_CONTEXT = 4  #: number of words on each side of a suspect in a row of the table


@dataclass(frozen=True)
class Line:
    """A sentence for display: n forms, and for each form whether a space follows it."""

    forms: Sequence[str]
    spaces: Sequence[bool]


def line_of(document: Document, i: int) -> Line:
    """Return sentence i of a document for display, without a space after words that have `SpaceAfter=No`."""
    block, position = document.blocks[i], document.layout.misc
    forms = document.treebank[i].strings("form")
    if position is None:
        return Line(forms, [True] * len(forms))
    misc = [block[row].split("\t")[position].rstrip("\r\n").split("|") for row in document.rows[i]]
    return Line(forms, ["SpaceAfter=No" not in items for items in misc])


def escaped(text: str) -> str:
    """Return a text escaped for HTML and for attributes of HTML. Control characters become printable symbols."""
    return html.escape(well_formed(text))


def isolated(text: str) -> str:
    """Return an escaped text whose writing direction cannot reorder the text around it."""
    return escaped(text) if text.isascii() else f"<bdi>{escaped(text)}</bdi>"


def marked(line: Line, suspect: Suspect, whole: bool) -> str:
    """Return the HTML of a sentence with marked words; unless `whole`, only of the words near the suspect.

    The suspect word is marked and, unless its tag is the suspect, also its annotated and its proposed head.
    """
    n = len(line.forms)
    first = 1 if whole else max(1, suspect.word - _CONTEXT)
    last = n if whole else min(n, suspect.word + _CONTEXT)
    tags = {suspect.word: "mark"}
    if suspect.kind != "tag":
        tags = {suspect.proposed_head: 'b class="p"', suspect.head: 'b class="o"'} | tags
    pieces = ["… "] if first > 1 else []
    for m in range(first, last + 1):
        form = escaped(line.forms[m - 1])
        tag = tags.get(m, "")
        pieces.append(f"<{tag}>{form}</{tag.split(' ')[0]}>" if tag else form)
        pieces.append(" " if line.spaces[m - 1] else "")
    return "".join(pieces).rstrip(" ") + (" …" if last < n else "")


def change(line: Line, suspect: Suspect) -> tuple[str, str]:
    """Return the HTML of the annotation and of the proposal, for instance `nsubj of 2 Trees`."""
    if suspect.kind == "tag":
        return isolated(suspect.tag), isolated(suspect.proposed_tag)

    def arc(head: int, label: str) -> str:
        above = f"{head} {isolated(line.forms[head - 1])}" if head else "the root"
        return f"{isolated(label)} of {above}"

    return arc(suspect.head, suspect.label), arc(suspect.proposed_head, suspect.proposed_label)


def margin(suspect: Suspect) -> str:
    """Return a margin with two decimals, or with two significant digits if it is small."""
    value = suspect.margin
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def changed_heads(suspect: Suspect) -> str:
    """Return, as text, how many heads change together, or "" if only the suspect's head changes."""
    return "" if suspect.changes == 1 else f" ({suspect.changes} heads)"


def marginal(suspect: Suspect) -> str:
    """Return a marginal probability in percent, or a dash if it is unknown."""
    if math.isnan(suspect.marginal):
        return "–"
    percent = 100 * suspect.marginal
    return "&lt; 0.1 %" if 0 <= percent < 0.1 else f"{percent:.1f} %"


def variation(suspect: Suspect) -> str:
    """Return a count like `3 of 10`: 3 of 10 other occurrences are annotated differently.

    A dash means that there are no other occurrences.
    """
    otherwise, elsewhere = suspect.variation
    return f"{otherwise} of {elsewhere}" if elsewhere else "–"
