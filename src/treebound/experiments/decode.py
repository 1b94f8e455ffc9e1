"""Stage: parse the test split with one model, learner, decoder and k. Nothing that is timed enters its outputs."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate, marks
from treebound.experiments import stage
from treebound.experiments.corpus import checksum, load, tags_of
from treebound.experiments.params import Learner, Params, Run, Variant, digest
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.treebanks.projectivise import is_projective

SPLIT = "test"


def parser(params: Params, corpus: str, run: Run) -> Parser:
    """The trained model of a row with the row's decoder and k."""
    settings = params.decoders[run.decoder]
    model = Model.load(stage.MODELS / corpus / f"{run.model}.{run.learner}.npz")
    return Parser(model, decoder=settings.decoder, k=run.heads, **settings.options)


def sentences(params: Params, corpus: str, run: Run) -> Treebank:
    """The test sentences of a row: all, or as many as the slice and the decoder's settings allow."""
    limits = [n for n in (params.limit(SPLIT), params.decoders[run.decoder].sentences) if n is not None]
    return load(corpus, SPLIT, min(limits, default=None))


def scores_of_gold(trained: Parser, gold: Treebank) -> list[float]:
    """What the model gives the gold trees; -inf for those that the parser cannot return: pruned, or crossing."""
    scores = trained.scores_of_trees(gold)
    if trained.decoder.space == "non-projective":
        return scores
    return [score if is_projective(gold.heads(i)) else -np.inf for i, score in enumerate(scores)]


def rows(gold: Treebank, parses: list[Parse], labels: list[list[str]] | None = None) -> pd.DataFrame:
    """One row a sentence: what was found, what was proved, what it took, how many heads are right (and labels, too).

    `words` says so of every scored word, as `attachment.marks` does.
    """
    score = evaluate(gold, [parse.heads for parse in parses], labels).sentences
    table = pd.DataFrame(
        {
            "sentence": range(len(gold)),
            "n": gold.lengths,
            "value": [parse.value for parse in parses],
            "bound": [parse.bound for parse in parses],
            "status": [parse.status for parse in parses],
            "dp_calls": [parse.work.get("dp_calls", 0) for parse in parses],
            "nodes": [parse.work.get("nodes", 0) for parse in parses],
            "correct": score["correct"].to_numpy(),
            "scored": score["scored"].to_numpy(),
        }
    )
    if "correct_labelled" in score:
        table["correct_labelled"] = score["correct_labelled"].to_numpy()
    table["words"] = marks(gold, [parse.heads for parse in parses], labels)
    return table


def run(params: Params, corpus: str, model: str, learner: Learner, decoder: str, k: str) -> None:
    """Write the metrics of a row and its predictions."""
    row = Run(model, learner, decoder, k if k == "none" else int(k))
    gold = sentences(params, corpus, row)
    report(params, corpus, row, gold, parser(params, corpus, row))


def report(
    params: Params, corpus: str, row: Run, gold: Treebank, trained: Parser, variant: Variant | None = None
) -> None:
    """Parse, and write the metrics and the predictions of a row, or of a variant of it."""
    parses = trained.parse(gold)
    labels = [trained.model.label_names(parse) for parse in parses] if trained.model.labelling.names else None
    table = rows(gold, parses, labels)
    if params.decoders[row.decoder].gold:
        table["gold"] = scores_of_gold(trained, gold)
    scored = int(table["scored"].sum())
    metrics = {
        "uas": 100 * int(table["correct"].sum()) / max(scored, 1),
        "complete": 100 * float((table["correct"] == table["scored"]).mean()),
        "words": gold.words,
        "scored_words": scored,
        "sentences": len(gold),
        "certified": sum(parse.certified for parse in parses),
        "root_solved": sum(bool(parse.work.get("root_solved", 0)) for parse in parses),
        "dp_calls": int(table["dp_calls"].sum()),
        "nodes": int(table["nodes"].sum()),
        "corpus_checksum": checksum(corpus, SPLIT),
        "params_hash": digest(
            asdict(row), asdict(params.decoders[row.decoder]), asdict(params.train), asdict(params.models[row.model])
        ),
        "seed": variant.seed if variant else params.seed,
        "tags": variant.tags if variant else tags_of(corpus),
        "families": list(trained.model.spec.families),
    }
    if "correct_labelled" in table:
        right = table["correct_labelled"]
        metrics["las"] = 100 * int(right.sum()) / max(scored, 1)
        metrics["complete_labelled"] = 100 * float((right == table["scored"]).mean())
    kind, name = ("variant", str(variant)) if variant else ("decode", str(row))
    stage.write(stage.PREDICTIONS / corpus / f"{name}.{SPLIT}.csv", table.to_csv(index=False, lineterminator="\n"))
    stage.write_json(stage.METRICS / kind / corpus / f"{name}.{SPLIT}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
