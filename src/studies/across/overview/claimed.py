"""Find the judged claims that the first page names."""

from __future__ import annotations

from collections.abc import Iterable

from studies.site.claims.judge import Judged

FIRST = "qian-liu-2013"  #: key of the paper whose method the library implements; the others share one sentence
SIBLINGS = "sibling"  #: name of its claim about the gain of all pairs of siblings alone
REST = "better-than-one-family"  #: name of its claim about what the other factors add to them
GAIN = "all-factors"  #: name of its claim about the gain of all non-local factors over the second-order baseline


def claim_of(judged: Iterable[Judged], name: str) -> Judged | None:
    """Return the judged claim of the paper FIRST with this name, or None if there is none."""
    matches = (e for e in judged if e.claim is not None and e.claim.name == name and e.paper.key == FIRST)
    return next(matches, None)
