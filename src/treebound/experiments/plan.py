"""Which stages the rows of params.yaml make: written to stages.yaml, which dvc.yaml goes through.

    python -m treebound.experiments.plan   # after rows, corpora or tags were changed; `make reproduce` does it itself

Rows that parse with the same model share its stage. A stage is named by its corpus and its row or model, so that a new
row renames none.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import InputError, TreeboundError
from treebound.experiments.params import ROOMS, Params, Row, load
from treebound.support.atomic import replacing

PLAN = Path("stages.yaml")
MODELS = Path("results/models")
OURS = "graph"  #: the room whose models lie beside the pruner that they are trained with
_HEAD = "# Written by python -m treebound.experiments.plan: the stages that the rows of params.yaml make.\n"


def model_name(params: Params, corpus: str, row: Row) -> str:
    """What a row parses with: `combined.mira`, `udpipe`; `combined.mira.gold.seed2` where tags or seed are its own."""
    name = f"{row.model}.{row.learner}" if ROOMS[row.system] == OURS else row.model or row.system
    return name + _variant(params, corpus, row)


def model_file(params: Params, corpus: str, row: Row) -> Path:
    """Where the model of a row lies."""
    room, kind = ROOMS[row.system], "npz" if row.model else "model"
    folder = MODELS / corpus if room == OURS else MODELS / room / corpus
    if not params.plain(corpus, row):
        folder = MODELS / "variants" / corpus
    return folder / f"{model_name(params, corpus, row)}.{kind}"


def pruner_file(params: Params, corpus: str, row: Row) -> Path:
    """Where the pruner lies that the model of a row is trained with: with its tags and its seed."""
    return model_file(params, corpus, row).with_name(f"pruner{_variant(params, corpus, row)}.npz")


def _variant(params: Params, corpus: str, row: Row) -> str:
    tags, seed = params.tags_and_seed(corpus, row)
    return "" if params.plain(corpus, row) else f".{tags}.seed{seed}"


def ccg_file(name: str) -> Path:
    """Where a CCG parser lies, by its name under `ccg: parsers:`."""
    return MODELS / "ccg" / f"{name}.npz"


def _ccg_stages(params: Params) -> dict[str, Any]:
    """What the stages of each CCG parser read; `more`: further derivations to learn from, or its own again."""
    return {
        name: {
            "name": name,
            "file": str(ccg_file(name)),
            "data": f"data/ccg/{parser.corpus}",
            "more": f"data/ccg/{parser.more or parser.corpus}/train.auto",
        }
        for name, parser in params.ccg.parsers.items()
    }


def planned(params: Params) -> dict[str, Any]:
    """For each kind of stage and each room its stages by name, with what dvc.yaml wants to know of them."""
    rooms = list(dict.fromkeys(ROOMS.values()))
    pruner: dict[str, Any] = {}
    train: dict[str, dict[str, Any]] = {room: {} for room in rooms}
    decode: dict[str, dict[str, Any]] = {room: {} for room in rooms}
    benchmark: dict[str, list[str]] = {room: [] for room in rooms}
    for corpus in params.corpora:
        for row in params.rows_of(corpus):
            room, name = ROOMS[row.system], model_name(params, corpus, row)
            model: dict[str, Any] = {"corpus": corpus, "name": name, "file": str(model_file(params, corpus, row))}
            if room == OURS:
                tags, seed = params.tags_and_seed(corpus, row)
                at = str(pruner_file(params, corpus, row))
                made = {"corpus": corpus, "tags": tags, "seed": seed, "file": at, "name": Path(at).stem}
                pruner[corpus + _variant(params, corpus, row)] = made
                model |= {"model": row.model, "pruner": at}
            elif row.model:
                model |= {"model": row.model}
            train[room][f"{corpus}-{name}"] = model | {"system": row.system}
            decode[room][f"{corpus}-{row}"] = model | {"system": row.system, "row": row.name, "decoder": row.decoder}
            if row.benchmarked and corpus not in benchmark[room]:
                benchmark[room].append(corpus)
    classified = {"classifiers": params.classifiers.corpora, "classifier_search": params.classifier_search.corpora}
    classified["tag_correction"] = params.tag_correction.corpora
    others = (*params.cross_validation.corpora, *(corpus for some in classified.values() for corpus in some))
    corpora = list(dict.fromkeys((*params.corpora, *others)))
    fetched = list(dict.fromkeys((*corpora, *params.ccg.derivations)))
    stages = {"fetched": fetched, "corpora": corpora, "pruner": pruner, "train": train, "decode": decode}
    stages |= {"benchmark": benchmark, "derivations": list(params.ccg.derivations), "ccg": _ccg_stages(params)}
    for stage, some in classified.items():  # what they read: tagged corpora depend on converted ones
        places = {"predicted": "data/tagged", "gold": "data/converted"}
        stages[stage] = {c: {"corpus": c, "data": f"{places[params.tags_of(c)]}/{c}"} for c in some}
    return {"stages": stages}


def text(params: Params) -> str:
    """The file for these parameters."""
    return _HEAD + yaml.safe_dump(planned(params), sort_keys=False, width=120)


def update(folder: Path = Path()) -> None:
    """Write the stages of the params.yaml in a folder, if they have changed."""
    new, path = text(load(folder / "params.yaml")), folder / PLAN
    if not path.is_file() or path.read_text(encoding="utf-8") != new:
        with replacing(path) as file:
            file.write(new.encode())


def check(params: Params) -> None:
    """InputError where the stages were written for other rows than these."""
    if PLAN.is_file() and PLAN.read_text(encoding="utf-8") != text(params):
        raise InputError("older than params.yaml", path=PLAN, hint="run: python -m treebound.experiments.plan")


if __name__ == "__main__":
    try:
        update()
    except TreeboundError as error:
        sys.exit(f"error: {error}")
