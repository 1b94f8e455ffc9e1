"""Training of parsers that sample, on the same splits and tags as the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params, Row
from treebound.experiments.plan import model_name
from treebound.systems.sampling.system import SamplingSystem


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the model of a row; its history. A run that was killed goes on at its last epoch."""
    name, (tags, seed) = model_name(params, corpus, row), params.tags_and_seed(corpus, row)
    settings, system = replace(params.sampling[row.model], seed=seed), SamplingSystem()
    examples, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    checkpoint = stage.CHECKPOINTS / f"{corpus}.sampling.{name}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(items: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return items

    with Stopwatch() as watch:
        model = system.train(settings, examples, dev, checkpoint=checkpoint, progress=progress)
    stage.say(f"{corpus} {name}: {system.report(model, dev)}")
    model.save(path)
    return {"spec": settings.as_dict(), "history": model.history}, {"cpu_s": watch.cpu, "wall_s": watch.wall}
