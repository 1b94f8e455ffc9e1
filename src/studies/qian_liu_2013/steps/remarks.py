"""Sentences about the steps of learning, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.steps.tables import LEVEL, tests_of
from studies.site.sentences import ONE_SEED, Sentences, about, by_chance, difference, each, from_to, joined, listing

NONE = (
    "No run here has these trainings, which the default run leaves out: list a corpus under `steps: corpora:` in "
    "params.yaml, and run `python -m studies.pipeline.run steps`."
)


@about(NONE)
def changes(data: pd.DataFrame, tests: pd.DataFrame) -> Sentences:
    """Describe `tables.steps` and `tables.step_tests`: trainings better than the base, worse, and neither.

    The first sentence counts the significant differences of all places and names the trainings.
    """
    places, parts = list(dict.fromkeys(data["place"])), []
    for place in places:
        for figure in ("LAS", "UAS"):
            if len(rows := tests_of(tests, place, figure)):
                parts.append(f"{_where(place, places)}{_counted(rows, figure)}")
    bases = listing(dict.fromkeys(data["base"]))
    yield (
        f"These trainings were run on {joined(places)} only. "
        f"Against {bases}, at the {100 * LEVEL:g} % level: {'; '.join(parts)}."
        if parts
        else f"No training was compared with {bases}.",
        tests,
    )
    if parts:
        yield f"By chance alone, {by_chance(len(tests), LEVEL)} of {len(tests)} tests would be significant. {ONE_SEED}"
    for place, runs in each(data, "place"):
        base, rows = runs["base"].iloc[0], tests_of(tests, str(place), "UAS")
        unchanged = list(rows.index[(rows[["only it", "only the base"]] == 0).all(axis=1)])
        if unchanged:
            yield (
                f"{_subject(unchanged, place, places)} exactly the same right heads as {base}.",
                rows,
            )
        changed = runs[runs["applies"].astype(bool) & ~runs["name"].isin([base, *unchanged])]
        for _, alike in changed.groupby(changed["right"].map(tuple), sort=False):
            if len(alike) > 1:
                yield (
                    f"{_subject(list(alike['name']), place, places)} exactly the same right heads and labels, so the "
                    f"counts above contain this result {len(alike)} times.",
                    rows,
                )


def _subject(names: list[str], place: str, places: list[str]) -> str:
    """Return the subject of a sentence about trainings, with its verb: `On nl, exact and limit-1 have`."""
    where = _where(place, places)
    return f"{where[:1].upper()}{where[1:]}{joined(names)} {'has' if len(names) == 1 else 'have'}"


def _where(place: str, places: list[str]) -> str:
    """Return the words that name a place in a list of results, or nothing if there is only one place."""
    return f"on {place}, " if len(places) > 1 else ""


def _counted(rows: pd.DataFrame, figure: str) -> str:
    """Count the trainings that lower and raise an accuracy significantly, and name them, the largest change first.

    rows    rows of `tests_of` for the accuracy `figure`
    """
    order = rows[rows["p"] < LEVEL].sort_values("difference", key=lambda column: -column.abs(), kind="stable")
    texts = []
    for sign, verb in ((-1, "lower"), (1, "raise")):
        changed = order[order["difference"] * sign > 0]["difference"]
        names = listing(f"{name} {change:+.2f}" for name, change in changed.items())
        what = f" {figure}" if sign < 0 else " it"
        ending = "s" if len(changed) < 2 else ""
        texts.append(f"{len(changed) or 'none'} {verb}{ending}{what}" + f" ({names})" * bool(len(changed)))
    return f"of {len(rows)} variations, {texts[0]} and {texts[1]}"


@about(
    "No run here has trainings with another pruning: see the runs with a threshold under `steps:` in params.yaml, list "
    "a corpus there, and run `python -m studies.pipeline.run steps`."
)
def pruned(data: pd.DataFrame) -> Sentences:
    """Describe `tables.thresholds`: the heads that thresholds in pruning leave, and their effect on UAS."""
    share = 100 * data["heads per word"] / data["heads per word, base"]
    places = listing(dict.fromkeys(data.index.get_level_values("corpus and run")))
    rows = data.rename(columns={"UAS change": "difference"})
    rows = rows.set_axis([f"{threshold:g} {use}" for _, use, threshold in data.index])
    differences = listing(f"{difference(row)} ({name})" for name, row in rows.iterrows())
    yield (
        f"On the development set of {places}, a threshold leaves {from_to(share)} % of the heads "
        f"that the base keeps, and changes UAS by {differences} points.",
        data,
    )
    below = int((rows["p"] < LEVEL).sum())
    yield (
        f"{below} of {len(rows)} changes {'is' if below == 1 else 'are'} significant at the {100 * LEVEL:g} % level "
        f"(paired bootstrap over sentences, as in the steps of learning). {ONE_SEED}"
    )
