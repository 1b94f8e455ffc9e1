"""Sentences about the tables of integer programming, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from treebound.report.sentences import LEVEL, Said, about, each, listing, span
from treebound.report.show import said_p
from treebound.report.tables.ilp import (
    BASELINE,
    BRANCH_AND_BOUND,
    CONSTRAINTS,
    PUBLISHED_LOOP,
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


@about(HOW)
def accuracy(data: pd.DataFrame) -> Said:
    """About `tables.ilp.cross_validated`: what the constraints gain."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        gain = {name: measures(ours)[name] - measures(base)[name] for name in ("LAC", "UAC", "LC", "UC")}
        p = binomial(ours["better"], ours["worse"])
        yield (
            f"On {corpus} ({run}, {ours['folds']} folds, {ours['sentences']:,} sentences) the constraints bring "
            f"{gain['LAC']:+.2f} labelled and {gain['UAC']:+.2f} unlabelled points, {gain['LC']:+.2f} of complete "
            f"sentences (sign test: {said_p(p)}). They change {ours['changed']:,} words: {ours['gained']:,} become "
            f"right, {ours['lost']:,} wrong, and {ours['changed'] - ours['gained'] - ours['lost']:,} are wrong before "
            "and after.",
            systems,
        )


@about(HOW)
def times(data: pd.DataFrame) -> Said:
    """About `tables.ilp.cross_validated`: the targets on time and iterations."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        few, short = (100 * ours[name] / ours["sentences"] for name in ("few_iterations", "short"))
        first = 100 * systems.set_index("system")["first"] / systems.set_index("system")["seconds"]
        yield (
            f"On {corpus} ({run}) {few:.2f} % of {ours['sentences']:,} sentences are solved in fewer than 20 "
            f"iterations and {short:.2f} % in under 0.5 s; {ours['long'] or 'none'} took over 120 s, the slowest took "
            f"{ours['slowest']:.1f} s. Chu-Liu-Edmonds takes {base['seconds']:.1f} s for the corpus, the constraints "
            f"{ours['seconds']:.1f} s, {first[CONSTRAINTS]:.1f} % of it in the first iteration"
            + (f" ({first[PUBLISHED_LOOP]:.1f} % in the loop as published)" if PUBLISHED_LOOP in first else "")
            + "; the paper says that most of it is.",
            systems,
        )
    seconds, minutes, slower = (
        claims()[name]
        for name in (
            "Chu-Liu-Edmonds, solve time of the corpus, s",
            "Chu-Liu-Edmonds, with features, about, minutes",
            "q = 10, with features, about, minutes",
        )
    )
    yield (
        f"Published: {seconds:g} s for Chu-Liu-Edmonds on the corpus; with reading and features about {minutes:g} "
        f"minutes, against about {slower:g} with the constraints and q = 10."
    )


@about(HOW)
def families(data: pd.DataFrame) -> Said:
    """About `tables.ilp.family_worth`."""
    for where, rows in data.groupby(level=0, sort=False):
        rows = rows.droplevel(0)
        alone, gold = rows["LAC", "alone"], rows["trees that break it, %", "gold"]
        p = {name: binomial(int(row["gained"]), int(row["lost"])) for name, row in rows["words, alone"].iterrows()}
        unclear = [name for name, value in p.items() if value >= LEVEL]
        yield (
            f"In {where} a family by itself brings {span(alone, '{:+.2f}')} points. Gold trees break them in "
            f"{span(gold, '{:.1f} %')} of the sentences: no parse that keeps a family can be right there. By McNemar's "
            "test over words, which takes them for independent, "
            + (f"{listing(unclear)} cannot be told from no change on this fold." if unclear else "each changes some.")
            + f" Apart they bring {alone.sum():+.2f} points in sum.",
            rows,
        )


@about(HOW)
def loop(data: pd.DataFrame) -> Said:
    """About `tables.ilp.in_the_loop`."""
    for where, rows in data.groupby(level=0, sort=False):
        lac = rows.droplevel(0)["LAC"]
        gap = lac["constraints", "constraints"] - lac["Chu-Liu-Edmonds", "constraints"]
        yield (
            f"In {where}, on one fold, training with the program in the loop changes the labelled accuracy of the "
            f"constrained parser by {gap:+.2f} points. That is one training of each kind, and was not tested.",
            rows,
        )


@about(NO_ARENA)
def arena(data: pd.DataFrame, lengths: pd.DataFrame) -> Said:
    """About `tables.ilp.contest` and `arena_lengths`."""
    bb = data[data["solver"] == BRANCH_AND_BOUND]
    slowest = bb.sort_values("slowest").iloc[-1]
    exact = data[(data["solver"] != BRANCH_AND_BOUND) & ~data["solver"].str.startswith(RELAXATION)]
    limits = listing(f"{seconds:g} s" for seconds in dict.fromkeys(data["limit"]))
    yield (
        f"Branch and bound, which has no limit here, proves {bb['proved'].sum()} of {bb['sentences'].sum()} problems; "
        f"the slowest takes {slowest['slowest']:.2g} s ({slowest['corpus']}, {slowest['model']}, {slowest['space']}). "
        f"A program has {limits} for a sentence, a limit that a solver may overrun: the slowest takes "
        f"{exact['slowest'].max():.2g} s.",
        bb,
    )
    counted = exact.groupby(["model", "space", "solver"], sort=False)[["proved", "sentences"]].sum()
    for (model, space), rows in counted.groupby(level=[0, 1], sort=False):
        ends = " to ".join(str(n) for n in dict.fromkeys((rows["proved"].min(), rows["proved"].max())))
        yield (
            f"With {model}, {space}, each program proves {ends} of {rows['sentences'].max()} sentences within its "
            "limit.",
            rows,
        )
    yield "Solvers that prove an optimum agree on its score in every sentence: the run stops where two do not."
    ratio = lengths["best program / branch and bound"]
    there = ratio.dropna()
    if len(there):
        low, high = there.idxmin(), there.idxmax()
        yield (
            f"In {len(there)} of {len(ratio)} bins of lengths some program proves every sentence. There the fastest "
            f"such program takes {there.median():,.0f} times as long as branch and bound in the median bin, "
            f"{there.min():,.1f} times at least ({_place(low, lengths)}) and {there.max():,.0f} times at most "
            f"({_place(high, lengths)}).",
            lengths,
        )
    if left := len(ratio) - len(there):
        yield f"The {left} bins in which every program gave up somewhere have no such figure: they are the hardest."


def _place(key: tuple, lengths: pd.DataFrame) -> str:
    _, corpus, model, space, low = key
    count = int(lengths.loc[key, "sentences"])
    return f"{corpus}, {model}, {space}, over {low} words, {count} {'sentences' if count > 1 else 'sentence'}"


@about(NO_ARENA)
def integrality(data: pd.DataFrame) -> Said:
    """About `tables.ilp.integrality`."""
    listed = listing(f"{name} {value:.1f} %" for name, value in data.mean().items())
    yield f"Integral on average over {len(data)} rows, which proves the optimum without branching: {listed}."
