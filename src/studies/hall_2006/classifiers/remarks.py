"""Generated sentences about learners and feature models, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, difference, each, listing, span

HOW = (
    "No run on this page compares classifiers, which the default run leaves out. Run `make classifiers`, and list "
    "corpora under `classifiers:` in params.yaml."
)


@about(HOW)
def accuracy(data: pd.DataFrame, tests: pd.DataFrame) -> Sentences:
    """Name the learner with the highest LAS, and report the training times.

    data   `tables.summed`
    tests  `tables.significance`
    """
    whole = data[(data["share"] == 100) & (data["missing"] == "")]
    for (run, corpus), rows in each(whole, ["run", "corpus"]):
        best = rows.loc[rows["las"].idxmax()]
        name, features = best["learner"], best["features"]
        yield (
            f"On {corpus} ({run}; {best['tags']} tags, {best['tested']}, one seed), {name} with {features} has the "
            f"highest LAS, {best['las']:.2f}. {_others(tests, (run, corpus, features), name)}",
            rows,
        )
        same = rows[rows["features"] == features]
        seconds = same.set_index("learner")["train_cpu_s"]
        repeats = same["trainings"].min()
        timed = f"mean of {repeats:.0f} trainings each" if repeats > 1 else "one training each"
        yield f"Training with {features} on {corpus} takes {span(seconds, '{:,.0f} CPU s')} ({run}; {timed}).", same


def _others(tests: pd.DataFrame, place: tuple[str, str, str], best: str) -> str:
    """Return a sentence about the difference in UAS between the best learner and each other learner.

    Only learners with the same run, corpus and features (`place`) are compared.
    """
    parts = []
    for key, row in tests.iterrows():
        first, second = key[3:]
        if key[:3] != place or best not in (first, second):
            continue
        if best == second:
            row = row.copy()
            row["difference"], row["low"], row["high"] = -row["difference"], -row["high"], -row["low"]
            first, second = second, first
        parts.append(f"{second} ({difference(row)})")
    if not parts:
        return "Its heads were not compared with the heads of other learners."
    interval = "95 % interval over sentences where the run stores one, p of McNemar's test over words"
    return f"UAS of {best} minus UAS of each other learner with the same features: {listing(parts)} ({interval})."


@about("The learners use the parameters of params.yaml for all corpora. No parameters were searched for in these runs.")
def parameters(data: pd.DataFrame) -> Sentences:
    """Describe how the parameters of the learners were chosen. data: `tables.chosen`."""
    for (run, corpus), rows in each(data, ["run", "corpus"]):
        row_of_first = rows.iloc[0]
        listed = listing(
            f"{learner}: {row['parameters']}, of {row['points']:.0f} points" for learner, row in rows.iterrows()
        )
        yield (
            f"On {corpus} ({run}), successive halving chose {listed}. Every point was trained with "
            f"{row_of_first['features']} on up to {row_of_first['training sentences']:,.0f} sentences and tested on "
            f"{row_of_first['dev sentences']:,.0f} other sentences that no cell of the tables parses. "
            "The other learners use the parameters of params.yaml.",
            rows,
        )
