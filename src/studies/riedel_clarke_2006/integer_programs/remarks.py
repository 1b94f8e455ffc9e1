"""Sentences about exact solvers, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.riedel_clarke_2006.integer_programs.tables import BRANCH_AND_BOUND, RELAXATION
from studies.site.sentences import Said, about, each, how_many_corpora, listing, span

NO_ARENA = "No run here has compared them: run `python -m studies.pipeline.run integer-programs`."


@about(NO_ARENA)
def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Said:
    """About `tables.contest` and `arena_lengths`, run by run."""
    for run, of in each(data, "run"):
        bb = of[of["solver"] == BRANCH_AND_BOUND]
        exact = of[(of["solver"] != BRANCH_AND_BOUND) & ~of["solver"].str.startswith(RELAXATION)]
        proved = exact.groupby("solver", sort=False)[["proved", "sentences"]].sum()
        yield (
            f"Branch and bound proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems ({run}; "
            f"{how_many_corpora(dict.fromkeys(bb['corpus']))}, models {listing(dict.fromkeys(bb['model']))}, trees "
            f"{listing(dict.fromkeys(bb['space']))}), without a limit and in {bb['slowest'].max():.2g} s at most; "
            f"integer programs prove {span(proved['proved'], '{:,}')} of up to {proved['sentences'].max():,}, "
            f"{_limited(exact)}. Where two prove an optimum, they agree on its score.",
            of,
        )
        yield from _ratios(lengths[lengths.index.get_level_values("run") == run], run)


def _ratios(lengths: pd.DataFrame, run: str) -> Said:
    """Sentences about how many times as long as branch and bound the best program takes in one run."""
    ratio = lengths["best program / branch and bound"]
    if len(there := ratio.dropna()):
        low, high = there.idxmin(), there.idxmax()
        yield (
            f"In the {len(there)} of {len(ratio)} bins of lengths where some program proves every sentence ({run}), "
            f"the fastest such program takes {there.median():,.0f} times as long as branch and bound in the median "
            "bin, "
            f"{there.min():,.1f} times at least ({_place(low, lengths)}) and {there.max():,.0f} times at most "
            f"({_place(high, lengths)}).",
            lengths,
        )
    if left := len(ratio) - len(there):
        yield f"In {left} of {len(ratio)} bins ({run}) every program gave up somewhere: the hardest ones have no ratio."


def _limited(exact: pd.DataFrame) -> str:
    """Words about the limit of each sentence, and about the sentence that took longest where it took longer."""
    (limit,) = set(exact["limit"])
    slowest = exact["slowest"].max()
    over = f", which the slowest sentence exceeded with {slowest:.2f} CPU s" if slowest > limit else ""
    return f"with a limit of {limit:g} s of the clock for a sentence{over}"


def _where(data: pd.DataFrame) -> str:
    """Name the models, spaces and corpora that problems are of."""
    names = (listing(dict.fromkeys(data[name])) for name in ("model", "space", "corpus"))
    return "test sentences under the scores of {}, {} trees; {}".format(*names)


def _place(key: tuple, lengths: pd.DataFrame) -> str:
    _, corpus, model, space, low = key
    count = int(lengths.loc[key, "sentences"])
    following = min((end for end in lengths.index.get_level_values(-1) if end > low), default=0)
    words = f"over {low} words" if low or not following else f"to {following} words"
    return f"{corpus}, {model}, {space}, {words}, {count} {'sentences' if count > 1 else 'sentence'}"


@about(NO_ARENA)
def integrality(data: pd.DataFrame) -> Said:
    """About `tables.integrality`."""
    listed = listing(f"{name} {value:.1f} %" for name, value in data.mean().items())
    yield f"Integral on average over {len(data)} rows, which proves the optimum without branching: {listed}."
