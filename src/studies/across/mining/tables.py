"""What suspects of `treebound mine` are worth: the tables of the notebook on annotation errors.

Every function takes what several runs of the pipeline have; where none has any, there are no rows.
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

#: lists of words that are judged: name of the metrics -> heading
LISTS = {"heads": "heads", "sporadic_heads": "heads, systematic changes apart", "labels": "labels"}
PLACE = ["in", "run"]  #: the run of the pipeline, and the treebank that was mined
LONGEST_DRAWN = 14  #: words of the longest sentence that is drawn


def measured(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return a row per mined treebank: everything that the stage `mining` wrote, its settings and its seconds.

    Planted errors come after those that a later release corrected.
    """
    rows = []
    for r in results:
        settings = r.params.section(Mining)
        for name, asked in settings.runs.items():
            if not r.has("mining", f"{name}.json") or (wanted and name not in wanted):
                continue
            times = r.read("timing", "mining", f"{name}.json") if r.has("timing", "mining", f"{name}.json") else {}
            row: dict[str, Any] = {"in": r.name, "run": name, "treebank": asked.treebank}
            row |= {"splits": "+".join(asked.splits), "later": asked.later, "planted": asked.planted}
            row |= {"trained": training_of(asked.reference, asked.folds)}
            rows.append(row | r.read("mining", f"{name}.json") | {"seconds": times.get("seconds", float("nan"))})
    return pd.DataFrame(sorted(rows, key=lambda row: row["planted"]), columns=None if rows else [*PLACE, "treebank"])


def training_of(reference: bool, folds: int) -> str:
    """Return in words what the models of a run are trained on."""
    return "later release" if reference else f"{folds} folds"


def sizes(data: pd.DataFrame) -> pd.DataFrame:
    """Return sizes and counts of errors and suspects, a row per mined treebank. data: `measured`."""
    if data.empty:
        return pd.DataFrame()
    listed = data["heads"].map(lambda heads: heads[OURS]["hits"])
    columns = {
        "treebank": data["treebank"] + ", " + data["splits"],
        "errors": data["later"].where(data["later"] != "", "planted"),
        "models": data["trained"],
        "sentences": data["sentences"],
        "of these aligned": data["sentences_known"],
        "words": data["words_known"],
        "wrong heads, %": 100 * data["heads_changed"] / data["words_known"],
        "wrong labels, %": 100 * data["labels_changed"] / data["words_known"],
        "suspected heads": data["disagreements"],
        "of these wrong, %": 100 * listed / data["disagreements"],
        "wrong heads suspected, %": 100 * listed / data["heads_changed"],
        "margins proved, %": 100 * data["certified"] / data["suspects"],
        "wall s": data["seconds"],
    }
    return pd.DataFrame(columns).set_index(pd.MultiIndex.from_frame(data[PLACE]))


def points(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return a row per treebank, ranking and k: hits, precision, its interval low .. high, and recall, in 0..1.

    data  `measured`; kind: a key of `LISTS`
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
        for ranking, judged in row[kind].items()
        for k, entry in judged["at"].items()
    ]
    columns = [*PLACE, "ranking", "k", "precision", "hits", "low", "high", "recall"]
    return pd.DataFrame(rows, columns=columns).sort_values("k", kind="stable")


def rankings(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return what each ranking is worth: precision at each k, average precision (%), and how many words it lists."""
    return _wide(data, kind, "precision")


def recalls(data: pd.DataFrame, kind: str = "heads") -> pd.DataFrame:
    """Return the share of all errors that are among the first k words of each ranking, in %."""
    return _wide(data, kind, "recall")


def _wide(data: pd.DataFrame, kind: str, what: str) -> pd.DataFrame:
    long = points(data, kind)
    if long.empty:
        return pd.DataFrame()
    index = [*PLACE, "ranking"]
    wide = 100 * long.pivot_table(index=index, columns="k", values=what, sort=False)
    keys = [(r["in"], r["run"], name) for r in data.to_dict("records") for name in HEADS if name in r[kind]]
    wide = wide.reindex(pd.MultiIndex.from_tuples(keys, names=index))[sorted(wide.columns)]
    wide.columns = pd.Index([f"{'P' if what == 'precision' else 'R'}@{k}" for k in wide.columns])
    if what == "precision":
        judged = {(r["in"], r["run"], name): j for r in data.to_dict("records") for name, j in r[kind].items()}
        wide["average"] = [100 * judged[key]["average_precision"] for key in wide.index]
        wide["words listed"] = [judged[key]["listed"] for key in wide.index]
    return wide


def systematic(data: pd.DataFrame) -> pd.DataFrame:
    """Return a row per systematic change of a later release, and the row of the group view that names it."""
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
        "suspects": "suspects in it",
        "hits": "of these changed",
    }
    return table[list(names)].rename(columns=names)


def exact(data: pd.DataFrame) -> pd.DataFrame:
    """Return, of the wrong heads among the first k suspects, the share that became exactly the proposed head, in %."""
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
    return 100 * entry["exact"] / entry["errors"] if entry["errors"] else float("nan")


def examples(results: Results, count: int = 3) -> list[dict[str, Any]]:
    """Return the first suspects in short sentences of a run with planted errors. A reference keeps none."""
    for name, asked in results.params.section(Mining).runs.items():
        path = results.folder / "predictions" / "mining" / f"{name}.jsonl"
        if asked.planted and path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) | {"rank": rank} for rank, line in enumerate(lines, 1)]
            return [entry for entry in entries if len(entry["words"]) <= LONGEST_DRAWN][:count]
    return []


def example_table(entries: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a row per example: the word, its annotated, proposed and right head, and the margin."""

    def word(entry: dict[str, Any], head: int) -> str:
        return f"{head} {entry['words'][head - 1]}" if head else "root"

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
