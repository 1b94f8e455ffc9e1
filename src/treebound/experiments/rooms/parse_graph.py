"""Our own parser: linear models with non-local features, over any decoder."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.experiments.params import Params, Row, digest
from treebound.experiments.rooms import Loaded, Trees
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """The model of a row with the row's decoder and k."""
    settings = params.decoders[row.decoder]
    parser = Parser(Model.load(path), decoder=settings.decoder, k=row.heads, **settings.options)
    return Loaded(parser.parse, partial(_trees, params, row, parser), _work)


def _trees(params: Params, row: Row, parser: Parser, gold: Treebank, parses: list[Parse]) -> Trees:
    """What was found, what was proved, and what it took; what gold trees score, where the settings ask for it."""
    model, settings = parser.model, params.decoders[row.decoder]
    columns: dict[str, Any] = {
        name: [getattr(parse, name) for parse in parses] for name in ("value", "bound", "status")
    }
    columns |= {name: [parse.work.get(name, 0) for parse in parses] for name in ("dp_calls", "nodes")}
    if settings.gold:
        columns["gold"] = parser.scores_of_trees(gold)
    facts = {
        "certified": sum(parse.certified for parse in parses),
        "root_solved": sum(bool(parse.work.get("root_solved", 0)) for parse in parses),
        "dp_calls": int(sum(columns["dp_calls"])),
        "nodes": int(sum(columns["nodes"])),
        "params_hash": digest(
            {"model": row.model, "learner": row.learner, "decoder": row.decoder, "k": row.k},
            *(asdict(settings), asdict(params.train), asdict(params.models[row.model])),
        ),
        "families": list(model.spec.families),
    }
    labels = [model.label_names(parse) for parse in parses] if model.labelling.names else None
    return Trees([parse.heads for parse in parses], labels, columns, facts)


def _work(parses: list[Parse]) -> dict[str, list[float]]:
    return {
        "seconds": [sum(parse.seconds.values()) for parse in parses],
        "dp_calls": [parse.work.get("dp_calls", 0) for parse in parses],
        "nodes": [parse.work.get("nodes", 0) for parse in parses],
        "certified": [parse.certified for parse in parses],
    }
