"""Training of transition-based parsers, on the same splits and tags as the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params, Row
from treebound.experiments.plan import model_name
from treebound.support.atomic import replacing
from treebound.systems.transition.system import Transition
from treebound.systems.transition.training import PACKAGES


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the model of a row; its history. A run that was killed goes on at its last epoch, or with its last machine.

    Where the package of the learner is not installed the file is empty and the metrics say so: nothing else fails.
    """
    name, (tags, seed) = model_name(params, corpus, row), params.tags_and_seed(corpus, row)
    settings, system = replace(params.transition[row.model], seed=seed), Transition()
    module, package = PACKAGES.get(settings.learning, ("", ""))
    if module and find_spec(module) is None:
        stage.say(f"{corpus} {name}: {package} is not installed: make classifiers")
        with replacing(path):
            pass
        return {"spec": settings.as_dict(), "missing": package}, {"cpu_s": 0.0, "wall_s": 0.0}
    examples, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    checkpoint = stage.CHECKPOINTS / f"{corpus}.transition.{name}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(items: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return items

    with Stopwatch() as watch:
        model = system.train(settings, examples, dev, checkpoint=checkpoint, progress=progress)
    stage.say(f"{corpus} {name}: {system.report(model, dev)}")
    model.save(path)
    metrics = {"spec": settings.as_dict(), "history": list(model.history), "skipped": model.skipped}
    return metrics, {"cpu_s": watch.cpu, "wall_s": watch.wall}
