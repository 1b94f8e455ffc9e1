"""Tables of the comparison that a run stores as files."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison import errors, others, repeats, tables
from studies.qian_liu_2013.comparison.differences import differences
from studies.qian_liu_2013.comparison.headline import contenders
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.site.claims.load import load
from studies.site.claims.measured import pairs
from studies.site.collect import Results
from studies.site.export import Tables
from studies.site.rows import seeds_of


def claimed(results: Results) -> pd.DataFrame:
    """Return the table `differences` for all pairs of rows that claims or the headline compare.

    A run stores this table, because a reference run is committed without the sentences that `differences` needs.

    The headline compares rows with the baseline. The table includes these comparisons for rows that were trained with
    several seeds, and for rows of other systems. The stored table `significance` has the other graph-based rows.
    """
    claims = [claim for paper in load() for claim in paper.claims if claim.measure == "UAS"]
    compared = [pair for claim in claims for pair in pairs(claim.rows, claim.compare)]
    params = results.params
    for learner in params.learners:
        for corpus in results.corpora:
            for name, row in contenders(results, corpus, learner).items():
                if name != BASELINE and (row.system != "graph" or len(seeds_of(params, corpus, row)) > 1):
                    compared.append((name, BASELINE))
    return differences(results, [("UAS", *pair) for pair in compared])


TABLES: Tables = {
    "table-2-mira": ("Table 2, learner: MIRA, UAS in %", lambda r: tables.comparison([r], "mira")),
    "table-2-perceptron": ("Table 2, learner: perceptron, UAS in %", lambda r: tables.comparison([r], "perceptron")),
    "accuracy": ("UAS, LAS, complete matches and trees proved optimal, %", lambda r: tables.accuracy([r])),
    "significance-uas": ("Differences from the baseline, UAS points", tables.significance),
    "significance-las": (
        "Differences from the baseline, LAS points",
        lambda r: tables.significance(r, figure="LAS"),
    ),
    "differences": ("Differences that claims and the headline are about, UAS points", claimed),
    "seeds": ("Mean and standard deviation over seeds, %", lambda r: repeats.seeds([r])),
    "tags": ("Predicted and gold tags, %", lambda r: repeats.tags([r])),
    "errors": ("Errors of the search and of the model", errors.errors),
    "peers": ("Parsers of others", lambda r: others.peers([r])),
}
