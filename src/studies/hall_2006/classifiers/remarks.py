"""Sentences about learners and feature models, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, difference, each, listing, span

HOW = (
    "No run here compares classifiers, which the default run leaves out: list corpora under `classifiers:` in "
    "params.yaml (after `make classifiers`)."
)


@about(HOW)
def accuracy(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.summed`: who is ahead, and at what cost; tests: `tables.significance`."""
    whole = data[(data["share"] == 100) & (data["missing"] == "")]
    for (run, corpus), of in each(whole, ["run", "corpus"]):
        best = of.loc[of["las"].idxmax()]
        name, features = best["learner"], best["features"]
        yield (
            f"On {corpus} ({run}; {best['tags']} tags, {best['tested']}, one seed) {name} with {features} has the "
            f"highest LAS, {best['las']:.2f}. {_others(tests, (run, corpus, features), name)}",
            of,
        )
        same = of[of["features"] == features]
        seconds = same.set_index("learner")["train_cpu_s"]
        repeats = same["trainings"].min()
        timed = f"mean of {repeats:.0f} trainings each" if repeats > 1 else "one training each"
        yield f"Training with {features} on {corpus} takes {span(seconds, '{:,.0f} CPU s')} ({run}; {timed}).", same


def _others(tests: pd.DataFrame, place: tuple[str, str, str], best: str) -> str:
    """A sentence about the UAS of the best learner less that of each other one with the same features."""
    parts = []
    for key, row in tests.iterrows():
        one, other = key[3:]
        if key[:3] != place or best not in (one, other):
            continue
        if best == other:
            row = row.copy()
            row["difference"], row["low"], row["high"] = -row["difference"], -row["high"], -row["low"]
            one, other = other, one
        parts.append(f"{other} ({difference(row)})")
    if not parts:
        return "Its heads were not compared with those of other learners."
    interval = "95 % interval over sentences where there is one, McNemar's p over words"
    return f"Its UAS less that of others with the same features: {listing(parts)} ({interval})."


@about("The learners have the parameters of params.yaml, the same ones for all corpora; none was searched for here.")
def parameters(data: pd.DataFrame) -> Said:
    """About `tables.chosen`: where parameters come from."""
    for (run, corpus), of in each(data, ["run", "corpus"]):
        first = of.iloc[0]
        listed = listing(
            f"{learner}: {row['parameters']}, of {row['points']:.0f} points" for learner, row in of.iterrows()
        )
        yield (
            f"On {corpus} ({run}) successive halving chose {listed}. Every point was trained with {first['features']} "
            f"on up to {first['training sentences']:,.0f} sentences and tested on {first['dev sentences']:,.0f} other "
            "ones that no cell of the tables parses. The parameters of the other learners are those of params.yaml.",
            of,
        )
