"""Sentences about the tables of integer programming, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.show import Remarks, said_p
from treebound.report.tables.ilp import (
    BASELINE,
    BRANCH_AND_BOUND,
    CONSTRAINTS,
    RELAXATION,
    binomial,
    claims,
    measures,
)

HOW = (
    "No run here has the cross-validation, which the default run leaves out. It takes about twenty minutes: "
    "`python -m treebound.experiments.scratch build/ilp params/ilp.yaml`, or list a corpus under "
    "`cross_validation: corpora:` in params.yaml."
)
NO_ARENA = "No run here has an arena: run `python -m treebound.experiments.run arena`."
#: p below which a family of constraints is said to change something
FAMILY_LEVEL = 0.05


def accuracy(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.cross_validated`: what the constraints gain."""
    if data.empty:
        return Remarks((HOW,))
    said = []
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        gain = {name: measures(ours)[name] - measures(base)[name] for name in ("LAC", "UAC", "LC", "UC")}
        p = binomial(ours["better"], ours["worse"])
        said.append(
            f"On {corpus} ({run}, {ours['folds']} folds, {ours['sentences']:,} sentences) the constraints bring "
            f"{gain['LAC']:+.2f} labelled and {gain['UAC']:+.2f} unlabelled points, {gain['LC']:+.2f} of complete "
            f"sentences (sign test: {said_p(p)}). "
            f"They change {ours['changed']:,} words: {ours['gained']:,} become right, {ours['lost']:,} wrong, and "
            f"{ours['changed'] - ours['gained'] - ours['lost']:,} are wrong before and after."
        )
    return Remarks(tuple(said))


