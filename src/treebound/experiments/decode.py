"""Stage: parse the test split as a row says. Nothing that is timed enters its outputs."""

from __future__ import annotations

import pandas as pd

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate, marks
from treebound.experiments import stage
from treebound.experiments.corpus import checksum, load
from treebound.experiments.params import Params, Row
from treebound.experiments.plan import model_file
from treebound.experiments.rooms import Trees, parsing

SPLIT = "test"


def sentences(params: Params, corpus: str, row: Row) -> Treebank:
    """The test sentences of a row: all, or as many as the slice and the decoder's settings allow."""
    first = params.decoders[row.decoder].sentences if row.decoder else None
    limits = [n for n in (params.limit(SPLIT), first) if n is not None]
    return load(corpus, SPLIT, min(limits, default=None), params.tags_and_seed(corpus, row)[0])


def table_of(gold: Treebank, trees: Trees) -> pd.DataFrame:
    """One row a sentence: what the system tells of it, how many heads are right (and labels, too).

    `words` says so of every scored word, as `attachment.marks` does.
    """
    score = evaluate(gold, trees.heads, trees.labels).sentences
    table = pd.DataFrame({"sentence": range(len(gold)), "n": gold.lengths, **trees.columns})
    for name in ("correct", "scored", "correct_labelled"):
        if name in score:
            table[name] = score[name].to_numpy()
    table["words"] = marks(gold, trees.heads, trees.labels)
    return table


def accuracies(table: pd.DataFrame) -> dict[str, float]:
    """Words with the right head, sentences with all of them (%), and labelled ones where there are labels."""
    scored = int(table["scored"].sum())
    found: dict[str, float] = {"scored_words": scored}
    for right, word, sentence in (("correct", "uas", "complete"), ("correct_labelled", "las", "complete_labelled")):
        if right in table:
            found[word] = 100 * int(table[right].sum()) / max(scored, 1)
            found[sentence] = 100 * float((table[right] == table["scored"]).mean())
    return found


def run(params: Params, corpus: str, name: str) -> None:
    """Write the metrics of a row and its predictions."""
    row = params.row(name)
    gold = sentences(params, corpus, row)
    loaded = parsing(row.system).load(params, corpus, row, model_file(params, corpus, row))
    trees = loaded.trees(gold, loaded.parse(gold))
    table = table_of(gold, trees)
    tags, seed = params.tags_and_seed(corpus, row)
    about = {"words": gold.words, "sentences": len(gold), "corpus_checksum": checksum(corpus, SPLIT)}
    metrics = accuracies(table) | trees.facts | about | {"tags": tags, "seed": seed}
    where = stage.PREDICTIONS / corpus / "decode" / f"{row}.csv"
    stage.write(where, table.to_csv(index=False, lineterminator="\n"))
    stage.write_json(stage.METRICS / "decode" / corpus / f"{row}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
