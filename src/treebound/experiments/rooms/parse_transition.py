"""Transition-based parsers. Timed from treebank columns to labelled trees."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.experiments.params import Params, Row, digest
from treebound.experiments.rooms import Loaded, Trees
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.system import Parser
from treebound.systems.transition.training import PACKAGES


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """The model of a row with its beam. An empty file, of a learner whose package is not installed, finds no arcs."""
    settings = params.transition[row.model]
    facts: dict[str, Any] = {"params_hash": digest({"model": row.model, "beam": row.beam}, asdict(settings))}
    if path.stat().st_size == 0:
        return Loaded(lambda gold: None, partial(_nothing, facts | {"missing": PACKAGES[settings.learning][1]}), _work)
    parser = Parser(TransitionModel.load(path), beam=row.beam)
    return Loaded(parser.parse, partial(_trees, parser, facts), _work)


def _trees(parser: Parser, facts: dict[str, Any], gold: Treebank, parses: list[Parse]) -> Trees:
    labels = [parser.label_names(parse) for parse in parses]
    return Trees([parse.heads for parse in parses], labels, {"value": [parse.value for parse in parses]}, facts)


def _nothing(facts: dict[str, Any], gold: Treebank, found: None) -> Trees:
    """Every word attached to 0, and `missing`, which says that this is no result."""
    heads = [np.concatenate([[-1], np.zeros(n, int)]) for n in gold.lengths.tolist()]
    return Trees(heads, [["_"] * n for n in gold.lengths.tolist()], facts=facts)


def _work(found: Any) -> dict[str, list[float]]:
    """Sentences are not timed one by one."""
    return {}