def times(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.cross_validated`: the targets on time and iterations."""
    if data.empty:
        return Remarks((HOW,))
    said = []
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        few, short = (100 * ours[name] / ours["sentences"] for name in ("few_iterations", "short"))
        said.append(
            f"On {corpus} ({run}) {few:.2f} % of the sentences are solved in fewer than 20 iterations and "
            f"{short:.2f} % in under 0.5 s; {ours['long'] or 'none'} took over 120 s, the slowest took "
            f"{ours['slowest']:.1f} s. "
            f"Chu-Liu-Edmonds takes {base['seconds']:.1f} s for the corpus, the constraints {ours['seconds']:.1f} s."
        )
    seconds, minutes, slower = (
        claims()[name]
        for name in (
            "Chu-Liu-Edmonds, solve time of the corpus, s",
            "Chu-Liu-Edmonds, with features, about, minutes",
            "q = 10, with features, about, minutes",
        )
    )
    said.append(
        f"Published: {seconds:g} s for Chu-Liu-Edmonds on the corpus; with reading and features about {minutes:g} "
        f"minutes, against about {slower:g} with the constraints and q = 10."
    )
    return Remarks(tuple(said))


def families(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.family_worth`."""
    if data.empty:
        return Remarks((HOW,))
    said = []
    for where, rows in data.groupby(level=0, sort=False):
        rows = rows.droplevel(0)
        alone, gold = rows["LAC", "alone"], rows["trees that break it, %", "gold"]
        said.append(
            f"In {where} the family that helps most by itself is {alone.idxmax()} ({alone.max():+.2f} points), the one "
            f"that helps least {alone.idxmin()} ({alone.min():+.2f}). Gold trees break {gold.idxmax()} most often "
            f"({gold.max():.1f} % of the sentences): no parse that keeps it can be right there. "
            f"Apart they bring {alone.sum():+.2f} points in sum."
        )
        words = rows["words, alone"]
        p = {name: binomial(int(row["gained"]), int(row["lost"])) for name, row in words.iterrows()}
        unclear = [str(name) for name, value in p.items() if value >= FAMILY_LEVEL]
        said.append(
            "By McNemar's test over words, which takes them for independent, "
            + (
                f"{', '.join(unclear)} cannot be told from no change on this fold."
                if unclear
                else "each one changes something."
            )
        )
    return Remarks(tuple(said))


def loop(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.in_the_loop`."""
    if data.empty:
        return Remarks((HOW,))
    said = []
    for where, rows in data.groupby(level=0, sort=False):
        lac = rows.droplevel(0)["LAC"]
        difference = lac["constraints", "constraints"] - lac["Chu-Liu-Edmonds", "constraints"]
        said.append(
            f"In {where}, on one fold, training with the program in the loop changes the labelled accuracy of the "
            f"constrained parser by {difference:+.2f} points. That is one training of each kind, and was not tested."
        )
    return Remarks(tuple(said))


def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Remarks:
    """About `tables.ilp.contest` and `arena_lengths`."""
    if data.empty:
        return Remarks((NO_ARENA,))
    solved = data.groupby("solver", sort=False)[["proved", "sentences"]].sum()
    bb = solved.loc[BRANCH_AND_BOUND]
    slowest = data[data["solver"] == BRANCH_AND_BOUND].sort_values("slowest").iloc[-1]
    longest = data.loc[_exact(data), "slowest"].max()
    limits = ", ".join(f"{seconds:g} s" for seconds in dict.fromkeys(data["limit"]))
    said = [
        f"Branch and bound, which has no limit here, proves {bb['proved']} of {bb['sentences']} problems; the slowest "
        f"takes {slowest['slowest']:.2g} s ({slowest['corpus']}, {slowest['model']}, {slowest['space']}). A program "
        f"has {limits} for a sentence, a limit that a solver may overrun: the slowest takes {longest:.2g} s.",
        *_programs(data),
        "Solvers that prove an optimum agree on its score in every sentence: the run stops where two do not.",
    ]
    ratio = lengths["best program / branch and bound"]
    there = ratio.dropna()
    if len(there):
        low, high = there.idxmin(), there.idxmax()
        said.append(
            f"In {len(there)} of {len(ratio)} bins of lengths some program proves every sentence. There the fastest "
            f"such program takes {there.median():,.0f} times as long as branch and bound in the median bin, "
            f"{there.min():,.1f} times at least ({_place(low, lengths)}) and {there.max():,.0f} times at most "
            f"({_place(high, lengths)})."
        )
    if left := len(ratio) - len(there):
        said.append(
            f"The {left} bins in which every program gave up somewhere have no such figure: they are the hardest."
        )
    return Remarks(tuple(said))


def _programs(data: pd.DataFrame) -> list[str]:
    """How many sentences the integer programs prove within their limit, by model and space."""
    exact = data[_exact(data)]
    said = []
    for (model, space), rows in exact.groupby(["model", "space"], sort=False):
        sums = rows.groupby("solver", sort=False)[["proved", "sentences"]].sum()
        low, high, of = sums["proved"].min(), sums["proved"].max(), sums["sentences"].max()
        count = f"all {of}" if low == of else f"{low} to {high} of {of}" if low < high else f"{low} of {of}"
        said.append(f"With {model}, {space}, each program proves {count} sentences within its limit.")
    return said


def _exact(data: pd.DataFrame) -> pd.Series:
    """Which rows are of integer programs that prove what they return."""
    return (data["solver"] != BRANCH_AND_BOUND) & ~data["solver"].str.startswith(RELAXATION)


def _place(key: tuple, lengths: pd.DataFrame) -> str:
    _, corpus, model, space, low = key
    count = int(lengths.loc[key, "sentences"])
    return f"{corpus}, {model}, {space}, over {low} words, {count} {'sentences' if count > 1 else 'sentence'}"


def integrality(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.integrality`."""
    if data.empty:
        return Remarks((NO_ARENA,))
    mean = data.mean()
    listed = ", ".join(f"{name} {value:.1f} %" for name, value in mean.items())
    return Remarks((f"Integral on average, which proves the optimum without branching: {listed}.",))
