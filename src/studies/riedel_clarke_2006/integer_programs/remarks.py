"""Sentences about exact solvers, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.riedel_clarke_2006.integer_programs.tables import BRANCH_AND_BOUND, RELAXATION
from studies.site.sentences import Said, about, listing, span

NO_ARENA = "No run here has compared them: run `python -m studies.pipeline.run integer-programs`."


@about(NO_ARENA)
def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Said:
    """About `tables.contest` and `arena_lengths`."""
    bb = data[data["solver"] == BRANCH_AND_BOUND]
    exact = data[(data["solver"] != BRANCH_AND_BOUND) & ~data["solver"].str.startswith(RELAXATION)]
    limits = listing(f"{seconds:g} s" for seconds in dict.fromkeys(data["limit"]))
    proved = exact.groupby("solver", sort=False)[["proved", "sentences"]].sum()
    yield (
        f"Branch and bound proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems ({_where(bb)}), without "
        f"a limit and in {bb['slowest'].max():.2g} s at most; integer programs prove "
        f"{span(proved['proved'], '{:,}')} of up to {proved['sentences'].max():,} within {limits} each. "
        "Where two prove an optimum, they agree on its score.",
        data,
    )
    ratio = lengths["best program / branch and bound"]
    if len(there := ratio.dropna()):
        low, high = there.idxmin(), there.idxmax()
        yield (
            f"In the {len(there)} of {len(ratio)} bins of lengths where some program proves every sentence, the "
            f"fastest such program takes {there.median():,.0f} times as long as branch and bound in the median bin, "
            f"{there.min():,.1f} times at least ({_place(low, lengths)}) and {there.max():,.0f} times at most "
            f"({_place(high, lengths)}).",
            lengths,
        )
    if left := len(ratio) - len(there):
        yield f"In {left} of {len(ratio)} bins every program gave up somewhere: the hardest ones have no ratio."


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
