"""Sentences about the tables of integer programming, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report import published
from treebound.report.show import Remarks
from treebound.report.tables.ilp import BASELINE, BRANCH_AND_BOUND, CONSTRAINTS, RIEDEL_CLARKE, binomial, measures

HOW = (
    "No run here has the cross-validation, which the default run leaves out. It takes about twenty minutes: "
    "`python -m treebound.experiments.scratch build/ilp params/ilp.yaml`, or list a corpus under "
    "`cross_validation: corpora:` in params.yaml."
)
NO_ARENA = "No run here has an arena: run `python -m treebound.experiments.run arena`."
#: points of labelled accuracy that the paper gains, and the level at which it does
GAIN, LEVEL = 0.5, 0.001


def accuracy(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.cross_validated`: what the constraints gain, against what was published."""
    if data.empty:
        return Remarks((HOW,))
    said = []
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        gain = {name: measures(ours)[name] - measures(base)[name] for name in ("LAC", "UAC", "LC", "UC")}
        p = binomial(ours["better"], ours["worse"])
        kept = "as large a gain as published" if gain["LAC"] >= GAIN else "less than the published gain"
        said.append(
            f"On {corpus} ({run}, {ours['folds']} folds, {ours['sentences']:,} sentences) the constraints bring "
            f"{gain['LAC']:+.2f} labelled and {gain['UAC']:+.2f} unlabelled points, {gain['LC']:+.2f} of complete "
            f"sentences: {kept} ({GAIN:+.1f}), {'significant' if p < LEVEL else 'not significant'} at {LEVEL:g} "
            f"(sign test, p = {p:.1g}). "
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
    return Remarks(tuple(said))


def approximation(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.approximation`, from `cross_validated`: what q = 10 saves and loses."""
    if data.empty:
        return Remarks((HOW,))
    saved = published.table(RIEDEL_CLARKE, "claims").set_index("claim")["published"].iloc[2]
    said = [f"Published: q = 10 saves {saved:.0f} % of the time at a marginal loss."]
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        ten = systems[systems["system"] == f"{CONSTRAINTS}, q = 10"]
        every = systems[systems["system"] == CONSTRAINTS].iloc[0]
        if len(ten):
            saves = 100 * (1 - ten.iloc[0]["seconds"] / every["seconds"])
            loss = measures(ten.iloc[0])["LAC"] - measures(every)["LAC"]
            said.append(f"On {corpus} ({run}) it saves {saves:.0f} % at {loss:+.2f} labelled points.")
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
            f"constrained parser by {difference:+.2f} points."
        )
    return Remarks(tuple(said))


def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Remarks:
    """About `tables.ilp.contest` and `arena_lengths`."""
    if data.empty:
        return Remarks((NO_ARENA,))
    keys = ["run", "corpus", "model", "space"]
    solved = data.groupby([*keys, "solver"], sort=False)[["proved", "sentences"]].sum()
    bb = solved.xs(BRANCH_AND_BOUND, level="solver")
    said = [
        f"Branch and bound proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems. Solvers that prove an "
        "optimum agree on its score in every sentence: the run stops where two do not."
    ]
    ratio = lengths["best program / branch and bound"].dropna()
    low, high = ratio.idxmin(), ratio.idxmax()
    said.append(
        f"The best exact program takes {ratio.min():,.1f} times as long as branch and bound at least "
        f"({_place(low)}), and {ratio.max():,.0f} times at most ({_place(high)})."
    )
    return Remarks(tuple(said))


def _place(key: tuple) -> str:
    _, corpus, model, space, low = key
    return f"{corpus}, {model}, {space}, over {low} words"


def integrality(data: pd.DataFrame) -> Remarks:
    """About `tables.ilp.integrality`."""
    if data.empty:
        return Remarks((NO_ARENA,))
    mean = data.mean()
    listed = ", ".join(f"{name} {value:.1f} %" for name, value in mean.items())
    return Remarks((f"Integral on average, which proves the optimum without branching: {listed}.",))
