"""Say what exact search buys: proofs, accuracy against a search that stops early, and the speed it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.across.approximations import tables as approximations_tables
from studies.across.overview import shares
from studies.auli_lopez_2011.ccg_integration import contrasts
from studies.auli_lopez_2011.ccg_integration import remarks as ccg_integration_remarks
from studies.common.params import Row
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.riedel_clarke_2006.integer_programs import remarks as integer_programs_remarks
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.site import frames
from studies.site.collect import Results
from studies.site.ratios import geometric
from studies.site.rows import AT, at, find, main_rows, metrics_of, sweep, whole
from studies.site.sentences import Sentences, about, from_to, joined
from studies.site.show import Remarks
from treebound.core.errors import InputError


def stopped(results: Results, before_branching: bool = False) -> pd.DataFrame:
    """Compare exact search with a search that stops early, on whole test sets.

    before_branching  False: the search that stops after the fewest dynamic programs. True: the search that stops before
                      it branches, after its iterations at the root

    Rows: corpora. Columns:

    - sentences
    - proved, proved_stopped: number of trees that exact search and the stopped search prove
    - uas, uas_stopped: accuracy of both searches, in %, for the seed of the run
    - times: speed of the stopped search divided by the speed of exact search; NaN if one was not timed
    - spread: the larger spread of the repeats of the two searches, in %; NaN if both were timed once

    `attrs` has the names `model` and `row`. The table has no rows if no row stops the search of all factors.
    """
    columns = ["sentences", "proved", "proved_stopped", "uas", "uas_stopped", "times", "spread"]
    data = pd.DataFrame(columns=columns, dtype=float)
    try:
        model = sweep(results.params)[0].model
    except InputError:  # a run without a sweep has no model with all factors
        return data
    exact = main_rows(results.params, results.params.learners[0])[model]
    short = _stopped(results, model, before_branching)
    if short is None:
        return data
    metrics, values = metrics_of(results), headlines.accuracies(results)
    timed = frames.benchmark(results).set_index(AT)
    speed, spread = timed["words_per_cpu_s"], speed_tables.spreads(timed)
    for corpus in results.corpora:
        ours, theirs = at(corpus, exact), at(corpus, short)
        proved = [metrics.loc[place, "certified"] for place in (ours, theirs)]
        times = speed.get(theirs, np.nan) / speed.get(ours, np.nan)
        figures = [metrics.loc[ours, "sentences"], *proved, values[ours], values[theirs], times]
        data.loc[corpus] = [*figures, np.fmax(spread.get(theirs, np.nan), spread.get(ours, np.nan))]
    data.attrs |= {"model": model, "row": short.name, "calls": results.params.decoders[short.decoder].max_dp_calls}
    return data


def _stopped(results: Results, model: str, before_branching: bool) -> Row | None:
    """Return the row of a model whose search stops early as `stopped` describes, or None."""
    params, rows = results.params, []
    for row in find(params, model=model, learner=params.learners[0], k=params.train.k):
        decoder = params.decoders[row.decoder]
        calls = decoder.max_dp_calls
        stops = calls is None and decoder.max_nodes == 1 if before_branching else calls is not None
        if stops and whole(params, row):
            rows.append((calls or 0, row.name, row))
    return min(rows)[2] if rows else None


@about()
def buys(
    data: pd.DataFrame, unbranched: pd.DataFrame, worth: pd.DataFrame, joint: pd.DataFrame, programs: pd.DataFrame
) -> Sentences:
    """State what exact search buys, with numbers: first on whole test sets, then against approximations.

    data        `stopped`
    unbranched  `stopped` before branching; may have no rows
    worth       `approximations.tables.worth` of the same run; may have no rows
    joint       `ccg_integration.contrasts.against_bp` of the same run; may have no rows
    programs    `integer_programs.tables.contest` of the same run; may have no rows
    """
    if len(data):
        yield _bought(data, unbranched), data
        if speed := _speed(data, stop_in_words(data)):
            yield speed, data
    if len(unbranched):
        yield f"{_completed(unbranched)}.", unbranched
    if len(programs):
        lengths = integer_programs_tables.arena_lengths(programs)
        yield f"{integer_programs_remarks.in_brief(programs, lengths)}.", programs
    model = data.attrs.get("model", "")
    for space in ("projective", "non-projective"):
        if len(worth) and (model, space) in worth.index.droplevel("solver"):
            rows = worth.xs((model, space), level=("model", "space"))
            yield _against(rows, space, model), rows
    if len(joint):
        yield (
            "In categorial grammar (CCG), dual decomposition proves its result when its two models agree, and belief "
            f"propagation proves nothing. {ccg_integration_remarks.against_bp(joint)}",
            joint,
        )


def _bought(data: pd.DataFrame, unbranched: pd.DataFrame) -> str:
    """State the proofs and the gains in UAS that exact search buys.

    data        `stopped`
    unbranched  `stopped` before branching; may have no rows
    """
    corpora = len(data)
    searches = [(f"a search that stops after {stop_in_words(data)}", data)]
    if len(unbranched):
        searches.insert(0, ("a search that stops before it branches", unbranched))
    differences = []
    for name, table in searches:
        gained = table["uas"] - table["uas_stopped"]
        each = f" ({from_to(gained, '{:+.2f}')} on single treebanks)" if len(gained) > 1 else ""
        differences.append(f"by {gained.mean():+.2f} points from {name}{each}")
    proofs = shares.of_all(int(data["proved"].sum()), int(data["sentences"].sum()))
    return (
        f"Exact search buys proofs, here for {proofs} test sentences. Its UAS differs {joined(differences)} (model "
        f"{data.attrs['model']}, one seed, mean over {corpora} treebank{'s' * (corpora > 1)}; no difference was tested "
        "for significance)."
    )


def stop_in_words(data: pd.DataFrame) -> str:
    """Return the number of dynamic programs after which the search of `stopped` stops, with its noun."""
    calls = data.attrs["calls"]
    return "one dynamic program" if calls == 1 else f"{calls:g} dynamic programs"


def _completed(data: pd.DataFrame) -> str:
    """Say how many trees are proved without and with branching. data: `stopped` before branching."""
    total, proved, before = (int(data[name].sum()) for name in ("sentences", "proved", "proved_stopped"))
    after = "completes the proofs" if proved == total else f"raises this number to {proved:,}"
    return f"The search before branching proves {before:,} of {total:,} trees, and branching {after}"


def _speed(data: pd.DataFrame, stop: str) -> str:
    """Compare the times of exact search and of the search that stops early; empty if one was not timed.

    data  `stopped`
    stop  where the search stops, in words
    """
    times = data["times"].dropna()
    if len(times) < len(data):
        return ""
    change = 100 * (times - 1)
    mean = 100 * (geometric(times) - 1)
    ends = from_to(change, "{:+.0f}")
    single = f", {ends} % on single treebanks" * (" to " in ends)
    text = (
        f"The CPU time of exact search differs by {mean:+.0f} % from the time of the search that stops after {stop} "
        f"(geometric mean{single}"
    )
    spread = data["spread"]
    if spread.isna().any():
        return f"{text}; timed once)."
    clear = list(spread.index[change.abs() > spread])
    few = f" (all but {joined(clear)})" if clear and len(clear) < len(data) else ""
    return (
        f"{text}). On {len(data) - len(clear) or 'none'} of {len(data)} treebanks{few}, this difference in time is "
        "smaller than the difference between repeated timings of one search."
    )


def _against(rows: pd.DataFrame, space: str, model: str) -> str:
    """Compare exact search with approximations on the scores of a model.

    rows  `worth` of the model and one space, by decoder
    """
    good = rows[rows["worth it"].astype(bool)].sort_values("times as fast", ascending=False)
    corpora, words = rows["corpora"].iloc[0].count(",") + 1, int(rows["words"].max())
    places = f"{rows['sentences'].max():,} sentences, {words:,} words, {corpora} treebank{'s' * (corpora > 1)}"
    crossing = space != "projective"
    where = f"With the scores of {model}{' and arcs that may cross' * crossing} ({places})"
    limits = f"at least {approximations_tables.FASTER:g} times as fast and lose at most {approximations_tables.SAME:g}"
    text = f"{where}, {len(good)} of {len(rows)} approximations are {limits} UAS points (not tested for significance)"
    if not len(good):
        return f"{text}."
    best = good.iloc[0]
    trained = "; the models were trained on projective trees" if crossing else ""
    return (
        f"{text}. The fastest of them, `{good.index[0]}`, is {best['times as fast']:.1f} times as fast and finds "
        f"{shares.rounded(best['best tree, %']):.1f} % of the best trees{trained}."
    )


def summary(results: Sequence[Results]) -> Remarks:
    """Return `buys` for the first run that stops a search early; without such a run, the first run."""
    tables = [(run, stopped(run)) for run in results]
    run, data = next(((run, data) for run, data in tables if len(data)), tables[0])
    worth = approximations_tables.worth(approximations_tables.contest([run]))
    programs = integer_programs_tables.contest([run])
    return buys(data, stopped(run, before_branching=True), worth, contrasts.against_bp([run]), programs)
