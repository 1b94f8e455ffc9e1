"""The page of a ranked list, an HTML file for offline use: groups of changes, drawings of trees, ticks to save."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import BinaryIO, get_args

import numpy as np

from treebound.mining.groups import SYSTEMATIC, Group, groups
from treebound.mining.output import write_tsv
from treebound.mining.page_suspects import cards, table
from treebound.mining.page_text import escaped, isolated
from treebound.mining.suspects import Kind, Suspect
from treebound.treebanks.document import Document

DRAWN = 200  #: number of suspects that are shown with their trees


def write_page(
    file: BinaryIO,
    document: Document,
    suspects: Sequence[Suspect],
    trees: Mapping[int, tuple[np.ndarray, Sequence[str]]],
    title: str,
    *,
    drawn: int = DRAWN,
) -> None:
    """Write the page of a ranked list: a single HTML file that needs no network and is readable without scripts.

    Parameters
    ----------
    file : binary file
        The output.
    document : Document
        The treebank that the suspects are from.
    suspects : sequence of Suspect
        The ranked list. Every suspect is on the page.
    trees : mapping of int to (int32[n + 1], sequence of n + 1 str)
        Index of a sentence -> heads and labels of the model's best tree; entry 0 belongs to the root. A sentence that
        is not in the mapping is not drawn.
    title : str
        Heading of the page.
    drawn : int
        Number of suspects, from the top, that are shown with their trees. Fewer are shown if the page would exceed
        about 5 MB. The other suspects are rows of a table.

    Raises
    ------
    InputError
        If a value of a suspect does not fit into the table that the page can save.
    """
    ranked = groups(suspects)
    cards_html, articles = cards(document, suspects, trees, drawn)
    page = Template(_resource("page.html")).substitute(
        title=escaped(title),
        style=_resource("page.css"),
        script=_resource("page.js"),
        summary=_summary(document, suspects),
        systematic=SYSTEMATIC,
        groups=_groups(ranked, suspects),
        kinds="".join(f"<option>{kind}</option>" for kind in dict.fromkeys(s.kind for s in suspects)),
        cards=cards_html,
        table=table(document, suspects, articles),
        data=_data(suspects),
    )
    file.write(page.encode())


def _resource(name: str) -> str:
    """Return the text of a data file of this package."""
    return files("treebound.mining").joinpath(name).read_text(encoding="utf-8")


def _summary(document: Document, suspects: Sequence[Suspect]) -> str:
    """Return the summary at the top of the page: numbers of words, sentences and suspects."""
    kinds = Counter(suspect.kind for suspect in suspects)
    words, certified = document.treebank.words, sum(suspect.certified for suspect in suspects)
    size = f"{words:,} words in {len(document):,} sentences."
    if not suspects:
        return f"{size} No annotation is suspect."
    parts = ", ".join(f"{kinds[kind]:,} of kind {kind}" for kind in get_args(Kind) if kinds[kind])
    share = 100 * len({(s.sentence, s.word) for s in suspects}) / words
    return (
        f"{size} <b>{len(suspects):,} suspects</b> on {share:.1f} % of the words: {parts}. "
        f"{certified:,} of the margins are certified."
    )


def _groups(ranked: Sequence[Group], suspects: Sequence[Suspect]) -> str:
    """Return the section of the groups of equal changes. Small groups are in a folded table."""
    if not ranked:
        return ""
    large = [group for group in ranked if group.systematic] or list(ranked[:10])
    small = ranked[len(large) :]
    systematic = sum(group.systematic for group in ranked)
    intro = (
        f"<h2>Groups of equal changes</h2>\n<p>{len(ranked):,} groups, {systematic} of them systematic (more than "
        f"{SYSTEMATIC} equal changes). A link shows the suspects of its group.</p>\n"
    )
    folded = f"<details><summary>{len(small):,} smaller groups</summary>\n{_group_table(small, suspects)}</details>"
    return f'<section id="groups">\n{intro}{_group_table(large, suspects)}{folded if small else ""}</section>'


def _group_table(listed: Sequence[Group], suspects: Sequence[Suspect]) -> str:
    """Return an HTML table with a row for each group."""
    lines = []
    for group in listed:
        sign = ' <span class="systematic">systematic</span>' if group.systematic else ""
        examples = ", ".join(f'<a href="#s{i + 1}">#{i + 1} {isolated(suspects[i].form)}</a>' for i in group.examples)
        lines.append(
            f'<tr><td><a class="group" href="#s{group.examples[0] + 1}">{isolated(group.key)}</a>{sign}</td>'
            f'<td>{group.kind}</td><td class="n">{group.count:,}</td><td class="n">{100 * group.share:.1f} %</td>'
            f'<td class="n">{group.margin:,.1f}</td><td>{examples}</td></tr>\n'
        )
    names = "".join(f'<th scope="col">{name}</th>' for name in ("change", "kind"))
    names += "".join(f'<th scope="col" class="n">{name}</th>' for name in ("suspects", "share", "total margin"))
    names += '<th scope="col">examples</th>'
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Groups of equal changes">'
        f"<table><thead><tr>{names}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )


def _data(suspects: Sequence[Suspect]) -> str:
    """Return the table of suspects as a JSON string that cannot close the surrounding script element."""
    rows = io.BytesIO()
    write_tsv(rows, suspects)
    return json.dumps(rows.getvalue().decode(), ensure_ascii=False).replace("<", "\\u003c")
