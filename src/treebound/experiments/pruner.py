"""Stage: train the first-order pruner of a corpus and measure how often it keeps the true head."""

from __future__ import annotations

from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params
from treebound.systems.graph.pruner import train_pruner


def run(params: Params, corpus: str) -> None:
    """Write the pruner of a corpus and its oracle recall on dev and test."""
    settings = params.pruner
    train = load(corpus, "train", params.limit("train"))
    pruner = train_pruner(train, epochs=settings.epochs, bits=settings.bits, seed=params.seed)
    recall = {}
    for split in ("dev", "test"):
        measured = pruner.recall(load(corpus, split, params.limit(split)), settings.ks)
        recall[split] = {str(k): share for k, share in measured.items()}
    pruner.save(stage.MODELS / corpus / "pruner.npz")
    stage.write_json(stage.METRICS / "pruner" / f"{corpus}.json", {"corpus": corpus, "recall": recall})


if __name__ == "__main__":
    stage.main(run)
