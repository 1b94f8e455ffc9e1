"""Say which of a paper's claims a page shows, and which pages show the others."""

from __future__ import annotations

from collections import Counter

from studies.site.claims.load import load
from studies.site.sentences import joined
from studies.site.show import Remarks


def elsewhere(page: str) -> Remarks:
    """Count the claims of a paper on a page, for each paper whose claims are on several pages, and link to the others.

    page  name of a notebook

    Claims of this project do not count. Claims that no run can test have no page.
    """
    sentences = []
    for paper in load():
        counts = Counter(claim.page for claim in paper.claims if not claim.ours)
        total, here, untested = counts.total(), counts.pop(page, 0), counts.pop("", 0)
        parts = [f"[page {name.partition('-')[0]}]({name}.ipynb) has {count}" for name, count in sorted(counts.items())]
        parts += [f"{untested} cannot be tested here"] * bool(untested)
        if here and parts:
            sentences.append(f"This page has {here} of {total} claims of {paper.cite}; {joined(parts)}.")
    return Remarks(tuple(sentences))
