"""Stage: parse the test split with a model, once for each row that `decode` in params.yaml lists for the model.

Predictions and metrics do not differ between runs. The peak memory of each row does, so it has a file of its own.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.common import stage
from studies.common.corpus import checksum, load
from studies.common.params import Params, Row
from studies.common.paths import model_file
from studies.pipeline import memory
from studies.pipeline.trainers import Trees, trainer
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import evaluate, marks

SPLIT = "test"


def sentences(params: Params, corpus: str, row: Row) -> Treebank:
    """Return the first test sentences that a row parses; the parameters and the decoder may limit their number."""
    first = params.decoders[row.decoder].sentences if row.decoder else None
    return load(corpus, SPLIT, params.limit(SPLIT, first), params.tags_and_seed(corpus, row)[0])


def table_of(gold: Treebank, trees: Trees) -> pd.DataFrame:
    """Return one row per sentence: values that the system reports, and the numbers of correct heads and labels.

    The column `words` holds a string that marks each scored word as right or wrong (`attachment.marks`).
    """
    score = evaluate(gold, trees.heads, trees.labels).sentences
    table = pd.DataFrame({"sentence": range(len(gold)), "n": gold.lengths, **trees.columns})
    for name in ("correct", "scored", "correct_labelled"):
        if name in score:
            table[name] = score[name]
    table["words"] = marks(gold, trees.heads, trees.labels)
    return table


def accuracies(table: pd.DataFrame) -> dict[str, float]:
    """Compute the accuracies (%) from the result of `table_of`.

    uas is the share of words with the correct head, and complete is the share of sentences in which all heads are
    correct. If there are labels, las and complete_labelled are these shares for heads with labels. scored_words is the
    number of words that count.
    """
    scored = int(table["scored"].sum())
    percentages: dict[str, float] = {"scored_words": scored}
    for correct, per_word, per_sentence in (
        ("correct", "uas", "complete"),
        ("correct_labelled", "las", "complete_labelled"),
    ):
        if correct in table:
            percentages[per_word] = 100 * int(table[correct].sum()) / max(scored, 1)
            percentages[per_sentence] = 100 * float((table[correct] == table["scored"]).mean())
    return percentages


def parsed(params: Params, corpus: str, row: Row) -> tuple[dict[str, Any], pd.DataFrame, float]:
    """Parse the test sentences of a row; return the metrics, the table of predictions, and the peak memory in MB.

    The peak covers loading the sentences and the model, and parsing. It does not cover the computation of metrics.
    """
    memory.reset()
    gold = sentences(params, corpus, row)
    loaded = trainer(row.system).load(params, corpus, row, model_file(corpus, row.trained))
    trees = loaded.trees(gold, loaded.parse(gold))
    peak_mb = memory.peak_mb()
    table = table_of(gold, trees)
    tags, seed = params.tags_and_seed(corpus, row)
    description = {"words": gold.words, "sentences": len(gold), "corpus_checksum": checksum(corpus, SPLIT)}
    return accuracies(table) | trees.facts | description | {"tags": tags, "seed": seed}, table, peak_mb


def run(params: Params, corpus: str, model: str) -> None:
    """Write the metrics and the peak memory of all rows of a model into one file each, and predictions into a folder.

    A row that parses nothing, because a package is not installed, has no peak memory.
    """
    folder = stage.PREDICTIONS / corpus / "decode" / model
    folder.mkdir(parents=True, exist_ok=True)
    metrics: dict[str, dict[str, Any]] = {}
    peaks: dict[str, dict[str, float]] = {}
    for row in params.rows_of(corpus):
        if row.trained == model:
            metrics[row.name], table, peak_mb = parsed(params, corpus, row)
            if not metrics[row.name].get("missing"):
                peaks[row.name] = {"peak_mb": peak_mb}
            stage.write(folder / f"{row}.csv", table.to_csv(index=False, lineterminator="\n"))
    stage.write_metrics(stage.METRICS / "decode" / corpus / f"{model}.json", metrics)
    stage.write_metrics(stage.METRICS / "timing" / "decode" / corpus / f"{model}.json", peaks)


if __name__ == "__main__":
    stage.main(run)
