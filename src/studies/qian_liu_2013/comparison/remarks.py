"""Sentences about the comparison of systems: tests, seeds, tags, and errors of search and model."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison.tables import AGAINST
from studies.site.provenance import CAPPED
from studies.site.sentences import (
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    each,
    from_to,
    listing,
    mean_with_interval,
    seeds_in_words,
    significance_counts,
    significance_text,
    span,
)

ALL = "combined"  #: model with all factors


@about("This run has no baseline to compare with.")
def significance(data: pd.DataFrame) -> Sentences:
    """Count the systems of `tables.significance` that differ significantly from the baseline."""
    yield f"Bootstrap over test sentences, only models with the seed of the run: {significance_counts(data)}"


@about("No row was trained with several seeds: see variants in params.yaml.")
def seeds(data: pd.DataFrame) -> Sentences:
    """Describe `repeats.seeds`, which may have no rows: the standard deviation of accuracy over seeds."""
    yield (
        "If only the order of the training sentences differs, the standard deviation of UAS is "
        f"{span(data['UAS', 'deviation'])}, over {listing(sorted(set(data['', 'seeds'].astype(int))))} seeds."
    )
    yield from over_seeds(data)


def over_seeds(data: pd.DataFrame) -> Sentences:
    """Describe the gain of each system over the baseline: mean and standard deviation over seeds.

    data  `repeats.seeds`, which may have no rows
    """
    gains = data["UAS over the baseline"].assign(seeds=data["", "seeds"]).dropna() if len(data) else data
    listed = listing(
        f"{row['mean']:+.2f} on {corpus} ({system}, {learner}, {row['seeds']:.0f} seeds, standard deviation "
        f"{row['deviation']:.2f})"
        for (_, corpus, learner, system), row in gains.iterrows()
    )
    if len(gains):
        yield f"Mean gain in UAS over the baseline, over several seeds: {listed}.", gains


@about("These trainings did not count the sentences that reach the limit on dynamic programs.")
def training(data: pd.DataFrame, limit: int) -> Sentences:
    """Describe how many training sentences reached the limit on dynamic-program calls.

    data   rows of `provenance.training` that report the share of sentences that reached the limit
    limit  largest number of dynamic-program calls per sentence; 0 means none
    """
    limited = f"is decoded with at most {limit} dynamic programs" if limit else "is decoded without a limit"
    yield (
        f"In training a sentence {limited}, and the model learns from the best tree found until then. In the last "
        f"epoch, {from_to(data[CAPPED], '{:.1f}')} % of the training sentences of a model reached the limit.",
        data,
    )
    all_factors = data[data.index.get_level_values("model") == ALL]
    if len(all_factors):
        yield f"For the model with all factors, the share is {span(all_factors[CAPPED], '{:.1f} %')}.", all_factors


@about("No row was run with gold tags beside predicted ones: see variants in params.yaml.")
def tags(data: pd.DataFrame) -> Sentences:
    """Describe `repeats.tags`, which may have no rows: the effect of gold tags on accuracy and on gains."""
    yield (
        f"Gold tags in training and test change UAS by {span(data['UAS', 'difference'], '{:+.2f}')}. "
        f"{UNTESTED} {ONE_SEED}"
    )
    gaps = (
        f"{gap['predicted']:+.2f} with predicted tags and {gap['gold']:+.2f} with gold ones ({place[1]}, "
        f"{rows.index[-1]} minus {rows.index[0]})"
        for place, rows in each(data["UAS"], [*data.index.names[:3]])
        for gap in [rows.iloc[-1] - rows.iloc[0]]
    )
    yield f"Gains of the factors in UAS, only for models with the seed of the run: {listing(gaps)}."


@about("No run here compares a search with a limit and an exact search: see `gold` in params.yaml.")
def errors(data: pd.DataFrame) -> Sentences:
    """Describe `errors.errors`, which may have no rows: errors of the search and of the model."""
    for search, rows in each(data["the search"], "search"):
        yield (
            f"{search} misses the best tree in {span(rows['search errors, %'], '{:.1f}')} % of the sentences, which "
            f"costs {span(rows['UAS less than exact'])} UAS. The gold tree scores more than the returned tree in "
            f"{span(rows['search errors below gold, %'], '{:.0f}')} % of the search errors.",
            rows,
        )
    exact = data["the exact tree"].droplevel("search")
    exact = exact[~exact.index.duplicated()]
    yield (
        "The exact search makes no search errors: its wrong trees are errors of the model "
        f"({span(exact['gold scores less, %'], '{:.0f} %')} of the sentences) or have gold trees that it cannot return "
        f"({span(exact['gold out of reach, %'], '{:.0f} %')}). {UNTESTED}"
    )


def against(more: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return (system, table of the differences between system and baseline) for each system of a multilingual run.

    more  `languages.tables.multilingual`, which may have no rows

    A table has one row per corpus. Columns: difference, low, high, seeds.
    """
    groups = [group for group in more.columns.unique(0) if group.endswith(AGAINST)] if len(more) else []
    return [
        (
            group.removesuffix(AGAINST),
            more[group].rename(columns={"UAS": "difference"}).dropna(how="all"),
        )
        for group in groups
    ]


def over_corpora(system: str, rows: pd.DataFrame, learner: str = "") -> str:
    """Describe the gains of a system over the baseline: the mean over treebanks, and the significance of each gain.

    With more than two languages, the text also has the range of the means that leave out one language.

    system, rows  one pair of the result of `against`
    """
    pooled, without_one = mean_with_interval(rows["difference"]), ""
    if "language" in rows.index.names:
        languages = rows.index.get_level_values("language")
        without = [rows["difference"][languages != name].mean() for name in languages.unique()]
        if len(without) > 2:
            without_one = f"; leaving out any one language gives {min(without):+.2f} to {max(without):+.2f}"
        rows = rows.droplevel("language")
    seeds = seeds_in_words(rows["seeds"]) if "seeds" in rows else "one training each"
    return (
        f"On {len(rows)} more corpora the system {system} gains on average {pooled} UAS over the baseline "
        f"({f'learner {learner}, ' if learner else ''}{seeds}; 95 % interval over treebanks{without_one}); "
        f"one by one, {significance_text(rows)}."
    )
