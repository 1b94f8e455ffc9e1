"""Stage: measure the confidence of a model in each word of the test split, and compare it with the accuracy."""

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
#: scales of the log-linear model to try on the development split
SCALES = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
#: lengths of k-best lists for which the most accurate tree of the list is reported
LISTS = (1, 2, 5, 10, 20, 50)


def fitted_scale(parser: Parser, dev: Treebank) -> tuple[float, dict[float, float]]:
    """Return the scale that makes the gold heads of `dev` most probable, and the loss of every scale.

    The loss is the mean negative log probability. Words whose gold head was pruned are left out, because their
    probability is zero under every scale.
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
    """Return one row per word: sentence, word, scored, gold, head, margin, marginal.

    Margins are divided by `unit`, which converts integer steps into scores of the model.
    """
    confidences = [parse.confidence for parse in parses]
    return pd.DataFrame(
        {
            "sentence": np.repeat(np.arange(len(gold)), gold.lengths),
            "word": np.concatenate([np.arange(1, n + 1) for n in gold.lengths]),
            "scored": scored_words(gold).astype(int),
            "gold": gold.head,
            "head": np.concatenate([parse.heads[1:] for parse in parses]),
            "margin": np.concatenate([c.margins[1:] for c in confidences if c is not None and c.margins is not None])
            / unit,
            "marginal": np.concatenate(
                [c.marginals[1:] for c in confidences if c is not None and c.marginals is not None]
            ),
        }
    )


def best_of_list(gold: Treebank, parses: list[Parse], k: int) -> float:
    """Return the UAS (%) that results if the most accurate of the k best trees is chosen for every sentence."""
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
    """Write the margins, marginals and k-best lists of a corpus: one row per word, and summary metrics."""
    settings = params.section(Confidence)
    decoder = params.decoders[settings.decoder]
    model = Model.load(model_file(corpus, settings.model))
    parser = Parser(model, decoder=decoder.decoder, k=settings.heads, **decoder.options)
    dev, test = (load(corpus, s, min(params.limit(s) or settings.sentences, settings.sentences)) for s in SPLITS)
    scale, losses = fitted_scale(parser, dev)
    parses = parser.parse(test, confidence=Assess(margins=True, marginals=True, k=settings.trees, scale=scale))
    table = rows(test, parses, model.unit)
    scored = table[table["scored"] == 1]
    correct = (scored["head"] == scored["gold"]).to_numpy()
    metrics: dict[str, Any] = {
        "uas": 100 * float(correct.mean()),
        "sentences": len(test),
        "words": test.words,
        "scored_words": len(scored),
        "certified": sum(parse.certified for parse in parses),
        "complete": sum(parse.confidence.complete for parse in parses if parse.confidence is not None),
        "scale": scale,
        "dev_loss": {str(s): loss for s, loss in losses.items()},
        "calibration_error": calibration_error(scored["marginal"].to_numpy(), correct),
        "best_of_list": {str(k): best_of_list(test, parses, k) for k in LISTS if k <= settings.trees},
        "corpus_checksum": checksum(corpus, "test"),
        "seed": params.seed,
    }
    text = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    stage.write(stage.PREDICTIONS / corpus / "confidence.csv", text)
    stage.write_metrics(stage.METRICS / "confidence" / f"{corpus}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
