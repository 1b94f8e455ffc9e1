"""The suspects on their HTML page: the first suspects with drawings of both trees, the others as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treebound.mining import page_text
from treebound.mining.page_text import Line, escaped, isolated, line_of
from treebound.mining.suspects import Suspect
from treebound.plots.style import COLOURS
from treebound.plots.tree_pair import tree_pair_svg
from treebound.treebanks.document import Document

_PAGE = 5_000_000  #: largest size of a page in bytes
_ROW = 520  #: approximate number of bytes of a suspect without a drawing
_LEAST = 1_000_000  #: bytes that drawings may always use, even if there are many suspects
#: attributes that most elements of a drawing have, and the class in the page's style sheet that replaces them
_STYLED = {
    ' font-family="system-ui, sans-serif"': "",
    ' paint-order="stroke" stroke="#ffffff" stroke-width="4"': ' class="halo"',
    ' fill="#222222" text-anchor="middle"': "",
    f' fill="none" stroke="{COLOURS["grey"]}" stroke-width="1.6"': ' class="arc"',
}

Trees = Mapping[int, tuple[np.ndarray, Sequence[str]]]


def cards(document: Document, suspects: Sequence[Suspect], trees: Trees, drawn: int) -> tuple[str, int]:
    """Return (HTML of the first suspects, with each sentence drawn once; number of suspects in this HTML).

    drawn  number of suspects to show. Fewer are shown if their drawings would make the page too large
    """
    words: dict[int, list[int]] = {}
    for suspect in suspects:
        words.setdefault(suspect.sentence, []).append(suspect.word)
    budget = max(_LEAST, _PAGE - _ROW * len(suspects))
    drawn_at: dict[int, int] = {}
    articles: list[str] = []
    for rank, suspect in enumerate(suspects[:drawn], 1):
        i = suspect.sentence
        if i in drawn_at:
            picture = f'<p class="q">Both trees: see <a href="#s{drawn_at[i]}">suspect {drawn_at[i]}</a>.</p>'
        elif i in trees:
            svg = _drawing(document, i, trees[i], words[i])
            budget -= len(svg.encode())
            if budget < 0:
                break
            drawn_at[i] = rank
            picture = _details(svg, suspect)
        else:
            picture = ""
        articles.append(_card(line_of(document, i), rank, suspect, picture))
    return f'<div id="cards">\n{"".join(articles)}</div>', len(articles)


def _drawing(document: Document, i: int, tree: tuple[np.ndarray, Sequence[str]], words: Sequence[int]) -> str:
    """Return a drawing of the annotated tree and of `tree` for sentence i as SVG, with `words` underlined."""
    sentence = document.treebank[i]
    heads, labels = tree
    drawing = tree_pair_svg(
        sentence.strings("form"),
        sentence.heads.tolist(),
        sentence.strings("deprel"),
        other_heads=np.asarray(heads).tolist(),
        other_labels=list(labels)[1:],
        emphasised=words,
    )
    markup = drawing.markup
    for attributes, replacement in _STYLED.items():
        markup = markup.replace(attributes, replacement)
    return markup


def _details(svg: str, suspect: Suspect) -> str:
    """Return the HTML of a drawing that can be folded and scrolled."""
    name = escaped(f"Both trees of sentence {suspect.sent_id}")
    return (
        "<details open><summary>Both trees</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{svg}</div></details>'
    )


def _card(line: Line, rank: int, suspect: Suspect, picture: str) -> str:
    """Return the HTML of a suspect with its sentence, change, scores and drawing."""
    annotated, proposed = page_text.change(line, suspect)
    proved = "certified" if suspect.certified else "not certified"
    return (
        f'<article id="s{rank}">\n<h3>{_box(rank)} <b>{isolated(suspect.form)}</b> '
        f'<span class="q">{suspect.kind}; sentence {isolated(suspect.sent_id)}, word {suspect.word}</span></h3>\n'
        f'<p class="text" dir="auto">{page_text.marked(line, suspect, whole=True)}</p>\n'
        f'<p>annotated <span class="old">{annotated}</span>; proposed <span class="new">{proposed}</span></p>\n'
        f'<p class="facts"><span>margin {page_text.margin(suspect)}{page_text.changed_heads(suspect)}, {proved}</span>'
        f"<span>marginal {page_text.marginal(suspect)}</span>"
        f"<span>variation {page_text.variation(suspect)}</span>"
        f'<span>group <a class="group" href="#s{rank}">{isolated(suspect.group)}</a></span></p>\n'
        f"{picture}\n</article>\n"
    )


def _box(rank: int) -> str:
    """Return the HTML of a suspect's tick box."""
    return f'<label><input type="checkbox" name="accept"> {rank}</label>'


def table(document: Document, suspects: Sequence[Suspect], shown: int) -> str:
    """Return an HTML table of the suspects after the first `shown` suspects, or "" if there are none."""
    if shown == len(suspects):
        return ""
    lines = [_row(line_of(document, s.sentence), rank, s) for rank, s in enumerate(suspects[shown:], shown + 1)]
    names = ("accept", "sentence", "word", "annotated", "proposed", "margin", "marginal", "variation")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<div id="rest" class="scroll" tabindex="0" role="region" aria-label="Further suspects">\n<table>'
        "<caption>Further suspects, not drawn. A margin with * is not certified.</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody></table></div>"
    )


def _row(line: Line, rank: int, suspect: Suspect) -> str:
    """Return a suspect as a row of the table. Its word is shown with its neighbours."""
    annotated, proposed = page_text.change(line, suspect)
    star = "" if suspect.certified else "*"
    return (
        f'<tr id="s{rank}"><td>{_box(rank)}<td>{isolated(suspect.sent_id)}:{suspect.word}'
        f'<td dir="auto">{page_text.marked(line, suspect, whole=False)}<td>{annotated}<td>{proposed}'
        f"<td>{page_text.margin(suspect)}{star}<td>{page_text.marginal(suspect)}<td>{page_text.variation(suspect)}\n"
    )
