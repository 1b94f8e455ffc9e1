"""What each step of learning brings on dev: the base system and trainings that differ from it in one thing.

Every function takes what several runs have and leaves out runs that have nothing; where none has, there are no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.qian_liu_2013.comparison.tables import TESTED, tested
from studies.qian_liu_2013.steps.settings import Steps
from studies.site.collect import Results
from studies.site.show import NOTHING
from treebound.metrics.attachment import HEAD, LABELLED

#: figure -> marks that count as right
RIGHT = {"UAS": HEAD + LABELLED, "LAS": LABELLED}
#: p below which a difference is marked
LEVEL = 0.05


def measured(results: Results) -> list[dict[str, Any]]:
    """One entry a corpus and run of `steps`: corpus, name, changed (in words), and what the stage wrote.

    None where no corpus is listed. `applies` is False where the corpus lacks what the run takes away.
    """
    settings = results.params.section(Steps)
    return [
        {"corpus": corpus, "name": name, "changed": str(step) or NOTHING}
        | results.read("steps", corpus, f"{name}.json")
        for corpus in settings.corpora
        for name, step in settings.runs.items()
    ]


def steps(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """One row a run of the pipeline, corpus and training: place (corpus and run), name, changed (in words), base (the
    name of what it is compared with), applies, seed, and what the stage wrote. No rows where nothing was trained.

    UAS and LAS (NaN: no labels) are of words that are not punctuation.
    """
    rows = []
    for r in results:
        for row in measured(r):
            if not wanted or row["corpus"] in wanted:
                place = {"place": f"{row['corpus']}, {r.name}", "seed": r.params.seed}
                rows.append(place | {"base": r.params.section(Steps).base} | row)
    data = pd.DataFrame(rows, columns=None if rows else ["place", "name", "changed", "base", "applies"])
    figures = {"UAS": "uas", "LAS": "las"}
    nothing = pd.Series(float("nan"), index=data.index)
    return data.assign(**{name: data.get(column, nothing).astype(float) for name, column in figures.items()})


def step_tests(data: pd.DataFrame) -> pd.DataFrame:
    """Each training against the base of its place on the same sentences of dev; `data`: `steps`.

    Rows (place, figure, training), where both have the figure; columns as of `significance`.
    """
    rows = []
    for place, runs in data[data["applies"].astype(bool)].groupby("place", sort=False):
        by_name = {row["name"]: row for row in runs.to_dict("records")}
        base = by_name[runs["base"].iloc[0]]
        for figure in RIGHT:
            for name, found in by_name.items():
                if name != base["name"] and not pd.isna(found[figure]) and not pd.isna(base[figure]):
                    sides = from_marks(found["right"], figure), from_marks(base["right"], figure)
                    row = {"place": place, "figure": figure, "training": name}
                    rows.append(row | tested(*sides, figure, base["seed"]))
    names = ["place", "figure", "training"]
    table = pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)
    return table.rename(columns={"only the baseline": "only the base"}).rename_axis(["", "figure", "training"])


def tests_of(tests: pd.DataFrame, place: str, figure: str) -> pd.DataFrame:
    """The rows of `step_tests` for a place and a figure, by training; perhaps none."""
    levels = tests.index.get_level_values
    return tests[(levels(0) == place) & (levels(1) == figure)].droplevel([0, 1])


def from_marks(right: Sequence[str], figure: str) -> pd.DataFrame:
    """scored, correct, words of every sentence, as `tested` takes them, from `attachment.marks`."""
    correct = [sum(mark in RIGHT[figure] for mark in marks) for marks in right]
    return pd.DataFrame({"scored": [len(marks) for marks in right], "correct": correct, "words": list(right)})


def step_table(data: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of every training on every corpus, and its difference from the base, with a star where p < LEVEL.

    data, tests  `steps` and `step_tests`
    Rows (training); columns: changed, and of each place UAS and LAS (%) with the difference. Nothing stands where a
    corpus lacks what the training takes away.
    """
    out: dict[tuple[str, str], pd.Series] = {}
    for place, runs in data.groupby("place", sort=False):
        runs = runs.set_index("name")
        out["", "changed"] = runs["changed"].combine_first(out.get(("", "changed"), runs["changed"]))
        for figure in RIGHT:
            if runs[figure].notna().any():
                found = tests_of(tests, str(place), figure)
                out[str(place), figure] = runs[figure]
                pairs = zip(found.index, found["difference"], found["p"], strict=True)
                told = {name: f"{d:+.2f}" + (" *" if p < LEVEL else "") for name, d, p in pairs}
                out[str(place), f"{figure} - base"] = pd.Series(told, dtype=object).reindex(runs.index)
    names = list(dict.fromkeys(data["name"]))
    columns = pd.MultiIndex.from_tuples(list(out) or [("", "changed")])
    return pd.DataFrame(out, index=pd.Index(names, name="training"), columns=columns)


