"""Parsers that sample. Timed from treebank columns to trees."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from studies.common.params import Params, Row, digest
from studies.pipeline.trainers import Loaded, Trees
from studies.pipeline.trainers.learn import learn
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.system import SamplingSystem


def train(params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """See `Trainer`. A run that was killed goes on at its last epoch."""
    model = params.models[name]
    settings = replace(model.settings, seed=params.tags_and_seed(corpus, model)[1])
    return learn(SamplingSystem(), settings, params, corpus, name, path)[1:]


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """See `Trainer`: the search of the model's settings, or the best of the row's list."""
    settings = params.models[row.trained].settings
    facts = {"params_hash": digest({"model": row.model}, asdict(settings)), "families": list(settings.families)}
    if row.rerank is not None:
        facts["params_hash"] = digest({"model": row.model, "rerank": row.rerank}, asdict(settings))
    parser = Parser(SamplingModel.load(path), rerank=row.rerank)
    return Loaded(parser.parse, partial(_trees, parser, facts), _work)


def _trees(parser: Parser, facts: dict[str, Any], gold: Treebank, parses: list[Parse]) -> Trees:
    """What was found, and what gold trees score: where that is more, the search erred and not the model."""
    values, right = [parse.value for parse in parses], parser.scores_of_trees(gold)
    columns: dict[str, Any] = {
        "value": values,
        "gold": right,
        "restarts": [parse.work.get("restarts", 0) for parse in parses],
    }
    missed = sum(one < two for one, two in zip(values, right, strict=True))
    labels = [parser.label_names(parse) for parse in parses] if parser.names else None
    return Trees([parse.heads for parse in parses], labels, columns, facts | {"search_errors": missed})


def _work(parses: list[Parse]) -> dict[str, list[float]]:
    """Sentences are not timed one by one."""
    return {}
