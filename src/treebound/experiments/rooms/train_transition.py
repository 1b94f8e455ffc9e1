"""Training of transition-based parsers, on the same splits and tags as the others."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from treebound.experiments import stage
from treebound.experiments.params import Params, Row
from treebound.experiments.plan import model_name
from treebound.experiments.rooms import by_settings
from treebound.support.atomic import replacing
from treebound.systems.transition.system import Transition
from treebound.systems.transition.training import PACKAGES


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the model of a row; its history. A run that was killed goes on at its last epoch, or with its last machine.

    Where the package of the learner is not installed the file is empty and the metrics say so: nothing else fails.
    """
    settings = replace(params.transition[row.model], seed=params.tags_and_seed(corpus, row)[1])
    module, package = PACKAGES.get(settings.learning, ("", ""))
    if module and find_spec(module) is None:
        stage.say(f"{corpus} {model_name(params, corpus, row)}: {package} is not installed: make classifiers")
        with replacing(path):
            pass
        return {"spec": settings.as_dict(), "missing": package}, {"cpu_s": 0.0, "wall_s": 0.0}
    model, metrics, seconds = by_settings.learn(Transition(), settings, params, corpus, row, path)
    return metrics | {"skipped": model.skipped}, seconds
