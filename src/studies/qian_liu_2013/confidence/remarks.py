"""About margins and marginals: how sure a parser is, and whether it may be."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from studies.site.sentences import Said, about, listing, share


@about()
def confidence(words: pd.DataFrame, measured: pd.Series) -> Said:
    """About `tables.words_of` and the corpus's row of `tables.measured`."""
    top = words.loc[words["margin"] >= words["margin"].median(), "correct"]
    low = words.loc[words["margin"] <= words["margin"].quantile(0.1), "correct"]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    yield (
        f"Margins tell right heads from wrong ones: in {measured['sentences']} test sentences right are "
        f"{share(int(top.sum()), len(top))} words with the larger half of the margins, and "
        f"{share(int(low.sum()), len(low))} with the smallest tenth (95 % intervals that take words for independent)."
    )
    yield (
        f"A marginal is off by {100 * measured['calibration_error']:.1f} points on average, after one number, the "
        f"scale {measured['scale']:g}, was chosen on the development set.",
        measured,
    )
    yield (
        f"The first tree has {lists[1]:.2f} UAS, the best of its {max(lists)} best trees would have "
        f"{lists[max(lists)]:.2f}: that is what a reranker could gain at most. {measured['complete']} of "
        f"{measured['sentences']} lists are proved complete.",
        measured,
    )


@about()
def calibration(data: pd.DataFrame, tested: Mapping[str, int], asked: int) -> Said:
    """About `tables.measured`: the sample behind the figures of every corpus, and how far they differ.

    tested  corpus -> sentences of its test set; asked: how many of them the parameters ask for
    """
    parts = "; ".join(
        f"{row.corpus} {100 * row.calibration_error:.1f} points ({row.sentences:,} of {tested[row.corpus]:,} test "
        f"sentences, {row.scored_words:,} words)"
        for row in data.itertuples()
    )
    yield f"How far a marginal is off on average differs from corpus to corpus: {parts}."
    if less := [row.corpus for row in data.itertuples() if row.sentences < min(asked, tested[row.corpus])]:
        yield f"The parameters ask for {asked} sentences; the metrics of {listing(less)} were computed on fewer."
    yield "No interval is given for these figures; those of few sentences are the less certain ones."
