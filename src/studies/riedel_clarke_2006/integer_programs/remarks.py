"""Sentences about exact solvers, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.riedel_clarke_2006.integer_programs.tables import BRANCH_AND_BOUND, RELAXATION
from studies.site.collect import title
from studies.site.sentences import Sentences, about, each, from_to, how_many_corpora, joined, listing, span

NO_ARENA = "No run here has compared the solvers: run `python -m studies.pipeline.run integer-programs`."


@about(NO_ARENA)
def answer(data: pd.DataFrame, lengths: pd.DataFrame) -> Sentences:
    """State in one sentence for each run what branch and bound and integer programs prove. data, lengths: see `arena`.

    The sentence is for the top of a page; `arena` has the details.
    """
    for run, rows in each(data, "run"):
        bb = rows[rows["solver"] == BRANCH_AND_BOUND]
        own = lengths[lengths.index.get_level_values("run") == run]
        yield (
            f"Branch and bound proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems. {in_brief(rows, own)}.",
            rows,
        )


@about(NO_ARENA)
def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Sentences:
    """Describe `tables.contest` and `arena_lengths` for each run: proofs, and times against branch and bound."""
    for run, rows in each(data, "run"):
        bb = rows[rows["solver"] == BRANCH_AND_BOUND]
        exact, proved = _programs(rows)
        most = proved["sentences"].max()
        total = f"of {'up to ' * (proved['sentences'].nunique() > 1)}{most:,}"
        own = lengths[lengths.index.get_level_values("run") == run]
        yield (
            f"Branch and bound proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems, without a limit. "
            f"Integer programs prove {span(proved['proved'], '{:,}')} {total}, {_limited(exact)}.{_in_the_median(own)}",
            rows,
        )
        yield (
            f"The slowest problem of branch and bound takes {bb['slowest'].max():.2g} s."
            f"{_slowest(exact)} If two solvers prove an optimum, they agree on its score. A problem is a test sentence "
            f"with the scores of a model and a set of trees ({title(run)}; "
            f"{how_many_corpora(dict.fromkeys(bb['corpus']))}; models "
            f"{listing(dict.fromkeys(bb['model']))}; {listing(dict.fromkeys(bb['space']))} trees).",
            rows,
        )
        yield from _ratios(own, run)


def _programs(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the integer programs, and by program the numbers of proofs (`proved`) and of sentences."""
    exact = rows[(rows["solver"] != BRANCH_AND_BOUND) & ~rows["solver"].str.startswith(RELAXATION)]
    return exact, exact.groupby("solver", sort=False)[["proved", "sentences"]].sum()


def in_brief(data: pd.DataFrame, lengths: pd.DataFrame) -> str:
    """State the time and the proofs of integer programs in one run, without a full stop. data, lengths: see `arena`."""
    exact, proved = _programs(data)
    known = lengths["best program / branch and bound"].dropna()
    (limit,) = set(exact["limit"])
    count = f"{len(known)} of {len(lengths)}"
    where = f"On {proved['sentences'].max():,} problems with scores of {joined(list(dict.fromkeys(data['model'])))}"
    programs = f"integer programs prove {from_to(proved['proved'])} in {limit:g} s each"
    if known.empty:
        return f"{where}, {programs}"
    return (
        f"{where}, the fastest integer program takes {known.median():,.0f} times as long as branch and bound "
        f"(median of {count} groups of problems), and {programs}"
    )


def _in_the_median(lengths: pd.DataFrame) -> str:
    """State the median of the ratio of times, after a space, and the bins without a ratio. lengths: rows of one run."""
    ratio = lengths["best program / branch and bound"]
    if ratio.isna().all():
        return ""
    missing = f"; in {ratio.isna().sum()} others, no program proves all" * bool(ratio.isna().any())
    return (
        f" The fastest program takes {ratio.median():,.0f} times as long as branch and bound in the median of "
        f"{ratio.notna().sum()} groups of problems{missing}."
    )


def _ratios(lengths: pd.DataFrame, run: str) -> Sentences:
    """Compare the times of the fastest integer program and of branch and bound in one run."""
    ratio = lengths["best program / branch and bound"]
    if len(known := ratio.dropna()):
        low, high = known.idxmin(), known.idxmax()
        yield (
            f"The problems are divided into {len(ratio)} bins by corpus, model, set of trees and length "
            f"({title(run)}). In {len(known)} of the bins, at least one integer program proves every sentence.",
            lengths,
        )
        yield (
            "In these bins, the fastest program takes "
            f"{known.median():,.0f} times as long as branch and bound in the median bin, and {known.min():,.1f} times "
            f"({_place(low, lengths)}) to {known.max():,.0f} times ({_place(high, lengths)}) as long in single bins.",
            lengths,
        )
    if unknown := len(ratio) - len(known):
        yield f"In {unknown} of {len(ratio)} bins of {title(run)}, no program proved all sentences: there is no ratio."


def _limited(exact: pd.DataFrame) -> str:
    """State the time limit for each sentence."""
    (limit,) = set(exact["limit"])
    return f"with a limit of {limit:g} s of wall-clock time per sentence"


def _slowest(exact: pd.DataFrame) -> str:
    """State the time of the slowest integer program, after a space, if it exceeded the limit; else return no text."""
    (limit,) = set(exact["limit"])
    slowest = exact["slowest"].max()
    if slowest <= limit:
        return ""
    return f" The slowest program used {slowest:.2f} CPU s, because HiGHS checks its limit only between steps."


def _where(data: pd.DataFrame) -> str:
    """Name the models, spaces and corpora of the problems."""
    names = (listing(dict.fromkeys(data[name])) for name in ("model", "space", "corpus"))
    return "test sentences under the scores of {}, {} trees; {}".format(*names)


def _place(key: tuple, lengths: pd.DataFrame) -> str:
    """Name the corpus, model, space and length bin of one row of `lengths`, with the number of sentences of the bin.

    key  index of the row
    """
    _, corpus, model, space, low = key
    count = int(lengths.loc[key, "sentences"])
    following = min((end for end in lengths.index.get_level_values(-1) if end > low), default=0)
    words = f"over {low} words" if low or not following else f"up to {following} words"
    return f"{corpus}, {model}, {space}, {words}, {count} {'sentences' if count > 1 else 'sentence'}"


@about(NO_ARENA)
def integrality(data: pd.DataFrame) -> Sentences:
    """Describe `tables.integrality`: how often the linear relaxation of each formulation is integral."""
    listed = listing(f"{name} {value:.1f} %" for name, value in data.mean().items())
    yield f"Mean share of integral relaxations, which prove the optimum without branching ({len(data)} rows): {listed}."
