"""Show the verdicts on claims as an HTML table for people and as CSV for programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from studies.site import collect, sources
from studies.site.claims.judge import (
    CONTRADICTED,
    DIFFERS,
    REPLICATED,
    SHOWN,
    UNDECIDED,
    VERDICTS,
    Judged,
    has_own_errors,
    judge,
    of_papers,
    threshold,
)
from studies.site.claims.load import load
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.sentences import joined
from studies.site.show import Remarks, p_in_words, typeset
from treebound.support.atomic import replacing

NAME = "claims.csv"
ZERO = re.compile(r"\+0\.0+(?!\d)")  #: zero as the threshold of a difference; people read it without sign and decimals
NAMED = 2  #: largest number of contradicted claims that a sentence names
ONE_TREEBANK = " A value from one treebank says nothing about other treebanks."


@dataclass(frozen=True)
class Replication:
    """The table "Does it replicate?" as HTML.

    Each paper has a table body with a row for each claim. On the page with the claims of all papers, the bodies are
    folded away, and a link to `verdicts-KEY` leads to the paper with this key. Narrow screens stack the cells.

    The rows of a paper have the order of the verdicts in SHOWN, because a reader looks for a verdict. Claims with the
    same verdict have the order of the paper. If there are several runs, the verdict that comes first in SHOWN counts.

    judged  verdicts of each run, all over the same claims; the values of the last run are shown
    file    name of the CSV file beside the page; empty: there is none
    """

    judged: dict[str, list[Judged]]
    caption: str
    file: str = ""

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        data = {"text/plain": self.caption, "text/html": self._html()}
        data |= {"text/csv": _csv(list(self.judged.values())[-1])} if self.file else {}
        return data | sources.bundle()

    def _html(self) -> str:
        """Return the table as HTML, with a link to the CSV file if there is one."""
        heads = ["Claim", "Published", "Our result", "Test", *(self.judged if len(self.judged) > 1 else ["Verdict"])]
        cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        head, lines = f"<thead><tr>{cells}</tr></thead>", []
        rows_of_claims = list(zip(*self.judged.values(), strict=True))
        sections = [(paper.key, list(rows)) for paper, rows in groupby(rows_of_claims, key=lambda row: row[0].paper)]
        groups = [(key, [row for row in rows if not _is_ours(row[-1])]) for key, rows in sections]
        groups.append(("", [row for row in rows_of_claims if _is_ours(row[-1])]))
        for key, rows in groups:
            if not rows:
                continue
            rows = sorted(rows, key=lambda row: min(SHOWN.index(judged.verdict) for judged in row))
            paper = rows[0][-1].paper
            title = (
                f"{escape(paper.cite)}: <cite>{escape(paper.title)}</cite>"
                if key
                else "Claims of this project, and statements of the papers without a published experiment"
            )
            body = [_row(row, heads, here=not self.file) for row in rows]
            if self.file:  # many papers: fold each one under its summary
                summary_line = f"<summary>{title}. {_tally([row[-1] for row in rows])}</summary>"
                of_rows = [row[-1] for row in rows]
                if why := why_open(of_rows):
                    why = f"Why {sum(bool(x.reason) for x in of_rows)} claims stay inconclusive: {why}"
                    summary_line += f"<p>{typeset(escape(why))}</p>"
                table = ['<table class="claims">', head, "<tbody>", *body, "</tbody></table>"]
                anchor = f' id="verdicts-{key}"' if key else ""
                lines += [f'<details class="long"{anchor}>', summary_line, *table, "</details>"]
            else:
                lines += ["<tbody>", f'<tr><th scope="rowgroup" colspan="{len(heads)}">{title}</th></tr>']
                lines += [*body, "</tbody>"]
        if self.file:
            link = f'<p class="where"><a href="{self.file}">Download the table as CSV</a></p>'
            return "\n".join([f"<p><strong>{escape(self.caption)}</strong></p>", *lines, link])
        caption = f"<caption>{escape(self.caption)}</caption>"
        return "\n".join(['<table class="claims">', caption, head, *lines, "</table>"])


def _row(row: Sequence[Judged], heads: Sequence[str], here: bool) -> str:
    """Return the table row of one claim.

    row    the verdicts of all runs on the claim
    heads  the headings of the columns, which label the cells on narrow screens
    here   True on the page that has the table of the claim; the row is then brief, because the page with all claims
           describes how effects vary between treebanks
    """
    last, anchor = row[-1], ""
    if last.claim is None:
        cells = [f"All claims of the paper. {escape(last.because)}", "", "", ""]
    else:
        name = f"claim-{last.paper.key}-{last.claim.name}"
        anchor = f' id="{name}"'
        page = f' <a href="{last.claim.page}.ipynb#{name}">table</a>' if last.claim.page and not here else ""
        section = f'<span class="where">{escape(_place(last.claim.section))}{page}</span>'
        ours = _result(last, here)
        test = typeset(escape(ZERO.sub("0", threshold(last.claim))))
        cells = [f"{escape(last.claim.claim)} {section}", escape(last.claim.published), ours, test]
    classes = [judged.verdict.replace(",", "").replace(" ", "-") for judged in row]
    marks = [f'<span class="verdict {c}">{judged.words}</span>' for c, judged in zip(classes, row, strict=True)]
    body = "".join(
        f'<td data-label="{escape(head)}">{cell}</td>'
        for head, cell in zip(heads[1:], [*cells[1:], *marks], strict=True)
    )
    return f'<tr{anchor}><th scope="row">{cells[0]}</th>{body}</tr>'


def _place(section: str) -> str:
    """Return the place of a claim in its paper in words, for instance `sections 3.4 and 4.6`; empty: it has none."""
    if section == "ours":
        return ""
    if section.startswith("abstract, "):
        return f"abstract and section {section.removeprefix('abstract, ')}"
    several = re.match(r"[\d.]+(?:,| and) \d", section)
    return f"section{'s' * (several is not None)} {section}"


def _result(judged: Judged, here: bool) -> str:
    """Return the cell with the result of a claim.

    here  see `_row`; the page with all claims folds away the p-value before adjustment, and how effects vary between
          treebanks
    """
    p, adjusted = judged.p, judged.adjusted
    family = "this project on this paper" if _is_ours(judged) else "the paper"
    if p is None or adjusted is None:
        shown, more = judged.brief, judged.spread
    elif here:
        shown = (
            f"{judged.brief} {p_in_words(p)} (against the threshold); adjusted for all claims of {family}, "
            f"{p_in_words(adjusted)}."
        )
        more = ""
    else:
        shown = f"{judged.brief} Adjusted {p_in_words(adjusted)}."
        more = f"{judged.spread} Before the adjustment for all claims of {family}, {p_in_words(p)}."
    if here or not more:
        return typeset(escape(shown))
    summary_line = "<summary>More about this result</summary>"
    return f'{typeset(escape(shown))}<details class="more">{summary_line}{typeset(escape(more.strip()))}</details>'


def _is_ours(judged: Judged) -> bool:
    """Return True if a claim is made by this project, not by a paper."""
    return judged.claim is not None and judged.claim.ours


def verdicts(root: Path, run: Results, page: str = "") -> list[Judged]:
    """Judge the claims of all papers by one run of a project.

    If `run` is the reference run and has a multilingual part, both are judged together.

    page  name of a notebook: only the results behind its own claims are recorded as its sources; empty: all results are
    """
    multilingual_run = collect.multilingual(root) if run.name == collect.REFERENCE else None
    return judge([run] if multilingual_run is None else [run, multilingual_run], load(), page)


def replication(root: Path, page: str = "") -> Replication:
    """Return the table of claims, judged by every run of `collect.provenances`.

    page  name of a notebook, whose claims alone are in the table; empty: all claims

    The reference run is judged together with its multilingual part. All claims of a paper are judged, so that p-values
    are adjusted for all of them on every page.
    """
    runs = collect.provenances(root)
    judged = {
        run.name: [entry for entry in verdicts(root, run, page) if not page or _is_on(entry, page)] for run in runs
    }
    shown = judged[runs[-1].name]
    note = ONE_TREEBANK * any(entry.effect is not None and entry.effect.pooled is None for entry in shown)
    if page:
        tally, ours = str(summary(shown)), sum(map(_is_ours, shown))
        also = f"The table {'also ' * bool(tally)}has {ours} claim{'s' * (ours > 1)} of this project." * bool(ours)
        text = " ".join(filter(None, [tally, also, f"Judged by {runs[-1].title}, claim by claim.{note}"]))
        return Replication(judged, text)
    return Replication(judged, f"The claims of the papers, judged by {runs[-1].title}.{note}", NAME)


def _is_on(judged: Judged, page: str) -> bool:
    """Return True if the table of a claim is on a page."""
    return judged.claim is not None and judged.claim.page == page


def summary(judged: Sequence[Judged]) -> Remarks:
    """Count the verdicts on all papers together, if there are several papers, and on each paper."""
    papers = len({entry.paper.key for entry in of_papers(judged)})
    sentences = [f"{papers} papers, {_tally(judged)}"] if papers > 1 else []
    for paper, group in groupby(judged, key=lambda entry: entry.paper):
        if tally := _tally(list(group)):
            sentences.append(f"{paper.cite}, {tally}")
    return Remarks(tuple(sentences))


def why_open(judged: Sequence[Judged]) -> str:
    """Say why claims stay inconclusive: each reason with the number of its claims. Empty for fewer than two claims.

    A test that differs from the claim is counted by the first difference that the claim states.
    """
    entries = [entry for entry in judged if entry.reason]
    differences = [entry.claim.otherwise for entry in entries if entry.claim is not None and entry.claim.otherwise]
    differs = Counter(re.split(r"; |\. ", text)[0] for text in differences)
    others = Counter(entry.reason for entry in entries if entry.reason != DIFFERS)
    parts = [f"{reason} ({count})" for reason, count in others.most_common()]
    if differs:
        parts.append(f"the test differs ({differs.total()}): {_listed(differs)}")
    return f"{'; '.join(parts)}." if len(entries) > 1 else ""


def contradicted(judged: Sequence[Judged]) -> str:
    """Count the contradicted claims, and name the first NAMED that have a brief name, with the measured effects.

    The text is empty if no claim is contradicted.
    """
    entries = [entry for entry in judged if entry.verdict == CONTRADICTED]
    named: list[str] = []
    for entry in entries:
        if entry.claim is not None and entry.effect is not None and entry.claim.brief and len(named) < NAMED:
            effect = MEASURES[entry.claim.measure].text.format(entry.effect.value)
            places = list(dict.fromkeys(place.treebank for place in entry.measured))
            where = places[0] if len(places) == 1 else f"{len(places)} treebanks"
            named.append(f"“{entry.claim.brief}” ({effect}, {where})")
    if not entries:
        return ""
    count = "" if len(named) == len(entries) else f"{len(entries)}{', among them ' * bool(named)}"
    return f"Contradicted {'is' if len(entries) == 1 else 'are'} {count}{joined(named)}."


def _listed(counts: Counter[str]) -> str:
    """List texts with their numbers, the most frequent text first."""
    return "; ".join(f"{text} ({count})" for text, count in counts.most_common())


def _tally(judged: Sequence[Judged]) -> str:
    """Count the verdicts on the claims of papers, not of this project. The text is empty if none is judged."""
    of_paper = of_papers(judged)
    counts = Counter(entry.counted_as for entry in of_paper)
    alone = Counter(entry.counted_as for entry in of_paper if entry.on_one_treebank)
    parts = [
        f"{counts[verdict]} {verdict}"
        + f" ({alone[verdict]} on one treebank)" * (verdict not in UNDECIDED and alone[verdict] > 0)
        for verdict in VERDICTS
        if counts[verdict]
    ]
    if not parts:
        return ""
    text = f"{counts.total()} claim{'s' * (counts.total() > 1)}: {', '.join(parts)}."
    replicated = [entry for entry in of_paper if entry.adjusted is not None and entry.counted_as == REPLICATED]
    if not replicated:
        return text
    significant = sum(entry.significant for entry in replicated)
    after = "significant after adjustment for the number of claims of the paper (test over treebanks)."
    if len(replicated) == 1:
        stays = "stays" if significant else "does not stay"
        return f"{text} The claim that is replicated over several treebanks {stays} {after}"
    stay = "stays" if significant == 1 else "stay"
    return (
        f"{text} Of {len(replicated)} claims that are replicated over several treebanks, {significant or 'none'} "
        f"{stay} {after}"
    )


def frame(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return one row per claim: paper, claim, test, verdict and reason, the pooled effect, and all measured values.

    effect, low, high, predicted_low and predicted_high are in the unit of the measure; tau2 and I2 (%) are on the scale
    where effects are pooled; I2 is empty unless the error of every treebank is known. p_adjusted is adjusted over the
    claims of the paper (Holm), or over the claims of this project beside them.
    shown is the verdict as the pages print it.
    """
    rows = []
    for entry in judged:
        row = {
            "paper": entry.paper.key,
            "name": "",
            "claim": "",
            "section": "",
            "published": "",
            "ours": False,
            "page": "",
        }
        row |= entry.claim.model_dump(include=set(row) - {"paper"}) if entry.claim is not None else {}
        row |= {
            "test": threshold(entry.claim) if entry.claim else "",
            "verdict": entry.verdict,
            "shown": entry.words,
            "because": entry.because,
        }
        rows.append({**row, **_pooled(entry), "figures": entry.figures})
    return pd.DataFrame(rows)


