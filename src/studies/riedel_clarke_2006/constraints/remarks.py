"""Sentences about hard constraints, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.riedel_clarke_2006.constraints.tables import (
    BASELINE,
    CONSTRAINTS,
    PUBLISHED_LOOP,
    SLOW,
    SOLVERS,
    binomial,
    claims,
    measures,
)
from studies.site.collect import title
from studies.site.sentences import LEVEL, Sentences, about, difference, each, joined, listing, percent, span
from studies.site.show import p_in_words

HOW = (
    "No run here has the cross-validation, which the default run leaves out. It takes about twenty minutes: "
    "`python -m studies.pipeline.scratch build/ilp params/ilp.yaml`, or list a corpus under "
    "`constraints: corpora:` in params.yaml."
)


@about(HOW)
def accuracy(data: pd.DataFrame) -> Sentences:
    """Describe `tables.cross_validated`: the gain in accuracy under the constraints."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        base, full = (systems[systems["system"] == name].iloc[0] for name in (BASELINE, CONSTRAINTS))
        gain = {name: measures(full)[name] - measures(base)[name] for name in ("LAC", "UAC", "LC")}
        p = binomial(full["better"], full["worse"])
        yield (
            f"On {corpus} ({title(run)}, {full['folds']} folds, {full['sentences']:,} sentences, one seed) the "
            f"constraints change labelled accuracy by {gain['LAC']:+.2f} points, unlabelled accuracy by "
            f"{gain['UAC']:+.2f} and the share of fully right sentences by {gain['LC']:+.2f} (sign test over "
            f"sentences: {p_in_words(p)}).",
            systems,
        )
        yield (
            f"On {corpus}, the constraints change {full['changed']:,} words: {full['gained']:,} become right, "
            f"{full['lost']:,} become wrong, and {full['changed'] - full['gained'] - full['lost']:,} are wrong before "
            "and after.",
            systems,
        )


@about(HOW)
def times(data: pd.DataFrame) -> Sentences:
    """Describe `tables.cross_validated`: the targets on time and iterations."""
    for (run, corpus), systems in each(data, ["run", "corpus"]):
        by_system = systems.set_index("system")
        base, full, first = (
            by_system.loc[BASELINE],
            by_system.loc[CONSTRAINTS],
            100 * by_system["first"] / by_system["seconds"],
        )
        few, short = (100 * full[name] / full["sentences"] for name in ("few_iterations", "short"))
        loop = f" ({first[PUBLISHED_LOOP]:.1f} % in the loop as published)" if PUBLISHED_LOOP in first else ""
        yield (
            f"On {corpus} ({title(run)}), {few:.2f} % of {full['sentences']:,} sentences are solved in fewer than 20 "
            f"iterations and {short:.2f} % in under 0.5 s; the slowest took {full['slowest']:.1f} s.",
            systems,
        )
        yield _slow(by_system, f"{corpus} ({title(run)})"), systems
        yield (
            f"Chu-Liu-Edmonds takes {base['seconds']:.1f} s for the corpus, the constraints {full['seconds']:.1f} s, "
            f"{first[CONSTRAINTS]:.1f} % in the first iteration{loop}. According to the paper, the first iteration "
            "takes most of the time.",
            systems,
        )
        ten = f"{CONSTRAINTS}, q = 10"
        if ten in by_system.index and base["reading"] == base["reading"] and base["features"] == base["features"]:
            whole = by_system["seconds"] + by_system["features"] + by_system["reading"]
            yield (
                f"On {corpus}, reading takes {base['reading']:.1f} s, and features with their scores "
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


def _slow(systems: pd.DataFrame, place: str) -> str:
    """State the share of sentences that take more than SLOW CPU seconds, for both ways to solve the program.

    systems  `tables.cross_validated` of one corpus and run, indexed by system
    place    corpus and run

    A run without these counts has the number of sentences that take less than half a second, which gives a bound.
    """
    rows = systems.loc[[name for name in (CONSTRAINTS, PUBLISHED_LOOP) if name in systems.index]]
    is_known = bool(rows["slow"].notna().all())
    counts = rows["slow"] if is_known else rows["sentences"] - rows["short"]
    listed = joined(
        [f"{percent(int(counts[name]), int(rows.loc[name, 'sentences']))} ({SOLVERS[name]})" for name in rows.index]
    )
    text = (
        f"On {place}, {'' if is_known else 'at most '}{listed} of {rows['sentences'].iloc[0]:,} sentences take more "
        f"than {SLOW:g} s of CPU time with the scores of the labelled first-order models and a limit of two minutes"
    )
    return f"{text}." if is_known else f"{text}. This share takes half a second or more; the run has no exact count."


def _without_effect(rows: pd.DataFrame) -> list[str]:
    """Name the families that alone have no significant effect on words, by McNemar's test.

    rows  `tables.family_worth` of one corpus, indexed by family
    """
    words = rows["words, alone"]
    return [str(name) for name, row in words.iterrows() if binomial(int(row["gained"]), int(row["lost"])) >= LEVEL]


@about()
def families_in_brief(data: pd.DataFrame) -> Sentences:
    """State how many constraint families have an effect alone, for the top of a page. data: `tables.family_worth`."""
    for place, rows in data.groupby(level=0, sort=False) if len(data) else ():
        rows = rows.droplevel(0)
        unclear = _without_effect(rows)
        effective = rows["LAC", "alone"].drop(unclear)
        changes = joined([f"{name} alone changes it by {change:+.2f} points" for name, change in effective.items()])
        yield (
            f"On one fold of {place} ({rows['', 'sentences'].iloc[0]:,.0f} sentences), {len(unclear)} of {len(rows)} "
            "families of constraints have no significant effect on labelled accuracy when they are used alone"
            f"{'; ' * bool(changes)}{changes}.",
            rows,
        )


@about(HOW)
def families(data: pd.DataFrame) -> Sentences:
    """Describe `tables.family_worth`: the effect of each constraint family, and how often gold trees break it."""
    for place, rows in data.groupby(level=0, sort=False):
        rows = rows.droplevel(0)
        gold = rows["trees that break it, %", "gold"]
        unclear = _without_effect(rows)
        yield (
            f"On {place}, fold {rows['', 'fold'].iloc[0]:.0f} ({rows['', 'sentences'].iloc[0]:,.0f} sentences), a "
            f"family alone changes LAC by {span(rows['LAC', 'alone'], '{:+.2f}')}. By McNemar's test over words, which "
            f"treats words as independent, {len(unclear)} of {len(rows)} families have no significant effect on this "
            f"fold: {listing(unclear)}. Gold trees break a family in {span(gold, '{:.1f} %')} of sentences.",
            rows,
        )


@about(HOW)
def loop(data: pd.DataFrame) -> Sentences:
    """Describe `tables.loop_gains`: the effect of training with the integer program in the loop."""
    for place, row in data.iterrows():
        folds = f"{row['folds']:.0f} folds" if row["folds"] > 1 else "one fold"
        interval = "; interval: jackknife over folds" if row["folds"] > 1 else ""
        yield (
            f"On {place} training with the program in the loop changes the LAC of the constraints by "
            f"{difference(row)} ({folds}, {row['sentences']:,.0f} sentences, one seed{interval}).",
            row,
        )
