"""Say why a claim was not tested: which corpus, row or figure the runs lack."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from studies.site.claims.load import Claim
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.sentences import joined


def missing(claim: Claim, runs: Sequence[Results]) -> str:
    """Return what the runs lack to test a claim of which they measured nothing, as a clause without its full stop.

    claim  has a measure
    runs   runs whose results are judged together; the clause calls them `the run`
    """
    if claim.corpora and not any(corpus in run.corpora for run in runs for corpus in claim.corpora):
        return f"the run lacks the {_quoted('corpus', 'corpora', claim.corpora)}"
    held = {name for run in runs for name in _held(claim, run)}
    if not held or not claim.rows:
        return f"the run has no figure of the measure “{claim.measure}” on a corpus that counts for the claim"
    if absent := [row for row in claim.rows if row not in held]:
        return f"the run lacks the {_quoted('row', 'rows', absent)}"
    rows, them = _quoted("row", "rows", claim.rows), "that compares them" if len(claim.rows) > 1 else "for it"
    return f"the run has the {rows}, but no figure of the measure “{claim.measure}” {them}"


def _held(claim: Claim, run: Results) -> Collection[str]:
    """Return the row names of the claim's measure of which a run has results."""
    measure = MEASURES[claim.measure]
    return measure.held(run) if measure.held else measure.names(run.params)


def _quoted(singular: str, plural: str, names: Sequence[str]) -> str:
    """Return the noun for one or for several things, followed by their names in quotation marks."""
    return f"{plural if len(names) > 1 else singular} {joined([f'“{name}”' for name in names])}"
