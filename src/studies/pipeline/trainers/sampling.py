"""Train and apply parsers that sample. The time is measured from treebank columns to trees."""

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
    """Train a model that samples, see `Trainer`. A run that was killed continues at its last epoch."""
    model = params.models[name]
    settings = replace(model.settings, seed=params.tags_and_seed(corpus, model)[1])
    return learn(SamplingSystem(), settings, params, corpus, name, path)[1:]


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """Load a model that samples, see `Trainer`. The row decides between search and reranking."""
    settings = params.models[row.trained].settings
    facts = {"params_hash": digest({"model": row.model}, asdict(settings)), "families": list(settings.families)}
    if row.rerank is not None:
        facts["params_hash"] = digest({"model": row.model, "rerank": row.rerank}, asdict(settings))
    parser = Parser(SamplingModel.load(path), rerank=row.rerank)
    return Loaded(parser.parse, partial(_trees, parser, facts), _work)


def _trees(parser: Parser, facts: dict[str, Any], gold: Treebank, parses: list[Parse]) -> Trees:
    """Return the trees with their scores and the scores of the gold trees.

    If the gold tree has a higher score than the predicted tree, the error is a search error, not a model error.
    """
    values, gold_values = [parse.value for parse in parses], parser.scores_of_trees(gold)
    columns: dict[str, Any] = {
        "value": values,
        "gold": gold_values,
        "restarts": [parse.work.get("restarts", 0) for parse in parses],
    }
    search_errors = sum(value < gold_value for value, gold_value in zip(values, gold_values, strict=True))
    labels = [parser.label_names(parse) for parse in parses] if parser.names else None
    return Trees([parse.heads for parse in parses], labels, columns, facts | {"search_errors": search_errors})


def _work(parses: list[Parse]) -> dict[str, list[float]]:
    """Return an empty dictionary, since single sentences are not timed."""
    return {}
