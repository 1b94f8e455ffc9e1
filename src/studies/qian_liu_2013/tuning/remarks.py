"""Sentences about the tuned search, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, each, how_many_corpora, listing, span


@about()
def tuning(data: pd.DataFrame) -> Said:
    """About `tables.tunings`."""
    of = data.set_index(["decoder", "corpus"])
    (_, published), *ours = each(of, "decoder")
    times = "; ".join(
        f"{span(published['dp_calls'] / rows['dp_calls'], '{:.1f}')} times the DP calls and "
        f"{span(published['seconds'] / rows['seconds'], '{:.1f}')} times the time of {name}"
        for name, rows in ours
    )
    yield (
        f"On the same scores and sentences of {how_many_corpora(published.index)} the published search takes {times}. "
        "One run, without a test; calls of one dynamic program cost other times than those of another."
    )
    parts = (
        f"{'the first' if row.sentences < row.of else 'all'} {row.sentences:,}"
        f"{f' of {row.of:,}' if row.sentences < row.of else ''} ({corpus})"
        for corpus, row in zip(published.index, published.itertuples(), strict=True)
    )
    yield f"Test sentences: {listing(parts)}."
    left = of["sentences"] - of["certified"]
    listed = listing(f"{n} ({decoder}, {corpus})" for (decoder, corpus), n in left[left > 0].items())
    yield (
        f"A limit left without proof: {listed}; these would have needed more than is counted."
        if left.any()
        else "Every tree is proved optimal."
    )


@about("Its single sentences are not kept: a run of your own has them.")
def sentence_by_sentence(data: pd.DataFrame) -> Said:
    """About `tables.tuned_sentences`."""
    published, tuned = (data[column] for column in data.columns[1:3])
    yield (
        f"Of {len(data)} sentences {tuned.name} needs fewer calls on {(tuned < published).sum()} and more on "
        f"{(tuned > published).sum()}; the median ratio is {(published / tuned.clip(lower=1)).median():.1f}, the ratio "
        f"of the means {published.mean() / tuned.mean():.1f}."
    )
    both = data[data["proved"]]
    differ = int((~both["same"]).sum())
    yield (
        f"On {differ} of the {len(both)} sentences that both prove, scores differ: a proof must be wrong."
        if differ
        else f"On all {len(both)} sentences that both prove, their trees have the same score."
    )
