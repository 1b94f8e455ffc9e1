"""What the rooms share whose systems learn by a class of settings: splits and tags, checkpoint, progress, seconds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import ROOMS, Params, Row
from treebound.experiments.plan import model_name


def learn(
    system: Any, settings: Any, params: Params, corpus: str, row: Row, path: Path
) -> tuple[Any, dict[str, Any], dict[str, float]]:
    """Train the model of a row and write it: (model, its settings and history, seconds).

    A run that was killed goes on where its system's checkpoints let it.
    """
    name, (tags, _) = model_name(params, corpus, row), params.tags_and_seed(corpus, row)
    examples, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    checkpoint = stage.CHECKPOINTS / f"{corpus}.{ROOMS[row.system]}.{name}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(items: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return items

    with Stopwatch() as watch:
        model = system.train(settings, examples, dev, checkpoint=checkpoint, progress=progress)
    stage.say(f"{corpus} {name}: {system.report(model, dev)}")
    model.save(path)
    metrics = {"spec": settings.as_dict(), "history": list(model.history)}
    return model, metrics, {"cpu_s": watch.cpu, "wall_s": watch.wall}
