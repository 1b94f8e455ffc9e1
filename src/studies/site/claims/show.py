"""The verdicts as a table for people and as one for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from pathlib import Path

import pandas as pd

from studies.site import collect
from studies.site.claims.judge import HOLDS, VERDICTS, Judged, judge
from studies.site.claims.load import Paper, load
from studies.site.collect import Results
from studies.site.show import Remarks, typeset
from treebound.support.atomic import replacing

NAME = "claims.csv"


@dataclass(frozen=True)
class Replication:
    """*Does it replicate?* as HTML: a body for each paper, on the first page folded, a row for each claim; narrow
    screens stack the cells.

    judged  run -> its verdicts, all over the same claims; the last one's figures are shown
    file    name of the same as CSV beside the page; empty: there is none
    """

    judged: dict[str, list[Judged]]
    caption: str
    file: str = ""

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        data = {"text/plain": self.caption, "text/html": self._html()}
        return data | ({"text/csv": _csv(list(self.judged.values())[-1])} if self.file else {})

    def _html(self) -> str:
        heads = ["Claim", "Published", "Ours", *(self.judged if len(self.judged) > 1 else ["Verdict"])]
        cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        head, lines = f"<thead><tr>{cells}</tr></thead>", []
        for paper, group in groupby(zip(*self.judged.values(), strict=True), key=lambda row: row[0].paper):
            rows = list(group)
            title = f"{escape(paper.cite)}: <cite>{escape(paper.title)}</cite>"
            body = [_row(row, heads, here=not self.file) for row in rows]
            if self.file:  # many papers: each waits behind what it comes to
                said = f"<summary>{title}. {_tally([row[-1] for row in rows])}</summary>"
                table = ['<table class="claims">', head, "<tbody>", *body, "</tbody></table>"]
                lines += ['<details class="long">', said, *table, "</details>"]
            else:
                lines += ["<tbody>", f'<tr><th scope="rowgroup" colspan="{len(heads)}">{title}</th></tr>']
                lines += [*body, "</tbody>"]
        if self.file:
            link = f'<p class="where"><a href="{self.file}">The table as CSV</a></p>'
            return "\n".join([f"<p><strong>{escape(self.caption)}</strong></p>", *lines, link])
        caption = f"<caption>{escape(self.caption)}</caption>"
        return "\n".join(['<table class="claims">', caption, head, *lines, "</table>"])


def _row(row: Sequence[Judged], heads: Sequence[str], here: bool) -> str:
    """One claim; `here`: on the page of its table, where links from the first page end."""
    last, anchor = row[-1], ""
    if last.claim is None:
        cells = [f"All claims of the paper. {escape(last.because)}", "", ""]
    else:
        name = f"claim-{last.paper.key}-{last.claim.name}"
        anchor = f' id="{name}"' if here else ""
        page = f' <a href="{last.claim.page}.ipynb#{name}">table</a>' if last.claim.page and not here else ""
        section = f'<span class="where">section {escape(last.claim.section)}{page}</span>'
        cells = [f"{escape(last.claim.claim)} {section}", escape(last.claim.published), typeset(escape(last.because))]
    marks = [f'<span class="verdict {one.verdict.replace(" ", "-")}">{one.verdict}</span>' for one in row]
    body = "".join(
        f'<td data-label="{escape(head)}">{cell}</td>'
        for head, cell in zip(heads[1:], [*cells[1:], *marks], strict=True)
    )
    return f'<tr{anchor}><th scope="row">{cells[0]}</th>{body}</tr>'


def verdicts(root: Path, run: Results, papers: Sequence[Paper] | None = None) -> list[Judged]:
    """The claims of all or some papers judged by one run of a project; the reference by its other corpora as well."""
    more = collect.multilingual(root) if run.name == collect.REFERENCE else None
    return judge([run] if more is None else [run, more], load() if papers is None else papers)


def replication(root: Path, page: str = "") -> Replication:
    """The table of the front page, all claims judged by every run of `collect.provenances`, the reference by its other
    corpora too; with the name of a notebook, the claims whose tables it has.
    """
    papers = load() if not page else [paper for paper in map(partial(_on, page), load()) if paper.claims]
    runs = collect.provenances(root)
    judged = {run.name: verdicts(root, run, papers) for run in runs}
    if page:
        return Replication(judged, f"{summary(judged[runs[-1].name])!r} By {runs[-1].title}; claim by claim")
    return Replication(judged, f"What is claimed, and what {runs[-1].title} says", NAME)


def _on(page: str, paper: Paper) -> Paper:
    """A paper with the claims whose tables a page has."""
    return paper.model_copy(update={"claims": tuple(claim for claim in paper.claims if claim.page == page)})


def summary(judged: Sequence[Judged]) -> Remarks:
    """How many claims have which verdict: of all papers together, where there are several, then of each."""
    papers = len({one.paper.key for one in judged if one.claim is not None})
    said = [f"{papers} papers, {_tally(judged)}"] if papers > 1 else []
    for paper, group in groupby(judged, key=lambda one: one.paper):
        if tally := _tally(list(group)):
            said.append(f"{paper.cite}, {tally}")
    return Remarks(tuple(said))


def _tally(judged: Sequence[Judged]) -> str:
    """How many claims of a paper have which verdict; empty where it has none yet."""
    counts = Counter(one.verdict for one in judged if one.claim is not None)
    words = {HOLDS: "hold"}
    parts = [f"{counts[v]} {words.get(v, v) if counts[v] > 1 else v}" for v in VERDICTS if counts[v]]
    return f"{counts.total()} claim{'s' * (counts.total() > 1)}: {', '.join(parts)}." if parts else ""


def frame(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row a claim: paper, name, claim, section, published, verdict, because, counts of places, figures, page."""
    rows = []
    for one in judged:
        row = {"paper": one.paper.key, "name": "", "claim": "", "section": "", "published": "", "page": ""}
        sides: Sequence[int] = ()
        if one.claim is not None:
            row |= one.claim.model_dump(include=set(row) - {"paper"})
            sides = one.sides
        counts = {"for it": sides.count(1), "against it": sides.count(-1), "undecided": sides.count(0)}
        row |= {"verdict": one.verdict, "because": one.because}
        rows.append({**row, **counts, "figures": one.figures})
    return pd.DataFrame(rows)


def write(root: Path, run: Results, path: Path) -> None:
    """`frame` of a run as CSV."""
    with replacing(path) as file:
        file.write(_csv(verdicts(root, run)).encode())


def _csv(judged: Sequence[Judged]) -> str:
    return frame(judged).to_csv(index=False, lineterminator="\n")
