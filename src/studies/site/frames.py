"""Read the metrics of the stages that all questions share, as data frames.

A table has the rows that params.yaml lists, not one row for each file in a folder. The files of a removed decoder
remain in the folder, but must not appear as rows. If the file of a listed row is missing, InputError is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from studies.common.metrics import RERUN
from studies.common.params import SYSTEMS, Row
from studies.site.collect import Results
from treebound.core.errors import InputError

#: systems whose rows are shown in separate tables, not in the table of peers
OWN_TABLES = ("graph", "transition", "sampling")
#: code of a language of the catalogue -> its English name, as in the papers; any other language keeps its code
LANGUAGES = {
    **{"af": "Afrikaans", "cs": "Czech", "el": "Greek", "en": "English", "es": "Spanish", "eu": "Basque"},
    **{"fr": "French", "it": "Italian", "ja": "Japanese", "nl": "Dutch", "pt": "Portuguese", "sv": "Swedish"},
    **{"tr": "Turkish", "zh": "Chinese"},
}


def convert(results: Results) -> pd.DataFrame:
    """Return the counts that the conversion of the corpora reports, one row per corpus and split.

    Columns include the numbers of distinct tags and labels, and of dropped sentences. `attrs["sources"]` maps each
    corpus to title, language (its English name) and licence. `attrs["seen"]` maps each corpus to the treebank columns,
    besides forms and tags, that the parsers see.
    """
    rows, sources, seen = [], {}, {}
    for corpus in results.corpora:
        converted = results.read("convert", f"{corpus}.json")
        sources[corpus] = {key: converted["meta"][key] for key in ("title", "language", "licence")}
        sources[corpus]["language"] = LANGUAGES.get(sources[corpus]["language"], sources[corpus]["language"])
        attributes = converted["meta"].get("attributes", ())
        seen[corpus] = [column for column in ("lemma", "feats") if column in attributes]
        for split in ("train", "dev", "test"):
            counts = converted["splits"][split]
            dropped = sum(counts["dropped"].values())
            kinds = {name: len(counts[name]) for name in ("upos", "xpos", "deprel")}
            rows.append({"corpus": corpus, "split": split, **counts, **kinds, "dropped": dropped})
    data = frame(rows, results.folder / "metrics" / "convert")
    data.attrs.update(sources=sources, seen=seen)
    return data


def tagging(results: Results) -> pd.DataFrame:
    """Return tagging accuracy: one row for each corpus with predicted tags, each of its tag columns and each split.

    Columns include words and accuracy (%), for all words and for words whose form is not in the training set (NaN for
    train, which is jackknifed). There are no rows if all tags are gold.
    """
    rows = []
    for corpus in results.corpora:
        if results.params.tags_of(corpus) == "predicted":
            accuracy = results.read("tagger", f"{corpus}.json")["accuracy"]
            timing = results.read("timing", "tagger", f"{corpus}.json")
            for column, by_split in accuracy.items():
                for split in ("train", "dev", "test"):
                    row = {"corpus": corpus, "column": column, "split": split, **by_split[split]}
                    rows.append(row | timing.get(column, {}))
    keys = ["words", "accuracy", "unknown_words", "unknown_accuracy", "train_cpu_s", "jackknife_wall_s", "workers"]
    return pd.DataFrame(rows, columns=["corpus", "column", "split", *keys, "words_per_cpu_s"])


def pruner(results: Results) -> pd.DataFrame:
    """Return the recall of the pruner: the share of words whose gold head is among the k kept heads.

    Columns: corpus, split, k, recall.
    """
    rows = [
        {"corpus": corpus, "split": split, "k": int(k), "recall": recall}
        for corpus in results.corpora
        for split, by_k in results.read("pruner", f"{corpus}.json")["recall"].items()
        for k, recall in by_k.items()
    ]
    return frame(rows, results.folder / "metrics" / "pruner")


def pruner_thresholds(results: Results) -> pd.DataFrame:
    """Return the recall of the pruner, and its number of heads per word, with a probability threshold.

    The pruner keeps the k best heads, with the k of training, and then drops heads below the threshold. Columns:
    corpus, split, threshold, recall, heads_a_word. The table may be empty.
    """
    rows = [
        {"corpus": corpus, "split": split, **measured}
        for corpus in results.corpora
        for split, measurements in results.read("pruner", f"{corpus}.json").get("thresholds", {}).items()
        for measured in measurements
    ]
    return pd.DataFrame(rows, columns=["corpus", "split", "threshold", "recall", "heads_a_word"])


def decode(results: Results) -> pd.DataFrame:
    """Return accuracy, certificates and work on test, for the parameter rows that all corpora have.

    The table has one row for each corpus and parameter row. las and complete_labelled are NaN if there are no labels.
    """
    return frame(_decoded(results, lambda row: row.everywhere), results.folder / "metrics" / "decode")


def variants(results: Results) -> pd.DataFrame:
    """Return the metrics of `decode` for parameter rows with their own corpora, tags or seed.

    The table may be empty.
    """
    rows = _decoded(results, lambda row: row.system == "graph" and not row.everywhere)
    names = ["corpus", "row", "model", "learner", "decoder", "k", "tags", "seed", "uas", "complete"]
    return pd.DataFrame(rows, columns=None if rows else names)


def peers(results: Results) -> pd.DataFrame:
    """Return the results of parsers of other projects, one row per parser and corpus.

    Columns include accuracy, package, seconds of training and speed. Every system without a table of its own is
    included. The table may be empty.
    """
    others = set(SYSTEMS) - set(OWN_TABLES)
    package_facts = dict.fromkeys(("package", "version", "notes"), "")
    rows = [package_facts | measured | {"peer": measured["row"]} for measured in of_systems(results, *others)]
    names = ["corpus", "peer", "uas", "las", "complete", "package", "version", "tags", "notes"]
    return pd.DataFrame(rows, columns=[*names, "train_cpu_s", "words_per_cpu_s"])


def train(results: Results) -> pd.DataFrame:
    """Return the training results: one row per corpus and model, for the parameter rows that all corpora have.

    best_epoch, dev_uas and dev_las belong to the best epoch (dev_las is NaN without labels); cpu_s and wall_s are
    seconds of training. capped is the share (%) of the training sentences whose decoding reached the limit on
    dynamic-program calls in the last epoch (NaN: not counted).
    """
    trained = {row.trained: row for row in results.params.rows.values() if row.everywhere}
    rows = []
    limit = results.params.limit("train")
    for corpus in results.corpora:
        sentences = results.read("convert", f"{corpus}.json")["splits"]["train"]["sentences"]
        sentences = sentences if limit is None else min(limit, sentences)
        for name, row in trained.items():
            history = results.read("train", corpus, f"{name}.json")
            best = next(e for e in history["history"] if e["epoch"] == history["best_epoch"])
            seconds = results.read("timing", "train", corpus, f"{name}.json")
            rows.append(
                {"corpus": corpus, "model": row.model, "learner": row.learner, "epochs": len(history["history"])}
                | {"best_epoch": best["epoch"], "dev_uas": best["dev_uas"]}
                | {"dev_las": best.get("dev_las", float("nan"))}
                | {"cpu_s": seconds["cpu_s"], "wall_s": seconds["wall_s"]}
                | {"capped": 100 * history["history"][-1].get("capped", float("nan")) / sentences}
            )
    return frame(rows, results.folder / "metrics" / "train")


def benchmark(results: Results) -> pd.DataFrame:
    """Return seconds, speed and work as medians over repeats, one row per corpus and parameter row."""
    timed = [row for row in results.params.rows.values() if row.everywhere and row.benchmarked]
    rows = [_timed(results, corpus, row) for corpus in results.corpora for row in timed]
    return frame(rows, results.folder / "metrics" / "benchmark")


def by_length(results: Results) -> pd.DataFrame:
    """Return the benchmark by sentence length, one row per corpus, parameter row and length bin.

    Columns: corpus, the parameter row and its fields, lo and hi (ends of the bin), sentences, and means over the bin.
    """
    keys = ["corpus", "row", "model", "learner", "decoder", "k"]
    rows = [
        {**{key: row[key] for key in keys}, **part}
        for row in benchmark(results).to_dict("records")
        for part in row["by_length"]
    ]
    return frame(rows, results.folder / "metrics" / "benchmark")


def sentences(results: Results, corpus: str, row: Row) -> pd.DataFrame:
    """Read the results of a parameter row on a corpus, one line per test sentence.

    Columns: n, value, bound, status, dp_calls, nodes, correct, scored, words. The column words holds the marks of
    `attachment.marks`. There is a column correct_labelled if there are labels, and a column gold (score of the gold
    tree) if the settings of the decoder require it. A reference run stores no such table.
    """
    data = results.predicted(corpus, "decode", row.trained, f"{row}.csv", dtype={"words": str}, keep_default_na=False)
    return data.set_index("sentence")


def of_systems(results: Results, *systems: str) -> list[dict[str, Any]]:
    """Return the `decode` metrics of all rows of the systems, with CPU seconds of training and speed.

    The speed is in words per CPU second; it is NaN for rows that are not benchmarked.
    """
    rows = _decoded(results, lambda row: row.system in systems)
    for measured in rows:
        corpus, row = measured["corpus"], results.params.rows[measured["row"]]
        timing = results.read("timing", "train", corpus, f"{row.trained}.json")
        speed = _timed(results, corpus, row)["words_per_cpu_s"] if row.benchmarked else float("nan")
        measured |= {"train_cpu_s": timing["cpu_s"], "words_per_cpu_s": speed}
    return rows


def _decoded(results: Results, selected: Callable[[Row], bool]) -> list[dict[str, Any]]:
    """Return the `decode` metrics of the rows that `selected` accepts.

    The rows that all corpora have come first, corpus by corpus; rows that only some corpora have follow, row by row.
    """
    labelled = {"las": float("nan"), "complete_labelled": float("nan")}
    rows = list(results.params.rows.values())
    places = [(corpus, row) for corpus in results.corpora for row in results.params.rows_of(corpus) if selected(row)]
    return [
        {"corpus": corpus, **row.key, **labelled, **_parsed(results, corpus, row)}
        for corpus, row in sorted(places, key=lambda place: rows.index(place[1]) if place[1].corpora else -1)
    ]


def _parsed(results: Results, corpus: str, row: Row) -> dict[str, Any]:
    """Return the `decode` metrics of a parameter row on a corpus. Raises InputError if they are missing."""
    rows = results.read("decode", corpus, f"{row.trained}.json")
    if row.name not in rows:
        path = results.folder.joinpath("metrics", "decode", corpus, f"{row.trained}.json")
        raise InputError(f"no row {row}", path=path, hint=RERUN)
    return rows[row.name]


def _timed(results: Results, corpus: str, row: Row) -> dict[str, Any]:
    """Return the `benchmark` metrics of a parameter row on a corpus. Raises InputError if they are missing."""
    measured = {timed["row"]: timed for timed in results.read("benchmark", f"{corpus}.json")}
    if row.name not in measured:
        path = results.folder.joinpath("metrics", "benchmark", f"{corpus}.json")
        raise InputError(f"no row for {row}", path=path, hint=RERUN)
    return {"corpus": corpus, **measured[row.name]}


def frame(rows: list[dict[str, Any]], path: Path) -> pd.DataFrame:
    """Make a data frame of rows of metrics. Raises InputError if there are none.

    path  folder that should contain the metrics, for the error message
    """
    if not rows:
        raise InputError(
            "no results", path=path, hint="list corpora and decode rows in params.yaml, then run the pipeline again"
        )
    return pd.DataFrame(rows)
