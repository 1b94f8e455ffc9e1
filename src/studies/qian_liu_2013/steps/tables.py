"""Tables of the steps of learning on the development set: the base system and trainings with one change.

Every function combines several runs and leaves out runs without data. If no run has data, the table has no rows.
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

#: figure -> marks of `attachment.marks` that count as right
RIGHT = {"UAS": HEAD + LABELLED, "LAS": LABELLED}
#: level of p below which a difference gets a star
LEVEL = 0.05


def measured(results: Results) -> list[dict[str, Any]]:
    """Return one entry per corpus and run of `steps`: corpus, name, changed (in words), and the stored metrics.

    The list is empty if no corpus is listed. `applies` is False if the corpus lacks the data that the run leaves out.
    """
    settings = results.params.section(Steps)
    return [
        {"corpus": corpus, "name": name, "changed": str(step) or NOTHING}
        | results.read("steps", corpus, f"{name}.json")
        for corpus in settings.corpora
        for name, step in settings.runs.items()
    ]


def steps(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per run of the pipeline, corpus and training. There are no rows if nothing was trained.

    Columns: place (corpus and run), name, changed (in words), base (name of the run to compare with), applies, seed,
    and the stored metrics. UAS and LAS (NaN without labels) leave out punctuation.
    """
    rows = []
    for r in results:
        for row in measured(r):
            if not wanted or row["corpus"] in wanted:
                place = {"place": r.place(row["corpus"]), "seed": r.params.seed}
                rows.append(place | {"base": r.params.section(Steps).base} | row)
    data = pd.DataFrame(rows, columns=None if rows else ["place", "name", "changed", "base", "applies"])
    figures = {"UAS": "uas", "LAS": "las"}
    nothing = pd.Series(float("nan"), index=data.index)
    return data.assign(**{name: data.get(column, nothing).astype(float) for name, column in figures.items()})


def step_tests(data: pd.DataFrame) -> pd.DataFrame:
    """Compare each training with the base training of the same corpus and run, by paired tests on the development set.

    data  result of `steps`

    Returns one row for each (place, figure, training). A place is a corpus and a run; a figure is UAS or LAS. A row is
    left out if one of the two trainings lacks the figure. The columns are the same as in `significance`.
    """
    rows = []
    for place, runs in data[data["applies"].astype(bool)].groupby("place", sort=False):
        by_name = {row["name"]: row for row in runs.to_dict("records")}
        base = by_name[runs["base"].iloc[0]]
        for figure in RIGHT:
            for name, metrics in by_name.items():
                if name != base["name"] and not pd.isna(metrics[figure]) and not pd.isna(base[figure]):
                    sides = from_marks(metrics["right"], figure), from_marks(base["right"], figure)
                    row = {"place": place, "figure": figure, "training": name}
                    rows.append(row | tested(*sides, figure, base["seed"]))
    names = ["place", "figure", "training"]
    table = pd.DataFrame(rows, columns=[*names, *TESTED]).set_index(names)
    return table.rename(columns={"only the baseline": "only the base"}).rename_axis(["", "figure", "training"])


def tests_of(tests: pd.DataFrame, place: str, figure: str) -> pd.DataFrame:
    """Return the rows of `step_tests` for one place (corpus and run) and one figure (UAS or LAS). May be empty.

    The index is the name of the training.
    """
    levels = tests.index.get_level_values
    return tests[(levels(0) == place) & (levels(1) == figure)].droplevel([0, 1])


def from_marks(right: Sequence[str], figure: str) -> pd.DataFrame:
    """Convert `attachment.marks` of sentences into the columns scored, correct and words, which `tested` needs."""
    correct = [sum(mark in RIGHT[figure] for mark in marks) for marks in right]
    return pd.DataFrame({"scored": [len(marks) for marks in right], "correct": correct, "words": list(right)})


