"""Train and apply transition-based parsers. Times cover all steps from treebank columns to labelled trees."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from studies.common import stage
from studies.common.params import Params, Row, digest
from studies.common.paths import UNTRAINED, is_trained
from studies.pipeline.trainers import Loaded, Trees
from studies.pipeline.trainers.learn import learn
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.support.atomic import replacing
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.system import Parser, Transition
from treebound.systems.transition.training import PACKAGES


def train(params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train a transition-based model, see `Trainer`.

    A run that was killed continues at its last epoch, or at the last of its classifiers. If the package of the learner
    is not installed, the model file and the metrics name the package; the run continues.
    """
    model = params.models[name]
    settings = replace(model.settings, seed=params.tags_and_seed(corpus, model)[1])
    module, package = PACKAGES.get(settings.learning, ("", ""))
    if module and find_spec(module) is None:
        stage.say(f"{corpus} {name}: {package} is not installed; install it with `make classifiers`")
        with replacing(path) as file:
            file.write(UNTRAINED + f"{package} is not installed\n".encode())
        return {"spec": settings.as_dict(), "missing": package}, {"cpu_s": 0.0, "wall_s": 0.0}
    trained, metrics, seconds = learn(Transition(), settings, params, corpus, name, path)
    return metrics | {"skipped": trained.skipped}, seconds


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """Load a transition-based model with the beam of the row, see `Trainer`.

    If the model was not trained (see `is_trained`), the trees have no arcs between words.
    """
    settings = params.models[row.trained].settings
    facts: dict[str, Any] = {"params_hash": digest({"model": row.model, "beam": row.beam}, asdict(settings))}
    if not is_trained(path):
        return Loaded(lambda gold: None, partial(_nothing, facts | {"missing": PACKAGES[settings.learning][1]}), _work)
    parser = Parser(TransitionModel.load(path), beam=row.beam)
    return Loaded(parser.parse, partial(_trees, parser, facts), _work)


def _trees(parser: Parser, facts: dict[str, Any], gold: Treebank, parses: list[Parse]) -> Trees:
    """Return the trees with labels and scores."""
    labels = [parser.label_names(parse) for parse in parses]
    return Trees([parse.heads for parse in parses], labels, {"value": [parse.value for parse in parses]}, facts)


def _nothing(facts: dict[str, Any], gold: Treebank, result: None) -> Trees:
    """Return trees that attach every word to the root; `missing` in the facts marks them as a missing result."""
    heads = [np.concatenate([[-1], np.zeros(n, int)]) for n in gold.lengths.tolist()]
    return Trees(heads, [["_"] * n for n in gold.lengths.tolist()], facts=facts)


def _work(result: Any) -> dict[str, list[float]]:
    """Return an empty dictionary, since single sentences are not timed."""
    return {}