def _pooled(judged: Judged) -> dict[str, float | None]:
    """Return the values of one claim in the columns of `frame` about the pooled effect, to five significant digits."""
    names = ("treebanks", "effect", "low", "high", "predicted_low", "predicted_high", "tau2", "I2", "p", "p_adjusted")
    columns: dict[str, float | None] = dict.fromkeys(names)
    if judged.effect is None or judged.claim is None:
        return columns
    columns |= {"treebanks": judged.effect.treebanks, "effect": judged.effect.value}
    columns |= {"low": judged.effect.low, "high": judged.effect.high, "p": judged.p, "p_adjusted": judged.adjusted}
    if (pooled := judged.effect.pooled) is not None:
        back = MEASURES[judged.claim.measure].scale.back
        columns |= {"tau2": float(pooled.tau2)}
        columns |= {"I2": float(pooled.I2)} if has_own_errors(judged.measured) else {}
        if judged.effect.treebanks > 2:
            columns |= {name: back(float(getattr(pooled, name))) for name in ("predicted_low", "predicted_high")}
    return {name: None if value is None else float(f"{value:.5g}") for name, value in columns.items()}


def write(root: Path, run: Results, path: Path) -> None:
    """Judge the claims of all papers by a run, and write the table `frame` of the verdicts to a CSV file."""
    with replacing(path) as file:
        file.write(_csv(verdicts(root, run)).encode())


def _csv(judged: Sequence[Judged]) -> str:
    """Return the verdicts as CSV, one line per claim."""
    return frame(judged).to_csv(index=False, lineterminator="\n")
