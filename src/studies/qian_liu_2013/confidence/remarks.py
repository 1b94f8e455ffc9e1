"""Sentences about margins and marginals: the confidence of a parser and its accuracy."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.site.sentences import Sentences, about, listing, percent
from studies.site.show import Remarks
from treebound.metrics.calibration import reliability


def drawn_by(model: str, settings: Confidence, tour: Row) -> Remarks:
    """State which model parsed the sentence of this page, and whether the guided tour uses the same model.

    tour  the row (model and decoder) that the tour uses (`rows.tour_row`)
    """
    of_page, of_tour = (
        f"{name}, k = {k}, decoder {decoder}"
        for name, k, decoder in ((model, settings.k, settings.decoder), (tour.model, tour.k, tour.decoder))
    )
    comparison = (
        "the same model" if of_page == of_tour else f"another model ({of_tour}), whose tree and scores may differ"
    )
    return Remarks((f"This tree was predicted by {of_page}. The tour parses its sentence with {comparison}.",))


@about()
def confidence(words: pd.DataFrame, measured: pd.Series, model: str) -> Sentences:
    """Describe the confidence and the accuracy of the words of one corpus.

    words     `tables.words_of` of the corpus
    measured  row of the corpus in `tables.measured`
    model     name of the model that predicted the arcs
    """
    top = words.loc[words["margin"] >= words["margin"].median(), "correct"]
    groups = reliability(words["margin"].to_numpy(), words["correct"].to_numpy())  # as in the figure
    least, right = int(groups["words"][0]), round(groups["words"][0] * groups["accuracy"][0])
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    yield (
        f"Margins of {model} tell right heads from wrong ones. Of the {len(top):,} words with the larger margins (half "
        f"of all), {percent(int(top.sum()), len(top))} have the right head. Of the {least:,} words with the "
        f"smallest margins (the first of {len(groups['words'])} groups), {percent(right, least)} have the right head "
        f"(one treebank: {measured['sentences']} test sentences of {measured.name}; 95 % intervals that treat words as "
        "independent)."
    )
    yield (
        f"The calibration error of the marginals is {100 * measured['calibration_error']:.1f} points on average. One "
        f"number was chosen on the development set: {measured['scale']:g}, by which scores are multiplied before they "
        "become probabilities.",
        measured,
    )
    yield (
        f"The first tree has {lists[1]:.2f} UAS. The most accurate of the {max(lists)} best trees would have "
        f"{lists[max(lists)]:.2f}: no reranker of the lists can exceed that. "
        f"{measured['complete']} of {measured['sentences']} lists are proved complete. These figures come from one "
        "training.",
        measured,
    )


@about()
def calibration(data: pd.DataFrame, tested: Mapping[str, int], requested: int, model: str = "") -> Sentences:
    """Describe `tables.measured`: the calibration error of every corpus and the number of sentences behind it.

    tested     corpus -> number of sentences in its test set
    requested  number of test sentences per corpus that the parameters request
    """
    parts = "; ".join(
        f"{row.corpus} {100 * row.calibration_error:.1f} points ({row.sentences:,} of {tested[row.corpus]:,} test "
        f"sentences, {row.scored_words:,} words)"
        for row in data.itertuples()
    )
    of_model = f" of {model}" if model else ""
    yield f"The mean calibration error of the marginals{of_model} differs from corpus to corpus: {parts}."
    if smaller := [row.corpus for row in data.itertuples() if row.sentences < min(requested, tested[row.corpus])]:
        yield f"The parameters request {requested} sentences. The metrics of {listing(smaller)} were computed on fewer."
    yield "These figures have no intervals. Figures from few sentences are less certain."
