"""Stage: train the first-order pruner of a corpus and measure how often it keeps the true head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treebound.core.treebank import Treebank
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params
from treebound.learning.pruner import Pruner, train_pruner


def run(params: Params, corpus: str, tags: str, seed: str, file: str) -> None:
    """Write the pruner of a corpus, for models of these tags and this seed, and its oracle recall on dev and test."""
    settings = params.pruner
    splits = {split: load(corpus, split, params.limit(split), tags) for split in ("train", "dev", "test")}
    pruner = train_pruner(splits.pop("train"), epochs=settings.epochs, bits=settings.bits, seed=int(seed))
    found: dict[str, Any] = {"corpus": corpus, "recall": {}, "thresholds": {}}
    for split, treebank in splits.items():
        found["recall"][split] = {str(k): share for k, share in pruner.recall(treebank, settings.ks).items()}
        found["thresholds"][split] = [_left(pruner, treebank, params.train.k, t) for t in settings.thresholds]
    path = Path(file)
    pruner.save(path)
    stage.write_json(stage.METRICS / "pruner" / corpus / f"{path.stem}.json", found)


def _left(pruner: Pruner, treebank: Treebank, k: int | None, threshold: float) -> dict[str, float]:
    """What a threshold leaves of k heads."""
    recall, heads = pruner.kept(treebank, k, threshold)
    return {"threshold": threshold, "recall": recall, "heads_a_word": heads}


if __name__ == "__main__":
    stage.main(run)
