"""Sentences about hard constraints, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.riedel_clarke_2006.constraints.tables import (
    BASELINE,
    CONSTRAINTS,
    PUBLISHED_LOOP,
    binomial,
    claims,
    measures,
)
from studies.site.sentences import LEVEL, Said, about, difference, each, listing, span
from studies.site.show import said_p

HOW = (
    "No run here has the cross-validation, which the default run leaves out. It takes about twenty minutes: "
    "`python -m studies.pipeline.scratch build/ilp params/ilp.yaml`, or list a corpus under "
    "`constraints: corpora:` in params.yaml."
)


@about(HOW)
def accuracy(data: pd.DataFrame) -> Said:
    """About `tables.cross_validated`: what the constraints gain."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        base, ours = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        gain = {name: measures(ours)[name] - measures(base)[name] for name in ("LAC", "UAC", "LC")}
        p = binomial(ours["better"], ours["worse"])
        yield (
            f"On {corpus} ({run}, {ours['folds']} folds, {ours['sentences']:,} sentences, one seed) the constraints "
            f"bring {gain['LAC']:+.2f} labelled and {gain['UAC']:+.2f} unlabelled points, {gain['LC']:+.2f} of "
            f"sentences with every head and label right (sign test over sentences: {said_p(p)}).",
            systems,
        )
        yield (
            f"On {corpus} ({run}) they change {ours['changed']:,} words: {ours['gained']:,} become right, "
            f"{ours['lost']:,} wrong, and {ours['changed'] - ours['gained'] - ours['lost']:,} are wrong before and "
            "after.",
            systems,
        )


@about(HOW)
def times(data: pd.DataFrame) -> Said:
    """About `tables.cross_validated`: the targets on time and iterations."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        of = systems.set_index("system")
        base, ours, first = of.loc[BASELINE], of.loc[CONSTRAINTS], 100 * of["first"] / of["seconds"]
        few, short = (100 * ours[name] / ours["sentences"] for name in ("few_iterations", "short"))
        loop = f" ({first[PUBLISHED_LOOP]:.1f} % in the loop as published)" if PUBLISHED_LOOP in first else ""
        yield (
            f"On {corpus} ({run}) {few:.2f} % of {ours['sentences']:,} sentences are solved in fewer than 20 "
            f"iterations and {short:.2f} % in under 0.5 s; the slowest took {ours['slowest']:.1f} s.",
            systems,
        )
        yield (
            f"Chu-Liu-Edmonds takes {base['seconds']:.1f} s for the corpus, the constraints {ours['seconds']:.1f} s, "
            f"{first[CONSTRAINTS]:.1f} % of it in the first iteration{loop}; the paper says that most of it is.",
            systems,
        )
        ten = f"{CONSTRAINTS}, q = 10"
        if ten in of.index and base["reading"] == base["reading"] and base["features"] == base["features"]:
            whole = of["seconds"] + of["features"] + of["reading"]
            yield (
                f"On {corpus} ({run}) reading takes {base['reading']:.1f} s, and features with their scores "
                f"{base['features']:.1f} s. Together with the solver Chu-Liu-Edmonds takes {whole[BASELINE]:.1f} s, "
                f"and the constraints with q = 10 take {whole[ten]:.1f} s, {whole[ten] / whole[BASELINE]:.2f} times as "
                "long.",
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
        f"Published (sections 5.2 and 5.3): {seconds:g} s for Chu-Liu-Edmonds on the corpus; with reading and features "
        f"about {minutes:g} minutes, against about {slower:g} with the constraints and q = 10."
    )


@about(HOW)
def families(data: pd.DataFrame) -> Said:
    """About `tables.family_worth`."""
    for where, rows in data.groupby(level=0, sort=False):
        rows = rows.droplevel(0)
        gold = rows["trees that break it, %", "gold"]
        p = {name: binomial(int(row["gained"]), int(row["lost"])) for name, row in rows["words, alone"].iterrows()}
        unclear = [name for name, value in p.items() if value >= LEVEL]
        yield (
            f"On {where}, fold {rows['', 'fold'].iloc[0]:.0f} ({rows['', 'sentences'].iloc[0]:,.0f} sentences), a "
            f"family by itself brings {span(rows['LAC', 'alone'], '{:+.2f}')} LAC; by McNemar's test over words, which "
            f"takes them for independent, {len(unclear)} of {len(p)} cannot be told from no change on this fold: "
            f"{listing(unclear)}. Gold trees break one in {span(gold, '{:.1f} %')} of sentences.",
            rows,
        )


@about(HOW)
def loop(data: pd.DataFrame) -> Said:
    """About `tables.loop_gains`: what training with the program in the loop brings."""
    for where, row in data.iterrows():
        folds = f"{row['folds']:.0f} folds" if row["folds"] > 1 else "one fold"
        interval = "; the interval is that of the jackknife over folds" if row["folds"] > 1 else ""
        yield (
            f"On {where} training with the program in the loop, too, changes the LAC of the constraints by "
            f"{difference(row)} ({folds}, {row['sentences']:,.0f} sentences, one seed{interval}).",
            row,
        )