def step_training(data: pd.DataFrame) -> pd.DataFrame:
    """What training did; `data`: `steps`. Rows (place, training), without those that had nothing to change.

    Columns: UAS and LAS (%) with punctuation; epochs, and the one that is kept; of the last epoch the DP calls a
    sentence and the share of the sentences whose search a limit cut off; dev sentences that are proved optimal, heads
    that pruning leaves a word and gold heads that it keeps (NaN: trained before these were counted).
    """
    rows = {}
    for row in data[data["applies"].astype(bool)].to_dict("records"):
        last, sentences = row["history"][-1], row["training_sentences"]
        rows[row["place"], row["name"]] = {
            ("with punctuation", "UAS"): row["uas_all"],
            ("with punctuation", "LAS"): row.get("las_all", float("nan")),
            ("epochs", "trained"): len(row["history"]),
            ("epochs", "kept"): int(row["best_epoch"]),
            ("training, last epoch", "DP calls per sentence"): last["dp_calls"] / sentences,
            ("training, last epoch", "cut off, %"): 100 * last["capped"] / sentences,
            ("dev", "proved optimal, %"): 100 * row["certified"] / row["sentences"],
            ("dev", "heads a word"): row.get("heads_a_word", float("nan")),
            ("dev", "gold heads kept, %"): 100 * row.get("recall", float("nan")),
        }
    index = pd.MultiIndex.from_tuples(list(rows), names=["", "training"]) if rows else None
    columns = pd.MultiIndex.from_tuples(list(next(iter(rows.values())))) if rows else None
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)


def step_epochs(data: pd.DataFrame) -> pd.DataFrame:
    """Accuracy on dev after every epoch of training; `data`: `steps`.

    One row a place, training and epoch: UAS, LAS (%; NaN: no labels). Epoch e of a longer training is that of a shorter
    one, all else alike: the order of the sentences does not depend on how many epochs follow.
    """
    rows = [
        {"place": row["place"], "training": row["name"], "base": row["base"], "epoch": record["epoch"]}
        | {"UAS": record["dev_uas"], "LAS": record.get("dev_las", float("nan"))}
        for row in data[data["applies"].astype(bool)].to_dict("records")
        for record in row["history"]
    ]
    return pd.DataFrame(rows, columns=["place", "training", "base", "epoch", "UAS", "LAS"])


def step_arcs(data: pd.DataFrame) -> pd.DataFrame:
    """Accuracy on dev against what pruning leaves: the base and the trainings that prune otherwise; `data`: `steps`.

    One row a place and training: heads_a_word, threshold, learnt (with it, by a jackknifed pruner), UAS, LAS (NaN: no
    labels). No rows of places where the base or all others are of before these heads were counted.
    """
    rows = [
        {"place": row["place"], "training": row["name"], "heads_a_word": row["heads_a_word"]}
        | {"threshold": row["spec"]["threshold"], "learnt": row["spec"]["pruner_folds"] > 0}
        | {figure: row[figure] for figure in RIGHT}
        for row in data[data["applies"].astype(bool)].to_dict("records")
        if not pd.isna(row.get("heads_a_word", float("nan")))
        and (row["name"] == row["base"] or row["spec"]["threshold"] > 0)
    ]
    found = pd.DataFrame(rows, columns=["place", "training", "heads_a_word", "threshold", "learnt", *RIGHT])
    places = [set(rows["place"]) for rows in (found[found["threshold"] == 0], found[found["threshold"] > 0])]
    return found[found["place"].isin(set.intersection(*places))].reset_index(drop=True)
