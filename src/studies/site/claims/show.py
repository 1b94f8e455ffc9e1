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
from studies.site.claims.judge import REPLICATED, SMALLER, VERDICTS, Judged, judge, threshold
from studies.site.claims.load import Paper, load
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.pooled import LEVEL
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
        heads = ["Claim", "Published", "Ours", "Measured by", *(self.judged if len(self.judged) > 1 else ["Verdict"])]
        cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        head, lines = f"<thead><tr>{cells}</tr></thead>", []
        each = list(zip(*self.judged.values(), strict=True))
        sections = [(paper.key, list(rows)) for paper, rows in groupby(each, key=lambda row: row[0].paper)]
        parts = [(key, [row for row in rows if not _ours(row[-1])]) for key, rows in sections]
        parts.append(("", [row for row in each if _ours(row[-1])]))
        for key, rows in parts:
            if not rows:
                continue
            paper = rows[0][-1].paper
            title = f"{escape(paper.cite)}: <cite>{escape(paper.title)}</cite>" if key else "Not in the papers: ours"
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
        cells = [f"All claims of the paper. {escape(last.because)}", "", "", ""]
    else:
        name = f"claim-{last.paper.key}-{last.claim.name}"
        anchor = f' id="{name}"' if here else ""
        page = f' <a href="{last.claim.page}.ipynb#{name}">table</a>' if last.claim.page and not here else ""
        section = f'<span class="where">section {escape(last.claim.section)}{page}</span>'
        ours = typeset(escape(f"{last.because}{_tested(last)}"))
        test = typeset(escape(threshold(last.claim)))
        cells = [f"{escape(last.claim.claim)} {section}", escape(last.claim.published), ours, test]
    classes = [one.verdict.replace(",", "").replace(" ", "-") for one in row]
    marks = [f'<span class="verdict {c}">{one.verdict}</span>' for c, one in zip(classes, row, strict=True)]
    body = "".join(
        f'<td data-label="{escape(head)}">{cell}</td>'
        for head, cell in zip(heads[1:], [*cells[1:], *marks], strict=True)
    )
    return f'<tr{anchor}><th scope="row">{cells[0]}</th>{body}</tr>'


def _ours(one: Judged) -> bool:
    """Whether a claim is this project's own."""
    return one.claim is not None and one.claim.ours


def _tested(one: Judged) -> str:
    """The p-values of a claim, in words."""
    if one.adjusted is None or one.p is None:
        return ""
    return f" p = {one.p:.2g}, among the claims of the paper {one.adjusted:.2g}."


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
    """How many claims of a paper have which verdict, ours left out; empty where it has none yet."""
    theirs = [one for one in judged if one.claim is not None and not one.claim.ours]
    counts = Counter(one.verdict for one in theirs)
    parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    pooled = [one for one in theirs if one.adjusted is not None and one.verdict in (REPLICATED, SMALLER)]
    if pooled:
        sure = sum(one.adjusted is not None and one.adjusted <= 1 - LEVEL for one in pooled)
        parts[-1] += f"; of {len(pooled)} replicated over several treebanks {sure} also among all claims of the paper"
    return f"{counts.total()} claim{'s' * (counts.total() > 1)}: {', '.join(parts)}." if parts else ""


def frame(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row a claim: paper, what it claims, the test, the verdict and why, the pooled effect, and all figures.

    effect, low, high, predicted_low and predicted_high are in the unit of the measure, tau2 and I2 (%) on the scale
    where effects are pooled; p_adjusted: Holm, over the claims of the paper.
    """
    rows = []
    for one in judged:
        row = {
            "paper": one.paper.key,
            "name": "",
            "claim": "",
            "section": "",
            "published": "",
            "ours": False,
            "page": "",
        }
        row |= one.claim.model_dump(include=set(row) - {"paper"}) if one.claim is not None else {}
        row |= {"test": threshold(one.claim) if one.claim else "", "verdict": one.verdict, "because": one.because}
        rows.append({**row, **_pooled(one), "figures": one.figures})
    return pd.DataFrame(rows)


def _pooled(one: Judged) -> dict[str, float | None]:
    """The columns of `frame` about the pooled effect, rounded to what a reader can use."""
    names = ("treebanks", "effect", "low", "high", "predicted_low", "predicted_high", "tau2", "I2", "p", "p_adjusted")
    out: dict[str, float | None] = dict.fromkeys(names)
    if one.effect is None or one.claim is None:
        return out
    out |= {"treebanks": one.effect.treebanks, "effect": one.effect.value}
    out |= {"low": one.effect.low, "high": one.effect.high, "p": one.p, "p_adjusted": one.adjusted}
    if (pooled := one.effect.pooled) is not None:
        back = MEASURES[one.claim.measure].scale.back
        out |= {"tau2": float(pooled.tau2), "I2": float(pooled.I2)}
        if one.effect.treebanks > 2:
            out |= {name: back(float(getattr(pooled, name))) for name in ("predicted_low", "predicted_high")}
    return {name: None if value is None else float(f"{value:.5g}") for name, value in out.items()}


def write(root: Path, run: Results, path: Path) -> None:
    """`frame` of a run as CSV."""
    with replacing(path) as file:
        file.write(_csv(verdicts(root, run)).encode())


def _csv(judged: Sequence[Judged]) -> str:
    return frame(judged).to_csv(index=False, lineterminator="\n")
