"""Training of our own parser: linear models with non-local features."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import has_labels
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Learner, Params, Row
from treebound.experiments.plan import model_name, pruner_file
from treebound.systems.graph.pruner import Pruner
from treebound.systems.graph.spec import ModelSpec
from treebound.systems.graph.trainer import accuracy
from treebound.systems.graph.trainer import train as train_model

#: fields of an epoch's record that differ from run to run, and their names in the timing file
TIMING = {"cpu_seconds": "cpu_s", "wall_seconds": "wall_s"}


def specification(params: Params, model: str, learner: Learner, examples: Treebank, seed: int) -> ModelSpec:
    """What the trainer is asked for: without labels where the corpus has none, and without patterns likewise."""
    settings = params.train
    families = params.models[model].families
    return ModelSpec(
        families=tuple(f for f in families if f != "pattern" or examples.meta.get("patterns")),
        space=params.models[model].space,
        learner=learner,
        epochs=settings.epochs,
        k=None if settings.k == "none" else int(settings.k),
        bits=settings.bits,
        C=settings.C,
        cost=settings.cost,
        seed=seed,
        max_dp_calls=settings.max_dp_calls,
        labels=settings.labels if has_labels(examples) else "none",
        label_bits=settings.label_bits,
        label_cost=settings.label_cost,
    )


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
    seconds = {short: sum(record[key] for record in trained.history) for key, short in TIMING.items()}
    trained.history = [{key: record[key] for key in record if key not in TIMING} for record in trained.history]
    best = max(trained.history, key=accuracy)
    las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
    stage.say(f"{corpus} {name}: dev UAS {best['dev_uas']:.2f}{las} after {best['epoch']} epochs")
    trained.save(path)
    return {"spec": spec.as_dict(), "history": trained.history, "best_epoch": best["epoch"]}, seconds
