"""Draw the verdicts on the claims of each paper as one horizontal bar per paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import pandas as pd

from studies.across.overview import agreement
from studies.across.verdicts import remarks, tables
from studies.site import claims
from studies.site.claims.judge import DIFFERS, NOT_TESTED, REPLICATED, VERDICTS, Judged, of_papers
from studies.site.claims.load import Paper
from studies.site.claims.show import why_open
from studies.site.sentences import Sentences, about

PAGE = "94-verdicts"  #: notebook with the table of all claims


@dataclass(frozen=True)
class Bars:
    """One bar per paper: a part for each verdict, as wide as its number of claims, with the number written in it.

    The first line names the colours. Screen readers read the numbers in words, without the colours.

    data  `counts`
    here  False: the table has no column about this machine's run
    """

    data: pd.DataFrame
    here: bool

    def __repr__(self) -> str:
        return "Verdicts on the claims of each paper"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        data = {"text/plain": repr(self), "text/html": self._html()}
        return data | {"text/csv": self.data.to_csv(lineterminator="\n")}

    def _html(self) -> str:
        """Return the bars as the rows of a table."""
        longest = self.data[list(VERDICTS)].sum(axis=1).max()
        shown = [verdict for verdict in VERDICTS if self.data[verdict].any()]
        legend = " ".join(f'<span class="key {_class(verdict)}">{verdict}</span>' for verdict in shown)
        heads = ["Paper", "Claims", *(["This machine"] if self.here else [])]
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        colours = f'<td colspan="{len(heads)}" class="legend">{legend}</td>'
        rows = []
        for cite, row in self.data.iterrows():
            link = f'<a href="{PAGE}.ipynb#verdicts-{row["key"]}">{escape(str(cite))}</a>'
            here = f'<td data-label="This machine">{escape(row["this machine"])}</td>' if self.here else ""
            rows.append(f'<tr><th scope="row">{link}</th><td>{_bar(row[list(VERDICTS)], longest)}</td>{here}</tr>')
        head = f"<thead><tr>{colours}</tr><tr>{head}</tr></thead>"
        return "\n".join(['<table class="bars">', head, "<tbody>", *rows, "</tbody>", "</table>"])


def _bar(counts: pd.Series, longest: int) -> str:
    """Return one bar; screen readers read its numbers in words.

    counts   number of claims by verdict
    longest  number of claims of the paper with the most claims, whose bar fills the width
    """
    shown = counts[counts > 0]
    parts = "".join(
        f'<span class="{_class(verdict)}" style="flex-grow:{count}">{count}</span>' for verdict, count in shown.items()
    )
    words = ", ".join(f"{count} {verdict}" for verdict, count in shown.items())
    width = f"width:{100 * shown.sum() / longest:.1f}%"
    return f'<span class="bar" style="{width}" role="img" aria-label="{words}" title="{words}">{parts}</span>'


def _class(verdict: object) -> str:
    """Return the class of the style sheet that colours a verdict."""
    return str(verdict).replace(",", "").replace(" ", "-")


def counts(judged: Sequence[Judged], here: Sequence[Judged] = ()) -> pd.DataFrame:
    """Count the verdicts on the claims of each paper, without claims of this project. Rows: papers, as they are cited.

    Columns: key of the paper, one column for each of VERDICTS, and `this machine`: how many claims this machine's run
    confirms (see `agreement`).

    here  verdicts of this machine's run on the same claims; empty if there is no other run
    """
    rows = {}
    for paper in _papers(judged):
        own, compared = ([e for e in of_papers(entries) if e.paper.key == paper.key] for entries in (judged, here))
        verdicts = Counter(entry.verdict for entry in own)
        answers = agreement.of_claims(own, compared) if here else Counter[str]()
        rows[paper.cite] = {
            "key": paper.key,
            **{verdict: verdicts[verdict] for verdict in VERDICTS},
            "this machine": agreement.under_heading(agreement.counted(answers) or agreement.NOT_RUN),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("paper")


@about()
def undecided(judged: Sequence[Judged]) -> Sentences:
    """Say why claims are undecided or not tested, how many stay significant, and which papers cannot be replicated."""
    reasons = tables.reasons(judged)
    if why := remarks.undecided(reasons):
        yield why, reasons
    for paper in _papers(judged):
        own = [entry for entry in of_papers(judged) if entry.paper.key == paper.key]
        if {entry.reason for entry in own if entry.reason} == {DIFFERS} and (why := why_open(own)):
            yield (
                f"{paper.cite}: {why}",
                claims.frame(own)[["paper", "name", "verdict", "because"]],
            )
    entries = [entry for entry in of_papers(judged) if entry.verdict == NOT_TESTED]
    needs = sum(entry.claim is not None and bool(entry.claim.needs) for entry in entries)
    if entries:
        yield (
            f"{len(entries)} claims are not tested: {needs} need data or programs that this project cannot use, and "
            f"the run has no results for {len(entries) - needs}.",
            claims.frame(entries)[["paper", "name", "verdict", "because"]],
        )
    replicated = [entry for entry in of_papers(judged) if entry.counted_as == REPLICATED]
    if several := [entry for entry in replicated if entry.adjusted is not None]:
        kept = sum(entry.significant for entry in several)
        yield (
            f"Of {len(several)} claims that are replicated over several treebanks, {kept or 'none'} "
            f"{'is' if kept == 1 else 'are'} significant after adjustment for the number of claims of the paper.",
            claims.frame(several)[["paper", "name", "verdict", "p_adjusted"]],
        )
    counted = {paper.key for paper in _papers(judged)}
    for cite in dict.fromkeys(entry.paper.cite for entry in judged if entry.paper.key not in counted):
        own = [entry for entry in judged if entry.paper.cite == cite]
        yield (
            f"{cite} has no bar, because none of its published results could be read: its {len(own)} claims are "
            "claims of this project, and nothing is replicated.",
            claims.frame(own)[["paper", "name", "verdict", "because"]],
        )


def _papers(judged: Sequence[Judged]) -> list[Paper]:
    """Return the papers that have claims, in the order of the verdicts."""
    return list({entry.paper.key: entry.paper for entry in of_papers(judged)}.values())


def experience(papers: Sequence[Paper]) -> pd.DataFrame:
    """Return what was easy, what was hard, and why results differ: one row per paper, three columns of one sentence."""
    names = {"easy": "What was easy", "hard": "What was hard", "differs": "Why results differ"}
    rows = {paper.cite: {title: getattr(paper, name) for name, title in names.items()} for paper in papers}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("paper")
