"""Sentences about the comparison of systems: tests, seeds, tags, and errors of search and model."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison.repeats import OVER_BASELINE
from studies.qian_liu_2013.comparison.tables import AGAINST
from studies.site.provenance import CAPPED
from studies.site.sentences import (
    LEVEL,
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    difference,
    each,
    from_to,
    listing,
    short_labels,
    significance_counts,
    significant,
    span,
    who_is_better,
)

ALL = "combined"  #: model with all factors
MOST = 2  #: number of significant differences that a sentence names


def counted(rows: pd.DataFrame, systems: str, most: int = MOST, what: tuple[str, str] = ("in", "comparisons")) -> str:
    """Say how often systems or the baseline are better at the 5 % level, and name at most `most` cases, largest first.

    rows     see `sentences.significance_text`
    systems  the systems with their verb
    what     see `sentences.who_is_better`
    """
    rows, chosen = rows.set_axis(short_labels(rows.index)), significant(rows).to_numpy()
    own = rows[chosen]
    named = own.iloc[own["difference"].abs().argsort(kind="stable").iloc[::-1][:most]]
    examples = listing(f"{place} {difference(row)}" for place, row in named.iterrows())
    largest = f" ({'largest: ' if len(own) > most else ''}{examples})" if len(named) else ""
    return f"{who_is_better(rows, systems, 'the baseline', what)}, at the {100 * LEVEL:g} % level{largest}"


@about("This run has no baseline to compare with.")
def significance(data: pd.DataFrame) -> Sentences:
    """Count the systems of `tables.significance` that differ significantly from the baseline."""
    counts = significance_counts(data, "the system is", "the baseline")
    yield f"Bootstrap over test sentences, only models with the seed of the run: {counts}"


@about("No row was trained with several seeds: see variants in params.yaml.")
def seeds(data: pd.DataFrame) -> Sentences:
    """Describe `repeats.seeds`, which may have no rows: the standard deviation of accuracy over seeds."""
    yield (
        "If only the order of the training sentences differs, the standard deviation of UAS is "
        f"{span(data['UAS', 'deviation'])}, over {from_to(data['', 'seeds'])} seeds."
    )
    yield from over_seeds(data)


def over_seeds(data: pd.DataFrame) -> Sentences:
    """Describe the gain of each system over the baseline: mean and standard deviation over seeds.

    data  `repeats.seeds`, which may have no rows
    """
    gains = data[OVER_BASELINE].assign(seeds=data["", "seeds"]).dropna() if len(data) else data
    if len(gains):
        means = span(gains["mean"].rename_axis([""] * gains.index.nlevels), "{:+.2f}")
        yield (
            f"The mean gain in UAS over the baseline, over {from_to(gains['seeds'], '{:.0f}')} seeds, is {means}, with "
            f"a standard deviation of {from_to(gains['deviation'], '{:.2f}')}.",
            gains,
        )


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
    gaps = pd.DataFrame([rows.iloc[-1] - rows.iloc[0] for _, rows in each(data["UAS"], [*data.index.names[:3]])])
    yield (
        f"The UAS of the last model of a corpus differs from the UAS of its first model by "
        f"{from_to(gaps['predicted'], '{:+.2f}')} points with predicted tags, and by "
        f"{from_to(gaps['gold'], '{:+.2f}')} points with gold tags ({len(gaps)} comparisons, seed of the run)."
    )


@about("No run here compares a search with a limit and an exact search: see `gold` in params.yaml.")
def errors(data: pd.DataFrame) -> Sentences:
    """Describe `errors.errors`, which may have no rows: errors of the search and of the model."""
    for search, rows in each(data["the search"], "search"):
        yield (
            f"{search} misses the best tree in {from_to(rows['search errors, %'], '{:.1f}')} % of the sentences of a "
            f"treebank, which costs {from_to(rows['UAS less than exact'], '{:.2f}')} UAS.",
            rows,
        )
    exact = data["the exact tree"].droplevel("search")
    exact = exact[~exact.index.duplicated()]
    yield (
        "The exact search makes no search errors: its wrong trees are errors of the model "
        f"({from_to(exact['gold scores less, %'], '{:.0f}')} % of the sentences of a treebank) or have gold trees that "
        f"it cannot return ({from_to(exact['gold out of reach, %'], '{:.0f}')} %). {ONE_SEED} {UNTESTED}"
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
