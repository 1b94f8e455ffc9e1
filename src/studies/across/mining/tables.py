"""Tables of the notebook on annotation errors: precision and recall of the suspects of `treebound mine`.

Every function returns an empty table if no run has the stage `mining`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.across.mining.rankings import HEADS, OURS
from studies.across.mining.settings import Mining
from studies.site.collect import Results
from studies.site.show import NOTHING

#: ranked lists of words that are evaluated: key in the metrics -> heading in tables
LISTS = {"heads": "heads", "sporadic_heads": "heads, systematic changes apart", "labels": "labels"}
PLACE = ["in", "run"]  #: index columns: the run of the pipeline, and the mined treebank
#: number of errors of each list in the metrics of a run
ERRORS = {"heads": "heads_changed", "sporadic_heads": "sporadic", "labels": "labels_changed"}
RELEASE = "later release"  #: data on which the model of a run with `--reference` is trained
LONGEST_DRAWN = 14  #: largest length of the sentences that are drawn, in words


def measured(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the metrics, settings and seconds of the stage `mining`, one row per mined treebank.

    Treebanks with planted errors follow the treebanks with a later release.
    """
    rows = []
    for r in results:
        settings = r.params.section(Mining)
        for name, run_settings in settings.runs.items():
            if not r.has("mining", f"{name}.json") or (wanted and name not in wanted):
                continue
            times = r.read("timing", "mining", f"{name}.json") if r.has("timing", "mining", f"{name}.json") else {}
            row: dict[str, Any] = {"in": r.name, "run": name, "treebank": run_settings.treebank}
            row |= {
                "splits": "+".join(run_settings.splits),
                "later": run_settings.later,
                "planted": run_settings.planted,
            }
            row |= {"trained": training_of(run_settings.reference, run_settings.folds)}
            rows.append(row | r.read("mining", f"{name}.json") | {"seconds": times.get("seconds", float("nan"))})
    return pd.DataFrame(sorted(rows, key=lambda row: row["planted"]), columns=None if rows else [*PLACE, "treebank"])


def training_of(reference: bool, folds: int) -> str:
    """Describe in words the data on which the models of a run are trained."""
    return RELEASE if reference else f"{folds} folds"


def sizes(data: pd.DataFrame) -> pd.DataFrame:
    """Return one row per mined treebank: its size, its error rates, its suspected heads, and the run time.

    data  result of `measured`
    """
    if data.empty:
        return pd.DataFrame()
    listed = data["heads"].map(lambda heads: heads[OURS]["hits"])
    columns = {
        "treebank": data["treebank"] + ", " + data["splits"],
        "source of the errors": ("release " + data["later"]).where(data["later"] != "", "planted"),
        "models": data["trained"],
        "sentences": data["sentences"],
        "aligned sentences": data["sentences_known"],
        "words": data["words_known"],
        "wrong heads, %": 100 * data["heads_changed"] / data["words_known"],
        "wrong labels, %": 100 * data["labels_changed"] / data["words_known"],
        "suspected heads": data["disagreements"],
        "suspected heads that are wrong, %": 100 * listed / data["disagreements"],
        "wrong heads suspected, %": 100 * listed / data["heads_changed"],
        "margins proved, %": 100 * data["certified"] / data["suspects"],
        "wall s": data["seconds"],
    }
    return pd.DataFrame(columns).set_index(pd.MultiIndex.from_frame(data[PLACE]))


