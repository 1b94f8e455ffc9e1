"""Collect accuracy, speed, training time, memory and proofs of every parser of a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from studies.across.overview import practice
from studies.common.metrics import RERUN
from studies.common.params import Row
from studies.hall_2006.transitions.tables import maltparser
from studies.qian_liu_2013.comparison.headline import titles
from studies.site import frames, seen
from studies.site.collect import Results
from studies.site.pooled import Z, over_seeds
from studies.site.rows import corpora_of, seeds_of
from treebound.core.errors import InputError

#: system of a row -> family of parsers in the tables; every other system is a package of another project
FAMILIES = {"graph": "graph-based", "transition": "transition-based", "sampling": "sampling"}
OTHER, PUBLISHED = "other project", "published figure"  #: families of parsers that this project did not write
KEPT = "leaderboard"  #: name of the table of `intervals` that a reference stores
OVER_SENTENCES, OVER_WORDS = "test sentences", "words"  #: units that the interval of a row treats as independent
COLUMNS = ["corpus", "system", "family", "uas", "low", "high", "unit", "las", "seeds", "words_per_cpu_s"]
COLUMNS += ["train_cpu_s", "peak_mb", "proved", "sees", "model", "unranked", "row"]

NOT_TIMED = "not timed: not selected in params.yaml"
NO_MEMORY = "not measured in this older run"
NO_PROOF = "this kind of parser proves nothing"
NO_LABELS = "no labels: the model predicts heads alone"
PART = "not ranked: only the first sentences of the test set were parsed"
ONE_TRAINING = "not ranked: one training of a model that another row ranks by the mean over its seeds"
OTHER_TAGS = "not ranked: sees other tags than the ranked rows of this corpus"
OUTSIDE = (
    "not ranked: measured once outside the pipeline, with gold tags and without intervals, speed, training time and "
    "memory"
)
FROM_PAPER = (
    "not ranked: a published figure with other conditions (version of the treebank, tags, and punctuation counts); "
    "speed, training time, memory and intervals in these conditions were not published"
)


def parsers(results: Sequence[Results], wanted: Collection[str] = ()) -> pd.DataFrame:
    """Return every parser of the runs, one row per run, corpus and parser. Columns: run and COLUMNS.

    wanted  corpora; empty means all

    UAS and LAS (%) are means over seeds with otherwise equal settings. `low` and `high` are the ends of the 95 %
    interval of UAS over test sentences and seeds. `unranked` is the reason why the row has no rank, or an empty text.
    `peak_mb` is the peak resident memory in MB of the process that parsed the test set.
    A cell without a value is NaN; `reason` explains it. `system` is the name that pages show (`headline.titles`), and
    `row` is the name in params.yaml.
    """
    keep = corpora_of(results, list(wanted))
    parts = [_of_run(r, keep[r.name]) for r in results]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def reason(column: str, row: pd.Series) -> str:
    """Explain why a row of `parsers` has no value in a column.

    column  name of a column of COLUMNS
    """
    if row["family"] == PUBLISHED or row["unranked"] == OUTSIDE:
        return str(row["unranked"])
    if row["unranked"].startswith("not installed"):
        return str(row["unranked"])
    causes = {"rank": row["unranked"], "words_per_cpu_s": NOT_TIMED, "proved": NO_PROOF, "las": NO_LABELS}
    causes |= {"peak_mb": NO_MEMORY}
    return str(causes.get(column, "not measured"))


def _of_run(results: Results, corpora: Collection[str]) -> pd.DataFrame:
    """Return the rows of `parsers` for one run."""
    units = intervals(results, corpora)
    rows, by_seed = [], []
    offered = seen.offered(results)
    for corpus in corpora:
        measured = _measured(results, corpus)
        longest = max(metrics.get("sentences", 0) for metrics in measured.values())
        names = titles(results, corpus)
        repeated = _repeated(results, corpus, measured)
        most: dict[str, int] = {}  # trained model -> largest number of seeds of a row
        for name, repeats in repeated.items():
            trained = results.params.rows[name].trained
            most[trained] = max(len(repeats), most.get(trained, 0))
        for name, repeats in repeated.items():
            row, metrics = results.params.rows[name], measured[name]
            labelled = [measured[repeat].get("las", nan) for repeat in repeats]
            described = {"corpus": corpus, "system": names[name], "row": name, "las": float(np.mean(labelled))}
            described |= _described(results, corpus, row, metrics, offered[corpus])
            fewer = ONE_TRAINING if len(repeats) < most[row.trained] else ""
            described["unranked"] = _unranked(results, corpus, row, metrics, longest) or fewer
            known = units.reindex([(corpus, repeat) for repeat in repeats])
            rows.append(described | {"unit": known["unit"].iloc[0]})
            by_seed.append(known[["UAS", "low", "high"]].to_numpy(float))
    for described, mean in zip(rows, over_seeds(by_seed) if rows else (), strict=True):
        described |= dict(zip(("uas", "low", "high", "seeds"), mean, strict=True))
    rows += _not_ours(corpora)
    data = pd.DataFrame(rows, columns=COLUMNS)
    data.insert(0, "run", results.name)
    return data


def _repeated(results: Results, corpus: str, measured: Collection[str]) -> dict[str, list[str]]:
    """Group the measured rows of a corpus that differ in their seed alone: first row -> all rows of the group."""
    groups: dict[str, list[str]] = {}
    counted: set[str] = set()
    for name in measured:
        if name not in counted:
            repeats = seeds_of(results.params, corpus, results.params.rows[name]).values()
            groups[name] = [repeat.name for repeat in repeats if repeat.name in measured]
            counted |= set(groups[name])
    return groups


def _measured(results: Results, corpus: str) -> dict[str, dict[str, Any]]:
    """Return the `decode` metrics of every row of a corpus, with training time, memory and speed, by row name.

    The peak memory is NaN if the run was made before the stage measured it.
    """
    timed = {row["row"]: row["words_per_cpu_s"] for row in results.read("benchmark", f"{corpus}.json")}
    measured = {}
    for row in results.params.rows_of(corpus):
        files = results.read("decode", corpus, f"{row.trained}.json")
        if row.name not in files:
            file = results.folder / "metrics" / "decode" / corpus / f"{row.trained}.json"
            raise InputError(f"no row {row}", path=file, hint=RERUN)
        training = results.read("timing", "train", corpus, f"{row.trained}.json")
        path = ("timing", "decode", corpus, f"{row.trained}.json")
        peaks = results.read(*path) if results.has(*path) else {}
        cost = {"train_cpu_s": training["cpu_s"], "peak_mb": peaks.get(row.name, {}).get("peak_mb", nan)}
        speed = timed.get(row.name, nan) if row.benchmarked else nan
        measured[row.name] = files[row.name] | cost | {"words_per_cpu_s": speed}
        if files[row.name].get("missing"):  # the stages store zeros for a package that is not installed
            measured[row.name] |= dict.fromkeys(("las", *cost, "words_per_cpu_s"), nan)
    return measured


def _described(
    results: Results, corpus: str, row: Row, metrics: dict[str, Any], offered: Collection[str]
) -> dict[str, Any]:
    """Return the cells of a leaderboard row for one training: model, columns that it sees, speed, cost and proofs.

    Accuracy is missing, because it is averaged over trainings with several seeds.

    metrics  metrics of the row, as `_measured` returns them
    offered  treebank columns that the corpus offers to parsers
    """
    columns = seen.seen(results, corpus, row, offered) if not metrics.get("missing") else ()
    tags, _ = results.params.tags_and_seed(corpus, row)
    if row.system == "graph":
        heads = "all heads" if row.k == "none" else f"k = {row.k}"
        model = f"{row.model}, {row.learner.upper() if row.learner == 'mira' else row.learner}, {row.decoder}, {heads}"
    elif row.system in FAMILIES:
        model = row.model + (f", best of {row.rerank} trees" if row.rerank else "")
    else:
        model = f"{metrics.get('package', row.system)} {metrics.get('version', '')}".strip()
    certified, sentences = metrics.get("certified"), metrics.get("sentences")
    return {
        "family": FAMILIES.get(row.system, OTHER),
        "model": model,
        "sees": ", ".join([f"{tags} tags", *(seen.NAMES[column] for column in columns)]),
        "words_per_cpu_s": metrics["words_per_cpu_s"],
        "train_cpu_s": metrics["train_cpu_s"],
        "peak_mb": metrics["peak_mb"],
        "proved": nan if certified is None else 100 * certified / sentences,
    }


def _unranked(results: Results, corpus: str, row: Row, metrics: dict[str, Any], longest: int) -> str:
    """Return the reason why a row has no rank, or an empty text.

    longest  number of sentences of the whole test set
    """
    if metrics.get("missing"):
        return f"not installed: {metrics['missing']}"
    if results.params.tags_and_seed(corpus, row)[0] != results.params.tags_of(corpus):
        return OTHER_TAGS
    return PART if metrics.get("sentences", longest) < longest else ""


def _not_ours(corpora: Collection[str]) -> list[dict[str, Any]]:
    """Return rows for parsers whose accuracy no stage measured: published figures, and MaltParser."""
    shared = {"seeds": nan, "unit": ""}
    rows: list[dict[str, Any]] = []
    for corpus, figures in maltparser().iterrows():
        cells = {"system": "maltparser", "family": OTHER, "uas": figures["UAS"], "las": figures["LAS"]}
        more = {"model": "MaltParser 1.9", "sees": "gold tags", "unranked": OUTSIDE}
        rows.append({"corpus": corpus, **cells, **more, **shared})
    for figures in practice.published().to_dict("records"):
        text = f"{figures['treebank']}, {figures['segmentation']} segmentation"
        cells = {"system": figures["system"], "family": PUBLISHED, "uas": figures["UAS"], "las": figures["LAS"]}
        more = {"model": text, "sees": f"{figures['tags']} tags", "unranked": FROM_PAPER}
        rows.append({"corpus": figures["corpus"], **cells, **more, **shared})
    return [row for row in rows if row["corpus"] in corpora]


def intervals(results: Results, corpora: Collection[str] = ()) -> pd.DataFrame:
    """Return UAS in % with the ends of its 95 % interval for every row of params.yaml.

    Index: corpus, row. Columns: UAS, low, high, unit.

    The unit of sampling is the test sentence: `over_sentences` computes the interval from the right and the scored
    words of each sentence. A reference run is committed without its sentences, but with this table. An older reference
    lacks the table; then the unit is the word, and the interval is too narrow, because errors in one sentence depend on
    each other.
    """
    stored = pd.DataFrame() if results.keeps_sentences else results.kept_table(KEPT, index_col=["corpus", "row"])
    if len(stored):
        return stored[stored.index.get_level_values("corpus").isin(corpora)] if corpora else stored
    rows = []
    for corpus in corpora or results.corpora:
        for row in results.params.rows_of(corpus):
            metrics = results.read("decode", corpus, f"{row.trained}.json").get(row.name, {})
            if metrics.get("missing") or "uas" not in metrics:
                continue
            if results.keeps_sentences:
                value, half, unit = *over_sentences(frames.sentences(results, corpus, row)), OVER_SENTENCES
            else:
                value, unit = metrics["uas"], OVER_WORDS
                half = Z * float(np.sqrt(value * (100 - value) / metrics["scored_words"]))
            rows.append((corpus, row.name, value, value - half, value + half, unit))
    return pd.DataFrame(rows, columns=["corpus", "row", "UAS", "low", "high", "unit"]).set_index(["corpus", "row"])


def over_sentences(data: pd.DataFrame) -> tuple[float, float]:
    """Return UAS in % and half the width of its 95 % interval over sentences.

    data  one row per sentence with the columns `correct` and `scored` (numbers of words)

    UAS is a ratio of two sums. Its variance is the usual linear estimate for ratios of sums over independent sentences
    (Cochran 1977, section 6.3).
    """
    correct, scored = data["correct"].to_numpy(float), data["scored"].to_numpy(float)
    value, n = correct.sum() / scored.sum(), len(data)
    residuals = correct - value * scored
    variance = n / max(n - 1, 1) * np.square(residuals).sum() / scored.sum() ** 2
    return 100 * float(value), 100 * Z * float(np.sqrt(variance))
