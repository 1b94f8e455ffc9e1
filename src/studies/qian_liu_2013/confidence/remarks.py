"""About margins and marginals: how sure a parser is, and whether it may be."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.site.sentences import Said, about, listing, share
from studies.site.show import Remarks


def drawn_by(model: str, settings: Confidence, tour: Row) -> Remarks:
    """Say which model draws the sentence of this page, and whether the tour draws it with the same.

    tour  the row of the tour (`rows.tour_row`)
    """
    own, its = (
        f"{name}, k = {k}, decoder {decoder}"
        for name, k, decoder in ((model, settings.k, settings.decoder), (tour.model, tour.k, tour.decoder))
    )
    more = "the same model" if own == its else f"another model ({its}), whose tree and scores may be others"
    return Remarks((f"This tree is that of {own}. The tour draws its sentence with {more}.",))


@about()
def confidence(words: pd.DataFrame, measured: pd.Series, model: str) -> Said:
    """Describe `tables.words_of` and the corpus's row of `tables.measured`.

    model  whose arcs these are
    """
    top = words.loc[words["margin"] >= words["margin"].median(), "correct"]
    low = words.loc[words["margin"] <= words["margin"].quantile(0.1), "correct"]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    yield (
        f"Margins of {model} tell right heads from wrong ones: in {measured['sentences']} test sentences of "
        f"{measured.name} right are "
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
        f"{lists[max(lists)]:.2f}: a reranker of these lists could gain no more. One training. "
        f"{measured['complete']} of {measured['sentences']} lists are proved complete.",
        measured,
    )


@about()
def calibration(data: pd.DataFrame, tested: Mapping[str, int], asked: int, model: str = "") -> Said:
    """Describe `tables.measured`: the sample behind the figures of every corpus, and how far they differ.

    tested  corpus -> sentences of its test set; asked: how many of them the parameters ask for
    """
    parts = "; ".join(
        f"{row.corpus} {100 * row.calibration_error:.1f} points ({row.sentences:,} of {tested[row.corpus]:,} test "
        f"sentences, {row.scored_words:,} words)"
        for row in data.itertuples()
    )
    of = f" of {model}" if model else ""
    yield f"How far a marginal{of} is off on average differs from corpus to corpus: {parts}."
    if less := [row.corpus for row in data.itertuples() if row.sentences < min(asked, tested[row.corpus])]:
        yield f"The parameters ask for {asked} sentences; the metrics of {listing(less)} were computed on fewer."
    yield "No interval is given for these figures; those of few sentences are the less certain ones."
