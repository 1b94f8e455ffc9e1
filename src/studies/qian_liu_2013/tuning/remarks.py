"""Sentences about the tuned search, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site import ratios
from studies.site.sentences import Sentences, about, each, how_many_corpora, listing, span


@about()
def tuning(data: pd.DataFrame) -> Sentences:
    """Describe `tables.tunings`: the work that the published search needs compared with each tuned search."""
    by_decoder = data.set_index(["decoder", "corpus"])
    (_, published), *tuned = each(by_decoder, "decoder")
    times = "; ".join(
        f"{span(published['dp_calls'] / rows['dp_calls'], '{:.1f}')} times the DP calls and "
        f"{span(published['seconds'] / rows['seconds'], '{:.1f}')} times the time of {name}"
        for name, rows in tuned
    )
    yield (
        f"On the same scores and sentences of {how_many_corpora(published.index)} the published search takes {times}. "
        "One run, without a test. The cost of a DP call depends on the dynamic program."
    )
    parts = (
        f"{'the first' if row.sentences < row.of else 'all'} {row.sentences:,}"
        f"{f' of {row.of:,}' if row.sentences < row.of else ''} ({corpus})"
        for corpus, row in zip(published.index, published.itertuples(), strict=True)
    )
    yield f"Test sentences: {listing(parts)}."
    unproved = by_decoder["sentences"] - by_decoder["certified"]
    listed = listing(f"{n} ({decoder}, {corpus})" for (decoder, corpus), n in unproved[unproved > 0].items())
    yield (
        f"A limit ended the search before a proof for: {listed}. Without the limit their work would be larger."
        if unproved.any()
        else "Every tree is proved optimal."
    )


@about("The reference does not store single sentences. A run of your own has them.")
def sentence_by_sentence(data: pd.DataFrame, by_corpus: pd.DataFrame) -> Sentences:
    """Describe `tables.tuned_sentences`: which search needs fewer calls, and whether their scores agree.

    by_corpus  `tables.call_ratios`
    """
    published, tuned = (data[column] for column in data.columns[1:3])
    yield (
        f"Of {len(data):,} sentences {tuned.name} needs fewer calls on {(tuned < published).sum():,} and more on "
        f"{(tuned > published).sum():,}; the median ratio is {(published / tuned.clip(lower=1)).median():.1f}, the "
        f"ratio of the means {published.mean() / tuned.mean():.1f}."
    )
    yield (
        f"By corpus, the ratio of the means is {ratios.span(by_corpus, 'ratio', '{:.1f}')}, with 95 % intervals by a "
        "bootstrap over sentences.",
        by_corpus,
    )
    proved = data[data["proved"]]
    differ = int((~proved["same"]).sum())
    yield (
        f"On {differ:,} of the {len(proved):,} sentences that both prove, scores differ. One of the proofs must be "
        "wrong."
        if differ
        else f"On all {len(proved):,} sentences that both prove, their trees have the same score."
    )
