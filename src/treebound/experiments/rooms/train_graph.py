"""Training of our own parser: linear models with non-local features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import has_labels
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Learner, Params, Row
from treebound.experiments.plan import model_name, pruner_file
from treebound.learning.pruner import Pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy
from treebound.systems.graph.trainer import train as train_model


def specification(params: Params, model: str, learner: Learner, examples: Treebank, seed: int) -> Settings:
    """What the trainer is asked for: without labels where the corpus has none, and without patterns likewise."""
    own = params.models[model]
    settings = replace(
        params.train,
        families=own.families,
        space=own.space,
        threshold=own.threshold,
        pruner_folds=own.pruner_folds,
        learner=learner,
        seed=seed,
        labels=params.train.labels if has_labels(examples) else "none",
        pruner_epochs=params.pruner.epochs,
        pruner_bits=params.pruner.bits,
    )
    return settings.fitted(examples)


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the model of a row; its history. A run that was killed goes on at its last epoch."""
    name, (tags, seed) = model_name(params, corpus, row), params.tags_and_seed(corpus, row)
    examples, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    spec = specification(params, row.model, row.learner, examples, seed)
    checkpoint = stage.CHECKPOINTS / f"{corpus}.{name}.npz"  # the trainer knows whether it is of this very training
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(sentences: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return sentences

    pruner = Pruner.load(pruner_file(params, corpus, row))
    trained = train_model(spec, examples, dev, pruner, checkpoint=checkpoint, progress=progress)
    seconds = dict(zip(("cpu_s", "wall_s"), trained.seconds, strict=True))
    best = max(trained.history, key=accuracy)
    las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
    stage.say(f"{corpus} {name}: dev UAS {best['dev_uas']:.2f}{las} after {best['epoch']} epochs")
    trained.save(path)
    return {"spec": spec.as_dict(), "history": trained.history, "best_epoch": best["epoch"]}, seconds
