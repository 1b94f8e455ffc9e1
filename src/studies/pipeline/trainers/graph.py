"""Train and apply our own parser: linear models with non-local features and any decoder."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from studies.common import stage
from studies.common.params import Params, Row, digest
from studies.common.paths import pruner_file
from studies.pipeline.trainers import Loaded, Trees
from studies.pipeline.trainers.learn import checkpoint, progress, splits
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.learning.pruner import Pruner, train_pruner
from treebound.metrics.attachment import has_labels
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy
from treebound.systems.graph.trainer import train as train_model


def specification(params: Params, model: str, examples: Treebank, seed: int) -> Settings:
    """Return the settings for training a model; labels or patterns are left out if the corpus does not support them."""
    own = params.models[model].settings
    settings = replace(
        params.train,
        families=own.families,
        space=own.space,
        threshold=own.threshold,
        pruner_folds=own.pruner_folds,
        learner=own.learner,
        epochs=own.epochs or params.train.epochs,
        seed=seed,
        labels=params.train.labels if has_labels(examples) else "none",
        pruner_epochs=params.pruner.epochs,
        pruner_bits=params.pruner.bits,
    )
    return settings.adapted_settings(examples)


def train(params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train a graph-based model, see `Trainer`. A run that was killed continues at its last epoch."""
    examples, dev = splits(params, corpus, name)
    seed = params.tags_and_seed(corpus, params.models[name])[1]
    spec = specification(params, name, examples, seed)
    trained = train_model(
        spec,
        examples,
        dev,
        pruner(params, corpus, name, examples),
        checkpoint=checkpoint(corpus, name),
        progress=progress(corpus, name),
    )
    seconds = dict(zip(("cpu_s", "wall_s"), trained.seconds, strict=True))
    best = max(trained.history, key=accuracy)
    las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
    stage.say(f"{corpus} {name}: dev UAS {best['dev_uas']:.2f}{las} after {best['epoch']} epochs")
    trained.save(path)
    return {"spec": spec.as_dict(), "history": trained.history, "best_epoch": best["epoch"]}, seconds


def pruner(params: Params, corpus: str, name: str, examples: Treebank) -> Pruner:
    """Return the pruner of the corpus, or train one if the model has other tags or another seed."""
    model = params.models[name]
    if params.plain(corpus, model):
        return Pruner.load(pruner_file(corpus))
    settings, (_, seed) = params.pruner, params.tags_and_seed(corpus, model)
    return train_pruner(examples, epochs=settings.epochs, bits=settings.bits, seed=seed)


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """Load a graph-based model with the decoder and k of the row, see `Trainer`."""
    settings = params.decoders[row.decoder]
    parser = Parser(Model.load(path), decoder=settings.decoder, k=row.heads, **settings.options)
    return Loaded(parser.parse, partial(_trees, params, row, parser), _work)


def _trees(params: Params, row: Row, parser: Parser, gold: Treebank, parses: list[Parse]) -> Trees:
    """Return the trees with bounds, dynamic-program calls and nodes.

    The scores of the gold trees are added if `gold` is True in the settings of the row's decoder.
    """
    model, settings = parser.model, params.decoders[row.decoder]
    columns: dict[str, Any] = {
        name: [getattr(parse, name) for parse in parses] for name in ("value", "bound", "status")
    }
    columns |= {name: [parse.work.get(name, 0) for parse in parses] for name in ("dp_calls", "nodes")}
    if settings.gold:
        columns["gold"] = parser.scores_of_trees(gold)
    facts = {
        "certified": sum(parse.certified for parse in parses),
        "root_solved": sum(bool(parse.work.get("root_solved", 0)) for parse in parses),
        "dp_calls": int(sum(columns["dp_calls"])),
        "nodes": int(sum(columns["nodes"])),
        "params_hash": digest(
            {"model": row.model, "learner": row.learner, "decoder": row.decoder, "k": row.k},
            *(asdict(settings), asdict(params.train), asdict(params.models[row.trained].settings)),
        ),
        "families": list(model.spec.families),
    }
    labels = [model.label_names(parse) for parse in parses] if model.labelling.names else None
    return Trees([parse.heads for parse in parses], labels, columns, facts)


def _work(parses: list[Parse]) -> dict[str, list[float]]:
    """Return seconds, dynamic-program calls, nodes and proofs, one value per sentence."""
    return {
        "seconds": [sum(parse.seconds.values()) for parse in parses],
        "dp_calls": [parse.work.get("dp_calls", 0) for parse in parses],
        "nodes": [parse.work.get("nodes", 0) for parse in parses],
        "certified": [parse.certified for parse in parses],
    }
