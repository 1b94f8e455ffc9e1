"""Generated sentences about the tables of approximations, computed from the data of the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.across.approximations.anytime import approximations, highest
from studies.across.approximations.contestants import EXACT
from studies.across.approximations.tables import FASTER, SAME, exact_speeds
from studies.site.ratios import geometric
from studies.site.sentences import Sentences, about, each, from_to, joined, listing, share, span
from studies.site.show import NOTHING

HOW = "No run on this page compares approximations. Run `python -m studies.pipeline.run approximations`."
CROSSING = (
    "The models were trained with projective trees only. In the non-projective space, the tree with the best score can "
    "be less accurate than the tree of a search that stops early. A higher UAS of such a search does not show "
    "that the search is better."
)
RELAXATION = "AD3"  #: decoder of a linear relaxation
ONE_RUN = (
    "The speeds come from one run, with one seed for decoders that draw random numbers, and were not tested. Decoders "
    "with similar speeds may change places in another run."
)


@about(HOW)
def in_brief(table: pd.DataFrame) -> Sentences:
    """Count the approximations that are as accurate and faster, in one sentence for the top of a page.

    table  see `answer`, which has the details
    """
    last = table.index.get_level_values("model")[-1]
    rows = table.xs(last, level="model")
    counts = joined(
        [
            f"{int(group['worth it'].sum()) or 'none'} of {len(group)}{' approximations' * (not i)} ({space} trees)"
            for i, (space, group) in enumerate(each(rows, "space"))
        ]
    )
    yield (
        f"With the model {last}, {counts} are as accurate and at least {FASTER:g} times as fast "
        f"({rows['sentences'].max():,} test sentences).",
        rows,
    )


def _tolerance(words: pd.Series) -> str:
    """Say what a loss of SAME points of UAS means in words. words: numbers of scored words of the compared samples."""
    fewest = int(words.min())
    allowed = int(SAME * fewest / 100)
    meaning = f"at most {allowed} word{'s' * (allowed > 1)} fewer" if allowed else "not one word fewer"
    place = f"the {fewest:,} words" if words.nunique() == 1 else f"the smallest sample, {fewest:,} words,"
    return f"in {place} this means {meaning} with the right head; one word is {100 / fewest:.3f} points"


@about(HOW)
def answer(table: pd.DataFrame) -> Sentences:
    """Report what exact search buys: speed, best trees and UAS of the best and of the fastest approximation.

    The first sentence is about the last model. The other sentences count the approximations that are worth using with
    each model. The table of `tables.best_approximations` names them.

    table  result of `tables.worth`, for rows on scores of trained models alone
    """
    worthwhile = table.groupby(level=["model", "space"], sort=False)["worth it"].agg(["sum", "size"])
    corpora = list(dict.fromkeys(name for names in table["corpora"] for name in names.split(", ")))
    last = table.index.get_level_values("model")[-1]
    rows = table.xs(last, level="model")
    (space, first), *others = each(rows, "space")
    words = int(rows["words"].max())
    yield (
        f"With the scores of the model {last} and {space} trees, {_price(first)} "
        + " ".join(_count(other, group) for other, group in others)
        + f"{' ' * bool(others)}The figures about approximations are for "
        f"{rows['sentences'].max():,} test sentences with {words:,} words, in one run.",
        rows,
    )
    yield (
        f"On the test sentences of {listing(corpora)} together, an approximation counts as a better choice if it is at "
        f"least {FASTER:g} times as fast as {EXACT} and loses at most {SAME} points of UAS "
        f"({_tolerance(table['words'])}; one run, not tested). "
        f"Better choices are {_how_many(worthwhile)}."
    )
    relaxed = table[table.index.isin([RELAXATION], level="solver") & table.index.isin(["projective"], level="space")]
    if len(relaxed):
        yield _relaxed(relaxed.droplevel(["space", "solver"]))
    yield ONE_RUN
    if "non-projective" in worthwhile.index.get_level_values("space"):
        yield CROSSING


def _relaxed(rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Compare AD3 with exact search over projective trees. rows: rows of `tables.worth` by model."""
    slower = 1 / rows["times as fast"]
    number = "{:,.0f}" if slower.min() >= 10 else "{:.1f}"
    return (
        f"{RELAXATION}, the algorithm of TurboParser, solves a relaxation with the same factors. With projective trees "
        f"it takes {from_to(slower, number)} times the CPU time of {EXACT}, finds "
        f"{from_to(rows['best tree, %'], '{:.1f}')} % of the best trees, and changes UAS by "
        f"{from_to(rows['UAS'], '{:+.2f}')} points ({listing(rows.index)}; our {RELAXATION} is not optimised for "
        "speed).",
        rows,
    )


def _price(rows: pd.DataFrame) -> str:
    """Describe the fastest approximation that is as accurate as exact search, and the fastest of all approximations.

    rows  rows of `tables.worth` for one model and space of trees
    """
    good, fastest = rows[rows["worth it"].astype(bool)], rows["times as fast"].idxmax()
    speed, change = rows.loc[fastest, "times as fast"], rows.loc[fastest, "UAS"]
    all_of_them = (
        f"The fastest of all approximations ({fastest}) is {speed:.1f} times as fast and changes UAS by {change:+.2f} "
        "points."
    )
    if good.empty:
        return f"no approximation is as accurate as {EXACT} and at least {FASTER:g} times as fast. {all_of_them}"
    best = good["times as fast"].idxmax()
    text = (
        f"the fastest approximation that is as accurate as {EXACT} ({best}) is "
        f"{good.loc[best, 'times as fast']:.1f} times as fast and finds {good.loc[best, 'best tree, %']:.1f} % of the "
        "best trees."
    )
    return text if best == fastest else f"{text} {all_of_them}"


