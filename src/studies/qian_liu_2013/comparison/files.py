"""Tables and figures that a run keeps as files."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison import errors, others, repeats, tables
from studies.qian_liu_2013.comparison.differences import differences
from studies.site.claims.load import load
from studies.site.claims.measured import pairs
from studies.site.collect import Results
from studies.site.export import Tables


def claimed(results: Results) -> pd.DataFrame:
    """`differences` of all rows that claims compare: what a reference keeps, as its sentences are not kept."""
    asked = [claim for paper in load() for claim in paper.claims if claim.measure == "UAS"]
    return differences(results, [("UAS", *pair) for claim in asked for pair in pairs(claim.rows, claim.compare)])


TABLES: Tables = {
    "table-2-mira": ("Table 2, learner: MIRA, UAS in %", lambda r: tables.comparison([r], "mira")),
    "table-2-perceptron": ("Table 2, learner: perceptron, UAS in %", lambda r: tables.comparison([r], "perceptron")),
    "accuracy": ("UAS, LAS, complete matches and trees proved optimal, %", lambda r: tables.accuracy([r])),
    "significance-uas": ("Differences from the baseline, UAS points", tables.significance),
    "significance-las": (
        "Differences from the baseline, LAS points",
        lambda r: tables.significance(r, figure="LAS"),
    ),
    "differences": ("Differences that claims are about, UAS points", claimed),
    "seeds": ("Mean and standard deviation over seeds, %", lambda r: repeats.seeds([r])),
    "tags": ("Predicted and gold tags, %", lambda r: repeats.tags([r])),
    "errors": ("Errors of the search and of the model", errors.errors),
    "peers": ("Parsers of others", lambda r: others.peers([r])),
}
