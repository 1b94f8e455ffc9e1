"""Sentences about the tables of sampling, computed from the tables' own data."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from treebound.report.collect import Results
from treebound.report.sentences import Said, about, each, listing, ranked, span, told
from treebound.report.show import Remarks
from treebound.report.tables import sampling

NO_CURVES = "No run here has sampling beside proved optima: `dvc repro score_time` makes it where params.yaml has it."
NO_TAGS = (
    "No run here chooses tags with trees, which the default run leaves out: list corpora under `tag_correction:` in "
    "params.yaml."
)
LEVEL = 0.01  #: that of the intervals of `tables.sampling.gains`


def gains(results: Sequence[Results]) -> Remarks:
    """Who is ahead of whom, with McNemar's test over words; where no sentences are kept, accuracies alone."""
    data = pd.concat({r.name: sampling.gains(r, sampling.PAIRS) for r in results}, names=["run"])
    return _gains(data) if len(data) else accuracies(sampling.accuracy(results))


@about("No run here has a parser that samples: see rows with `system: sampling` under `decode:` in params.yaml.")
def accuracies(table: pd.DataFrame) -> Said:
    """About `tables.sampling.accuracy`."""
    sampled = table[table.filter(like="sampling").notna().any(axis=1)]
    for (run, corpus), row in sampled.drop(index="mean", level="corpus", errors="ignore").iterrows():
        yield f"UAS on {corpus} ({run}): {ranked(row)}", row


@about()
def _gains(data: pd.DataFrame) -> Said:
    for (run, row, other), of in each(data, ["run", "row", "other"]):
        yield (
            f"UAS of {row} against {other} ({run}; 99 % intervals of paired words and McNemar's p; words: "
            f"{span(of['words'], '{:,.0f}')}; one training each): {told(of, LEVEL)}.",
            of,
        )


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Said:
    """What choosing tags with trees gains: `tables.sampling.tag_correction`."""
    for (run, corpus), row in table.iterrows():
        tags, heads = row["corrected, %"] - row["tags, %"], row["UAS corrected"] - row["UAS"]
        yield (
            f"On {corpus} ({run}) {row['mended']:.0f} tags are mended and {row['spoilt']:.0f} spoilt, {tags:+.2f} "
            f"points (p {row['p, tags']:.2g}); UAS {heads:+.2f} ({row['gain from']:+.2f} to {row['to']:+.2f}), of "
            f"{row['UAS, right tags'] - row['UAS']:+.2f} with right tags.",
            row,
        )


@about(NO_CURVES)
def curves(table: pd.DataFrame) -> Said:
    """What every method finds with its largest budget, and how many times as fast as branch and bound that is."""
    for (run, corpus, space), of in each(table, ["run", "corpus", "space"]):
        exact = of.xs("branch-and-bound", level="method").iloc[0]
        last = {name: rows.iloc[-1] for name, rows in each(of, "method") if name in sampling.METHODS}
        found = (
            f"{name} finds {row['optima found, %']:.2f} % ({exact['CPU us / word'] / row['CPU us / word']:.2g} times "
            "as fast as the proof)"
            for name, row in last.items()
        )
        yield (
            f"Of {exact['sentences']:.0f} proved optima of {corpus}, {space} ({run}, largest budget, mean of "
            f"the seeds, not tested): {listing(found)}.",
            of,
        )