def _count(space: str, rows: pd.DataFrame) -> str:
    """Count the approximations that are as accurate as exact search and faster, with the largest ratio of speeds.

    rows  rows of `tables.worth` for one model and the space `space`
    """
    good = rows[rows["worth it"].astype(bool)]["times as fast"]
    unseen = ", on which the models were not trained" * (space == "non-projective")
    ratio = f", the fastest of them {good.max():.1f} times as fast" * bool(len(good))
    return (
        f"With the same scores and {space} trees{unseen}, {len(good)} of {len(rows)} approximations are as accurate as "
        f"{EXACT} and at least {FASTER:g} times as fast{ratio}."
    )


def _how_many(worthwhile: pd.DataFrame) -> str:
    """Return in words how many of the compared approximations are worth using in each space of trees.

    worthwhile  one row per model and space: `sum` approximations of `size` compared ones are worth using
    """
    return listing(
        f"{span(rows['sum'], '{:.0f}') if rows['sum'].nunique() > 1 else rows['sum'].iloc[0]} of {rows['size'].max()} "
        f"for {space} trees"
        for space, rows in worthwhile.groupby(level="space", sort=False)
    )


def proved(best: pd.DataFrame) -> str:
    """Return the numbers of sentences and of proofs as the end of a caption. best: `tables.best_approximations`."""
    if best.empty:
        return ""
    sentences, proofs = (from_to(best[name]) for name in ("sentences", "proved"))
    return f" ({sentences} test sentences for each kind of scores and trees; {EXACT} proves {proofs})"


@about(HOW)
def crossing(data: pd.DataFrame, model: str) -> Sentences:
    """Report how much longer exact search takes over trees that may cross. data: `tables.contest` of one run."""
    flat, free = (exact_speeds(data, model, space) for space in ("projective", "non-projective"))
    ratio = (flat / free).dropna()
    if len(ratio):
        rows = data[(data["model"] == model) & (data["space"] == "projective") & (data["solver"] == EXACT)]
        mean, sentences = geometric(ratio), int(rows["sentences"].sum())
        yield (
            f"With the same scores (model {model}, trained on projective trees; {sentences} sentences from "
            f"{len(ratio)} treebanks), {EXACT} over trees that may cross takes {mean:.0f} times the CPU time of "
            f"{EXACT} over projective trees (geometric mean; {from_to(ratio, '{:.0f}')} on single treebanks).",
            ratio.to_frame("times the CPU time"),
        )


@about(HOW)
def synthetic(table: pd.DataFrame, compared: pd.DataFrame) -> Sentences:
    """Describe exact search on synthetic scores: its proofs, and where no faster decoder finds as many best trees.

    table     result of `tables.synthetic_totals`
    compared  result of `tables.worth`, for rows on synthetic scores alone
    """
    everywhere = table[table["decoder"] == NOTHING]
    proved = int((table["proved, %"] * table["sentences"] / 100).round().sum())
    yield (
        f"With synthetic scores, {EXACT} proves {share(proved, int(table['sentences'].sum()))} sentences within its "
        f"limit, {span(table['proved, %'], '{:.1f} %')}.",
        table,
    )
    yield (
        f"With {len(everywhere)} of {len(table)} kinds of scores and trees, no decoder that finds as many best "
        f"trees is at least {FASTER:g} times as fast as {EXACT} at any length ({listing(everywhere.index)}).",
        table,
    )
    worthwhile = compared.groupby(level=["model", "space"], sort=False)["worth it"].agg(["sum", "size"])
    yield (
        f"Over all lengths together, this many approximations are at least {FASTER:g} times as fast as {EXACT} and "
        f"find as many best trees: {_how_many(worthwhile)}."
    )
    yield ONE_RUN


@about(HOW)
def over_time(curves: pd.DataFrame, chosen: Sequence[str], ms: float = 10.0) -> Sentences:
    """Tell which decoders the anytime figure shows, and what exact search reaches within a CPU time.

    curves  result of `tables.over_time`
    chosen  result of `anytime.informative`
    ms      CPU time per sentence
    """
    everything = approximations(curves)
    some, best = highest(curves, chosen), highest(curves, everything)
    yield (
        f"The figure shows {EXACT} and {len(chosen)} of {len(everything)} approximations: {'; '.join(chosen)}. "
        f"A program chose them: the best of them at each time and in each panel finds {some:.1f} % of the best trees "
        f"on average. No other {len(chosen)} different methods reach a higher average. The best of all "
        f"{len(everything)} approximations finds {best:.1f} %.",
        curves,
    )
    rows = curves[curves["ms"] == ms]
    for space in dict.fromkeys(rows["space"]):
        table = rows[rows["space"] == space].pivot_table(
            index="solver", columns="model", values=["best", "proved"], sort=False
        )
        yield (
            f"Within {ms:g} ms of CPU time per sentence, {EXACT} has the best tree for "
            f"{span(table.loc[EXACT, 'best'], '{:.1f} %')} of the sentences with {space} trees, and a proof for "
            f"{span(table.loc[EXACT, 'proved'], '{:.1f} %')}.",
            table,
        )
