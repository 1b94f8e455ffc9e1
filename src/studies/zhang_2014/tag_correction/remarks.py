"""Sentences about corrected tags, generated from the data of the table."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import LEVEL, ONE_SEED, Sentences, about, each, span
from studies.zhang_2014.tag_correction.tables import OURS, PUBLISHED

NO_TAGS = (
    "No run here chooses tags together with trees, which the default run leaves out: list corpora under "
    "`tag_correction:` in params.yaml."
)


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Sentences:
    """Describe `tables.tag_correction`: the gains of choosing tags together with trees, for each method."""
    for method, rows in each(table, "method"):
        name = "" if method == OURS else f", {method},"
        tags = rows["corrected, %"] - rows["tags, %"]
        sure = int((rows["gain from"] > 0).sum())
        yield (
            f"Choosing tags together with trees{name} changes UAS by {span(rows['UAS gain'], '{:+.2f}')}. The 95 % "
            f"interval lies above 0 on {sure} of {len(rows)} treebanks. Tag accuracy changes by "
            f"{span(tags, '{:+.2f}')} points, significantly on {int((rows['p, tags'] < LEVEL).sum())} of {len(rows)} "
            f"(McNemar's test, {100 * LEVEL:g} % level).",
            rows,
        )
    right = (table["UAS, right tags"] - table["UAS"]).dropna()
    gold = f"Gold tags would change UAS by {span(right, '{:+.2f}')}. " if len(right) else ""
    yield f"{gold}{ONE_SEED}", table


@about()
def parsers(table: pd.DataFrame) -> Sentences:
    """Explain why the rows of the paper's method have another UAS before the correction than the rows of our method.

    table  `tables.tag_correction`
    """
    rows = table[table.index.get_level_values("method") == PUBLISHED]
    if not len(rows):
        return
    yield (
        f"In the rows with the method `{PUBLISHED}`, the UAS before the correction comes from another parser than in "
        f"the rows with the method `{OURS}`. This parser learns no labels, and no epoch is chosen on dev.",
        rows,
    )