def points(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return hits, precision with its interval low .. high, and recall, one row per treebank, ranking and k.

    Precision and recall are in 0..1. A run without errors has no rows.

    data  `measured`
    kind  a key of `LISTS`
    """
    rows = [
        {
            "in": row["in"],
            "run": row["run"],
            "ranking": ranking,
            "k": int(k),
            "precision": entry["hits"] / int(k),
            **entry,
        }
        for row in data.to_dict("records")
        if row[ERRORS[kind]]
        for ranking, judged in row[kind].items()
        for k, entry in judged["at"].items()
    ]
    columns = [*PLACE, "ranking", "k", "precision", "hits", "low", "high", "recall"]
    return pd.DataFrame(rows, columns=columns).sort_values("k", kind="stable")


def rankings(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return precision at each k (%), average precision (%) and listed words, one row per treebank and ranking.

    kind  a key of `LISTS`
    """
    return _wide(data, kind, "precision")


def recalls(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return the share (%) of all errors that are among the first k words, one row per treebank and ranking.

    kind  a key of `LISTS`
    """
    return _wide(data, kind, "recall")


def _wide(data: pd.DataFrame, kind: str, measure: str) -> pd.DataFrame:
    """Return a measure (%), one row per treebank and ranking and one column per k.

    kind     a key of `LISTS`
    measure  `precision` or `recall`. With precision, the average precision and the number of listed words are added

    Shares of a run without errors are NaN.
    """
    long = points(data, kind)
    if long.empty:
        return pd.DataFrame()
    index = [*PLACE, "ranking"]
    wide = 100 * long.pivot_table(index=index, columns="k", values=measure, sort=False)
    keys = [(r["in"], r["run"], name) for r in data.to_dict("records") for name in HEADS if name in r[kind]]
    wide = wide.reindex(pd.MultiIndex.from_tuples(keys, names=index))[sorted(wide.columns)]
    wide.columns = pd.Index([f"{'P' if measure == 'precision' else 'R'}@{k}" for k in wide.columns])
    if measure == "precision":
        judged = {(r["in"], r["run"], name): j for r in data.to_dict("records") for name, j in r[kind].items()}
        errors = data.set_index(PLACE)[ERRORS[kind]]
        average = pd.Series([100 * judged[key]["average_precision"] for key in wide.index], wide.index)
        wide["average"] = average.where([errors[key[:2]] > 0 for key in wide.index])
        wide["words listed"] = [judged[key]["listed"] for key in wide.index]
    return wide


def systematic(data: pd.DataFrame) -> pd.DataFrame:
    """Return the systematic changes of later releases, one row per change.

    Columns: number of changed words; rank and size of the group of suspects with this change; and the number of
    suspects of this group whose head was changed.
    """
    rows = [
        {"in": row["in"], "run": row["run"], **change}
        for row in data.to_dict("records")
        for change in row["systematic"]
    ]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows).set_index([*PLACE, "change"])
    table["row"] = table["row"].map(lambda row: row or NOTHING)
    names = {
        "count": "words changed",
        "row": "row of the group view",
        "suspects": "suspects in the row",
        "hits": "suspects that were changed",
    }
    return table[list(names)].rename(columns=names)


def exact(data: pd.DataFrame) -> pd.DataFrame:
    """Return the share (%) of wrong heads among the first k suspects that were corrected to the proposed head."""
    rows = {}
    for row in data.to_dict("records"):
        shares = {
            f"first {k}": _percent(entry) for k, entry in sorted(row["exact_at"].items(), key=lambda e: int(e[0]))
        }
        rows[row["in"], row["run"]] = shares | {"all": _percent(row["exact"])}
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(list(rows), names=PLACE)
    return table[[*sorted((c for c in table if c != "all"), key=lambda c: int(str(c).split()[1])), "all"]]


def _percent(entry: dict[str, int]) -> float:
    """Return the share (%) of errors whose proposed head is exactly right, or NaN if there are no errors."""
    return 100 * entry["exact"] / entry["errors"] if entry["errors"] else float("nan")


def examples(results: Results, count: int = 3) -> list[dict[str, Any]]:
    """Return the first suspects in short sentences of a run with planted errors.

    If the parameters hide forms, the words are numbers, and `hidden` is True. The list is empty for a committed
    reference run, which does not store the suspects.
    """
    for name, run_settings in results.params.section(Mining).runs.items():
        path = results.folder / "predictions" / "mining" / f"{name}.jsonl"
        if run_settings.planted and path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) | {"rank": rank} for rank, line in enumerate(lines, 1)]
            drawn = [entry for entry in entries if len(entry["words"]) <= LONGEST_DRAWN][:count]
            shown = {"hidden": not results.params.forms}
            return [entry | shown | {"words": results.params.shown(entry["words"])} for entry in drawn]
    return []


def example_table(entries: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a table with the word, its annotated, proposed and right head, and the margin of each example.

    entries  result of `examples`
    """

    def word(entry: dict[str, Any], head: int) -> str:
        """Return the index and, if forms are shown, the form of a word."""
        return "root" if not head else str(head) if entry["hidden"] else f"{head} {entry['words'][head - 1]}"

    rows = {
        entry["rank"]: {
            "word": word(entry, entry["word"]),
            "annotated head": word(entry, entry["annotated"][entry["word"] - 1]),
            "proposed head": word(entry, entry["proposed"][entry["word"] - 1]),
            "right head": word(entry, entry["right"]),
            "margin": entry["margin"],
            "words that change": entry["changes"],
        }
        for entry in entries
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")
