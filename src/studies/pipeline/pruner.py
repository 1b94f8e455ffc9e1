"""Stage: train the first-order pruner of a corpus and measure how often it keeps the gold head."""

from __future__ import annotations

from typing import Any

from studies.common import stage
from studies.common.corpus import load
from studies.common.params import Params
from studies.common.paths import pruner_file
from treebound.core.treebank import Treebank
from treebound.learning.pruner import Pruner, train_pruner


def run(params: Params, corpus: str) -> None:
    """Write the pruner of a corpus and its oracle recall on dev and test."""
    settings = params.pruner
    splits = {split: load(corpus, split, params.limit(split)) for split in ("train", "dev", "test")}
    pruner = train_pruner(splits.pop("train"), epochs=settings.epochs, bits=settings.bits, seed=params.seed)
    metrics: dict[str, Any] = {"corpus": corpus, "recall": {}, "thresholds": {}}
    for split, treebank in splits.items():
        metrics["recall"][split] = {str(k): share for k, share in pruner.recall(treebank, settings.ks).items()}
        metrics["thresholds"][split] = [
            _threshold_metrics(pruner, treebank, params.train.k, t) for t in settings.thresholds
        ]
    pruner.save(pruner_file(corpus))
    stage.write_metrics(stage.METRICS / "pruner" / f"{corpus}.json", metrics)


def _threshold_metrics(pruner: Pruner, treebank: Treebank, k: int | None, threshold: float) -> dict[str, float]:
    """Return oracle recall and candidate heads per word if a threshold is applied to the k best heads of each word."""
    recall, heads = pruner.kept(treebank, k, threshold)
    return {"threshold": threshold, "recall": recall, "heads_a_word": heads}


if __name__ == "__main__":
    stage.main(run)
