"""Training of systems that learn by a class of settings: splits and tags, checkpoint, progress, seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from studies.common import stage
from studies.common.corpus import load
from studies.common.params import Params
from treebound.core.treebank import Treebank
from treebound.metrics.timing import Stopwatch


def splits(params: Params, corpus: str, name: str) -> tuple[Treebank, Treebank]:
    """Training and development split of a corpus, with the tags that a model is trained with."""
    tags, _ = params.tags_and_seed(corpus, params.models[name])
    train, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    return train, dev


def progress(corpus: str, name: str) -> Callable[[Iterable, str], Iterable]:
    """A function that says what a training does, and gives back what it works through."""

    def say(items: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return items

    return say


def checkpoint(corpus: str, name: str) -> Path:
    """File for the checkpoint of a training, which says what it is of; its folder is created."""
    path = stage.CHECKPOINTS / f"{corpus}.{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def learn(
    system: Any, settings: Any, params: Params, corpus: str, name: str, path: Path
) -> tuple[Any, dict[str, Any], dict[str, float]]:
    """Train a model and write it: (model, its settings and history, seconds).

    A run that was killed goes on where its system's checkpoints let it.
    """
    examples, dev = splits(params, corpus, name)
    with Stopwatch() as watch:
        model = system.train(
            settings, examples, dev, checkpoint=checkpoint(corpus, name), progress=progress(corpus, name)
        )
    stage.say(f"{corpus} {name}: {system.report(model, dev)}")
    model.save(path)
    metrics = {"spec": settings.as_dict(), "history": list(model.history)}
    return model, metrics, {"cpu_s": watch.cpu, "wall_s": watch.wall}
