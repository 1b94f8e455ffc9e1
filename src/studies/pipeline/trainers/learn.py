"""Train a system with an object of settings: load splits, write checkpoints, report progress and times."""

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
    """Load the training and development split of a corpus with the tags of a model."""
    tags, _ = params.tags_and_seed(corpus, params.models[name])
    train, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    return train, dev


def progress(corpus: str, name: str) -> Callable[[Iterable, str], Iterable]:
    """Return a function (items, activity) that reports the start of a training activity and returns the items."""

    def report(items: Iterable, activity: str) -> Iterable:
        stage.say(f"{corpus} {name}: {activity}")
        return items

    return report


def checkpoint(corpus: str, name: str) -> Path:
    """Return the path of the checkpoint of a training, and create its folder.

    The content of the checkpoint, not its path, identifies the settings of the training to which it belongs.
    """
    path = stage.CHECKPOINTS / f"{corpus}.{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def learn(
    system: Any, settings: Any, params: Params, corpus: str, name: str, path: Path
) -> tuple[Any, dict[str, Any], dict[str, float]]:
    """Train a model and write it to `path`; return the model, its settings and history, and the seconds of training.

    A run that was killed continues from the last checkpoint that the system has written.

    system    module of the system, with the functions `train` and `report`
    settings  settings of the system
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