def step_table(data: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of every training on every corpus, and its difference from the base.

    A star marks a difference with p < LEVEL.

    data, tests  results of `steps` and `step_tests`

    Rows: training. Columns: changed, and for each place UAS and LAS (%) with the difference. A cell is empty if the
    corpus lacks the data that the training leaves out.
    """
    cells: dict[tuple[str, str], pd.Series] = {}
    for place, runs in data.groupby("place", sort=False):
        runs = runs.set_index("name")
        cells["", "changed"] = runs["changed"].combine_first(cells.get(("", "changed"), runs["changed"]))
        for figure in RIGHT:
            if runs[figure].notna().any():
                tested_rows = tests_of(tests, str(place), figure)
                cells[str(place), figure] = runs[figure]
                pairs = zip(tested_rows.index, tested_rows["difference"], tested_rows["p"], strict=True)
                texts = {name: f"{d:+.2f}" + (" *" if p < LEVEL else "") for name, d, p in pairs}
                cells[str(place), f"{figure} minus base"] = pd.Series(texts, dtype=object).reindex(runs.index)
    names = list(dict.fromkeys(data["name"]))
    columns = pd.MultiIndex.from_tuples(list(cells) or [("", "changed")])
    return pd.DataFrame(cells, index=pd.Index(names, name="training"), columns=columns)


def step_training(data: pd.DataFrame) -> pd.DataFrame:
    """Return facts about training. Rows: (place, training), without trainings that had nothing to change.

    data  result of `steps`

    Columns: UAS and LAS (%) with punctuation; number of epochs and the chosen epoch; for the last epoch the DP calls
    per sentence and the share of sentences whose search a limit ended; for the development set the share of trees
    proved optimal, the candidate heads per word after pruning, and the share of gold heads that pruning keeps.
    Candidate heads and kept gold heads are NaN for older trainings, which did not count them.
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
    """Return the accuracy on the development set after every epoch of training.

    data  result of `steps`

    One row per place, training and epoch: UAS, LAS (%; NaN without labels). The order of the sentences does not depend
    on the number of epochs. Epoch e of a longer training therefore equals epoch e of a shorter training under the same
    settings.
    """
    rows = [
        {"place": row["place"], "training": row["name"], "base": row["base"], "epoch": record["epoch"]}
        | {"UAS": record["dev_uas"], "LAS": record.get("dev_las", float("nan"))}
        for row in data[data["applies"].astype(bool)].to_dict("records")
        for record in row["history"]
    ]
    return pd.DataFrame(rows, columns=["place", "training", "base", "epoch", "UAS", "LAS"])


def step_arcs(data: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and candidate heads per word on the development set, for the base and trainings with a threshold.

    data  result of `steps`

    One row per place and training: heads_a_word, threshold, learnt (whether a jackknifed pruner used the threshold in
    training), UAS, LAS (NaN without labels). A place has no rows if the candidate heads of its base training, or of all
    its other trainings, were not counted, as in old runs.
    """
    rows = [
        {"place": row["place"], "training": row["name"], "heads_a_word": row["heads_a_word"]}
        | {"threshold": row["spec"]["threshold"], "learnt": row["spec"]["pruner_folds"] > 0}
        | {figure: row[figure] for figure in RIGHT}
        for row in data[data["applies"].astype(bool)].to_dict("records")
        if not pd.isna(row.get("heads_a_word", float("nan")))
        and (row["name"] == row["base"] or row["spec"]["threshold"] > 0)
    ]
    table = pd.DataFrame(rows, columns=["place", "training", "heads_a_word", "threshold", "learnt", *RIGHT])
    places = [set(rows["place"]) for rows in (table[table["threshold"] == 0], table[table["threshold"] > 0])]
    return table[table["place"].isin(set.intersection(*places))].reset_index(drop=True)


def thresholds(arcs: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Compare each training that has a pruner threshold with the base, one row per training with a threshold.

    arcs, tests  results of `step_arcs` and `step_tests`

    Rows: (corpus and run, whether the threshold is used in parsing only or in training as well, threshold). Columns:
    heads per word, heads per word of the base, UAS (%) on the development set, UAS minus UAS of the base, and the
    95 % interval (low, high) and the p-value of this difference.
    """
    base = arcs[arcs["threshold"] == 0].groupby("place", sort=False).first()
    rows = arcs[arcs["threshold"] > 0].sort_values("learnt", kind="stable")
    index = pd.MultiIndex.from_arrays(
        [rows["place"], rows["learnt"].map({False: "parsing", True: "training and parsing"}), rows["threshold"]],
        names=["corpus and run", "threshold used in", "threshold"],
    )
    columns = {
        "heads per word": rows["heads_a_word"],
        "heads per word, base": rows["place"].map(base["heads_a_word"]),
        "UAS": rows["UAS"],
        "UAS change": rows["UAS"] - rows["place"].map(base["UAS"]),
    }
    keys = [(place, "UAS", training) for place, training in zip(rows["place"], rows["training"], strict=True)]
    columns |= {name: tests[name].reindex(keys) for name in ("low", "high", "p")}
    table = pd.DataFrame({name: column.to_numpy() for name, column in columns.items()}, index=index)
    order = list(dict.fromkeys(arcs["place"]))
    return table.sort_index(level=0, key=lambda level: level.map(order.index), sort_remaining=False, kind="stable")
