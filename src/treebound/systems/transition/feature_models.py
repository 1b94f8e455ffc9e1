"""Feature models as data: reading, checking and compiling `feature_models.toml` or a file of one's own like it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.support import tomlfile
from treebound.support.settings import SettingError
from treebound.systems.transition.configuration import HEAD, LEFT, LEFT2, RIGHT, RIGHT2
from treebound.systems.transition.extraction import COLUMNS, DEPTH, DISTANCE, FUNCTIONS, Cells

ORIGINS = ("paper", "ours")
KEYS = ("paper", "extends", "cells", "joins")
_STEPS = {"h": HEAD, "l": LEFT, "l2": LEFT2, "r": RIGHT, "r2": RIGHT2}
AUTO = "auto"  #: the name that stands for the model that the attributes of a training choose
PLAIN, RICH = "zhang-nivre-coarse", "zhang-nivre-morphology"  #: the models from which `AUTO` chooses
ATTRIBUTES = {"feats": "f", "lemma": "m"}  #: attributes of a training, and the functions that read them
_ADDRESS = re.compile(r"((?:(?:h|l2?|r2?)\()*)([st])(\d)(\)*)")


@dataclass(frozen=True)
class FeatureModel:
    """What a classifier sees of a configuration.

    cells    `function address [address]`, one for each column of an instance
    joins    cells that linear classifiers see together, by number
    origins  `paper` or `ours`, for every cell
    """

    cells: tuple[str, ...]
    joins: tuple[tuple[int, ...], ...] = ()
    origins: tuple[str, ...] = ()

    def compiled(self) -> Cells:
        """What the kernels read. ValueError for a cell that is none."""
        parsed = [_parse(cell) for cell in self.cells]
        m = len(parsed)
        function = np.array([p[0] for p in parsed], np.int32).reshape(m)
        place = np.zeros((m, 2), np.int32)
        path = np.full((m, 2, DEPTH), -1, np.int32)
        for i, (_, addresses) in enumerate(parsed):
            for j, (where, steps) in enumerate(addresses):
                place[i, j] = where
                path[i, j, : len(steps)] = steps
        return Cells(function, place, path)

    def columns(self) -> tuple[int, ...]:
        """The columns of tokens (w, p, c, m, f) that some cell asks for."""
        return tuple(sorted({f for cell in self.cells if (f := _parse(cell)[0]) < COLUMNS}))

    def without(self, functions: Collection[str]) -> FeatureModel:
        """Return the model without the cells of these functions, and without the joins that contain such a cell."""
        kept = [i for i, cell in enumerate(self.cells) if cell.split()[0] not in functions]
        place = {old: new for new, old in enumerate(kept)}
        joins = tuple(tuple(place[i] for i in join) for join in self.joins if place.keys() >= set(join))
        return FeatureModel(tuple(self.cells[i] for i in kept), joins, tuple(self.origins[i] for i in kept))


def _parse(cell: str) -> tuple[int, list[tuple[int, list[int]]]]:
    """(number of the function, (place, steps) of its addresses) of one cell; ValueError says what is wrong."""
    function, *addresses = cell.split() or [""]
    if function not in FUNCTIONS:
        raise ValueError(f"unknown function {function!r}, expected one of {', '.join(FUNCTIONS)}")
    number = FUNCTIONS.index(function)
    wanted = 2 if number == DISTANCE else 1
    if len(addresses) != wanted:
        raise ValueError(f"{function} takes {wanted} address{'es' * (wanted > 1)}, not {len(addresses)}")
    return number, [_address(text) for text in addresses]


def _address(text: str) -> tuple[int, list[int]]:
    """(stack: depth, buffer: -1 - position; rows of the configuration to follow) of one address."""
    match = _ADDRESS.fullmatch(text)
    steps = re.findall(r"\w+", match[1])[::-1] if match else []
    if match is None or len(steps) != len(match[4]):
        raise ValueError(f"{text!r} is no address; write s0, t1, h(s0), l(r(t0))")
    if len(steps) > DEPTH:
        raise ValueError(f"{text!r} has more than {DEPTH} steps")
    index = int(match[3])
    return (index if match[2] == "s" else -1 - index), [_STEPS[step] for step in steps]


def load_models(path: str | Path | None = None) -> dict[str, FeatureModel]:
    """The models of a file by name, of our own file by default. InputError names file, line and reason."""
    source = Path(path or str(files("treebound.systems.transition") / "feature_models.toml"))
    try:
        text = tomlfile.text(source)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=source, hint="check the name") from None
    models: dict[str, FeatureModel] = {}
    for name, table in tomlfile.parse(text, source).items():
        try:
            models[name] = _model(table, models)
        except _RowError as error:
            raise InputError(error.reason, path=source, line=_line(text, name, error.row)) from None
    if not models:
        raise InputError("no feature model in it", path=source, hint="write a table [name] with cells")
    return models


def chosen_model(name: str, attributes: Collection[str] = ()) -> FeatureModel:
    """Return one of our models, the last model of a file, or for `auto` the model that the attributes choose.

    attributes  those of the training treebank's meta; only `auto` depends on them, and only on feats and lemma
    Raises InputError where there is no such model.
    """
    ours = load_models()
    if name == AUTO:
        unseen = {function for attribute, function in ATTRIBUTES.items() if attribute not in attributes}
        return ours[RICH].without(unseen) if len(unseen) < len(ATTRIBUTES) else ours[PLAIN]
    if name in ours:
        return ours[name]
    if not Path(name).is_file():
        raise SettingError(
            "features", f"no feature model {name!r}", f"name a file, or one of {', '.join((*ours, AUTO))}"
        )
    return list(load_models(name).values())[-1]


class _RowError(Exception):
    """What is wrong, and the row or key where it is."""

    def __init__(self, reason: str, row: str = ""):
        self.reason, self.row = reason, row


def _model(table: Any, above: dict[str, FeatureModel]) -> FeatureModel:
    """A model from its table."""
    if not isinstance(table, dict):
        raise _RowError("not a table; write [name] above its cells")
    for key, value in table.items():
        if key not in KEYS:
            raise _RowError(f"unknown key {key!r}, expected one of {', '.join(KEYS)}", key)
        if not isinstance(value, str):
            raise _RowError(f"{key} is not a string", key)
    base = FeatureModel(())
    if (parent := table.get("extends")) is not None:
        if parent not in above:
            raise _RowError(f"extends {parent!r}, which is no model above", "extends")
        base = above[parent]
    cells, origins, joins = list(base.cells), list(base.origins), list(base.joins)
    for row, content, origin in _rows(table.get("cells", "")):
        try:
            _parse(content)
        except ValueError as error:
            raise _RowError(str(error), row) from None
        if content in cells:
            raise _RowError(f"cell {content!r} stands there twice", row)
        cells.append(content)
        origins.append(origin)
    for row, content, _ in _rows(table.get("joins", "")):
        parts = [part.strip() for part in content.split("+")]
        unknown = [part for part in parts if part not in cells]
        if unknown or len(set(parts)) < max(2, len(parts)):
            raise _RowError(f"{unknown[0]!r} is no cell of the model" if unknown else "joins two or more cells", row)
        join = tuple(cells.index(part) for part in parts)
        if join in joins:
            raise _RowError(f"join {content!r} stands there twice", row)
        joins.append(join)
    if not cells:
        raise _RowError("a model without cells")
    return FeatureModel(tuple(cells), tuple(joins), tuple(origins))


def _rows(block: str) -> list[tuple[str, str, str]]:
    """(row, what stands before the origin, origin) of every row that is not empty."""
    out = []
    for row in filter(None, map(str.strip, block.splitlines())):
        *content, origin = row.split()
        if origin not in ORIGINS:
            raise _RowError(f"a row ends in {' or '.join(ORIGINS)}, not in {origin!r}", row)
        out.append((row, " ".join(content), origin))
    return out


def _line(text: str, name: str, row: str) -> int | None:
    """The line (from 1) of the last row of a table that begins so; of the table itself where there is none."""
    found, inside = None, False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            inside = line.strip("[] \"'") == name
            found = number if inside else found
        elif inside and row and line.startswith(row):
            found = number
    return found
