"""Stage: how sure a model is of its parses of the test split, word by word, and how often it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.corpus import checksum, load
from studies.common.params import Params
from studies.common.paths import model_file
from studies.qian_liu_2013.confidence.settings import Confidence
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess, arc_marginals
from treebound.metrics.attachment import scored_words
from treebound.metrics.calibration import calibration_error
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser

SPLITS = ("dev", "test")
#: scales of the log-linear model that are tried on the dev split
SCALES = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
#: lengths of k-best lists for which the best tree in the list is reported
LISTS = (1, 2, 5, 10, 20, 50)


def fitted_scale(parser: Parser, dev: Treebank) -> tuple[float, dict[float, float]]:
    """The scale under which the gold heads of `dev` are most probable, and each scale's mean -log probability.

    Words whose gold head was pruned count nothing: no scale gives them any.
    """
    loss = dict.fromkeys(SCALES, 0.0)
    words = 0
    for i in range(len(dev)):
        problem, gold = parser.problem(dev, i), dev.heads(i)
        right = gold[problem.mod] == problem.head
        words += int(right.sum())
        for scale in SCALES:
            p = arc_marginals(problem, parser.decoder.space, scale)[right]
            loss[scale] -= float(np.log(np.maximum(p, 1e-12)).sum())
    means = {scale: total / max(words, 1) for scale, total in loss.items()}
    return min(means, key=lambda scale: means[scale]), means


def rows(gold: Treebank, parses: list[Parse], unit: float) -> pd.DataFrame:
    """One row a word: sentence, word, scored, gold, head, margin (over `unit`: of the model's scores), marginal."""
    found = [parse.confidence for parse in parses]
    return pd.DataFrame(
        {
            "sentence": np.repeat(np.arange(len(gold)), gold.lengths),
            "word": np.concatenate([np.arange(1, n + 1) for n in gold.lengths]),
            "scored": scored_words(gold).astype(int),
            "gold": gold.head,
            "head": np.concatenate([parse.heads[1:] for parse in parses]),
            "margin": np.concatenate([c.margins[1:] for c in found if c is not None and c.margins is not None]) / unit,
            "marginal": np.concatenate([c.marginals[1:] for c in found if c is not None and c.marginals is not None]),
        }
    )


def best_of_list(gold: Treebank, parses: list[Parse], k: int) -> float:
    """UAS of the best tree among the k best of every sentence."""
    scored = scored_words(gold)
    right = 0
    for i, parse in enumerate(parses):
        if parse.confidence is None:
            continue
        a, b = gold.offsets[i], gold.offsets[i + 1]
        trees = parse.confidence.trees[:k]
        right += max(int(((t.heads[1:] == gold.head[a:b]) & scored[a:b]).sum()) for t in trees)
    return 100 * right / max(int(scored.sum()), 1)


def run(params: Params, corpus: str) -> None:
    """Write margins, marginals and k-best lists of a corpus: predictions word by word, and what they amount to."""
    settings = params.section(Confidence)
    decoder = params.decoders[settings.decoder]
    model = Model.load(model_file(corpus, settings.model))
    parser = Parser(model, decoder=decoder.decoder, k=settings.heads, **decoder.options)
    dev, test = (load(corpus, s, min(params.limit(s) or settings.sentences, settings.sentences)) for s in SPLITS)
    scale, losses = fitted_scale(parser, dev)
    parses = parser.parse(test, confidence=Assess(margins=True, marginals=True, k=settings.trees, scale=scale))
    table = rows(test, parses, model.unit)
    some = table[table["scored"] == 1]
    correct = (some["head"] == some["gold"]).to_numpy()
    metrics: dict[str, Any] = {
        "uas": 100 * float(correct.mean()),
        "sentences": len(test),
        "words": test.words,
        "scored_words": len(some),
        "certified": sum(parse.certified for parse in parses),
        "complete": sum(parse.confidence.complete for parse in parses if parse.confidence is not None),
        "scale": scale,
        "dev_loss": {str(s): loss for s, loss in losses.items()},
        "calibration_error": calibration_error(some["marginal"].to_numpy(), correct),
        "best_of_list": {str(k): best_of_list(test, parses, k) for k in LISTS if k <= settings.trees},
        "corpus_checksum": checksum(corpus, "test"),
        "seed": params.seed,
    }
    text = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    stage.write(stage.PREDICTIONS / corpus / "confidence.csv", text)
    stage.write_metrics(stage.METRICS / "confidence" / f"{corpus}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
