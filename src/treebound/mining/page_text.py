"""Pieces of the page of suspects: escaped text, a sentence with its words marked, a change in words."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from treebound.mining.suspects import Suspect
from treebound.plots.svg import well_formed
from treebound.treebanks.document import Document

_CONTEXT = 4  #: words on each side of a suspect in a row of the table


@dataclass(frozen=True)
class Line:
    """A sentence for display: n forms, and whether a space follows each."""

    forms: Sequence[str]
    spaces: Sequence[bool]


def line_of(document: Document, i: int) -> Line:
    """Return sentence i of a document with its spaces: none after a word that has `SpaceAfter=No`."""
    block, position = document.blocks[i], document.layout.misc
    forms = document.treebank[i].strings("form")
    if position is None:
        return Line(forms, [True] * len(forms))
    misc = [block[row].split("\t")[position].rstrip("\r\n").split("|") for row in document.rows[i]]
    return Line(forms, ["SpaceAfter=No" not in items for items in misc])


def escaped(text: str) -> str:
    """Return a text that can stand in HTML, also in an attribute; control characters become visible signs."""
    return html.escape(well_formed(text))


def isolated(text: str) -> str:
    """Return a text whose direction of writing does not change the order of its surroundings."""
    return escaped(text) if text.isascii() else f"<bdi>{escaped(text)}</bdi>"


def marked(line: Line, suspect: Suspect, whole: bool) -> str:
    """Return a sentence, or the words near the suspect, with the word and both heads marked."""
    n = len(line.forms)
    first = 1 if whole else max(1, suspect.word - _CONTEXT)
    last = n if whole else min(n, suspect.word + _CONTEXT)
    tags = {suspect.word: "mark"}
    if suspect.kind != "tag":
        tags = {suspect.proposed_head: 'b class="p"', suspect.head: 'b class="o"'} | tags
    parts = ["… "] if first > 1 else []
    for m in range(first, last + 1):
        form = escaped(line.forms[m - 1])
        tag = tags.get(m, "")
        parts.append(f"<{tag}>{form}</{tag.split(' ')[0]}>" if tag else form)
        parts.append(" " if line.spaces[m - 1] else "")
    return "".join(parts).rstrip(" ") + (" …" if last < n else "")


def change(line: Line, suspect: Suspect) -> tuple[str, str]:
    """Return the annotation and the proposal, for instance `nsubj of 2 Trees`, as HTML."""
    if suspect.kind == "tag":
        return isolated(suspect.tag), isolated(suspect.proposed_tag)

    def arc(head: int, label: str) -> str:
        above = f"{head} {isolated(line.forms[head - 1])}" if head else "the root"
        return f"{isolated(label)} of {above}"

    return arc(suspect.head, suspect.label), arc(suspect.proposed_head, suspect.proposed_label)


def margin(suspect: Suspect) -> str:
    """Return a margin with two decimals, or more where it is small."""
    value = suspect.margin
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def changed_heads(suspect: Suspect) -> str:
    """Return how many heads change together; nothing where the suspect's head is the only one."""
    return "" if suspect.changes == 1 else f" ({suspect.changes} heads)"


def marginal(suspect: Suspect) -> str:
    """Return a marginal probability in percent; a dash where it is unknown."""
    if math.isnan(suspect.marginal):
        return "–"
    percent = 100 * suspect.marginal
    return "&lt; 0.1 %" if 0 <= percent < 0.1 else f"{percent:.1f} %"


def variation(suspect: Suspect) -> str:
    """Return how often the construction is annotated otherwise; a dash where it occurs only here."""
    otherwise, elsewhere = suspect.variation
    return f"{otherwise} of {elsewhere}" if elsewhere else "–"
