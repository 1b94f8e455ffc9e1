"""Feature models as data: reading, checking and compiling `feature_models.toml` or a similar file of the user."""

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
AUTO = "auto"  #: the name that lets the attributes of the training treebank choose the model
PLAIN, RICH = "zhang-nivre-coarse", "zhang-nivre-morphology"  #: the models from which `AUTO` chooses
ATTRIBUTES = {"feats": "f", "lemma": "m"}  #: attributes of words -> the functions that read them
_ADDRESS = re.compile(r"((?:(?:h|l2?|r2?)\()*)([st])(\d)(\)*)")


@dataclass(frozen=True)
class FeatureModel:
    """The features that a classifier reads from a configuration.

    cells    `function address [address]`, one for each column of an instance
    joins    groups of cells that linear classifiers combine into one feature, by the numbers of the cells
    origins  `paper` or `ours`, for every cell
    """

    cells: tuple[str, ...]
    joins: tuple[tuple[int, ...], ...] = ()
    origins: tuple[str, ...] = ()

    def compiled(self) -> Cells:
        """Return the cells in the form that the kernels read. ValueError for a malformed cell."""
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
        """Return the columns of tokens (w, p, c, m, f) that some cell reads."""
        return tuple(sorted({f for cell in self.cells if (f := _parse(cell)[0]) < COLUMNS}))

    def without(self, functions: Collection[str]) -> FeatureModel:
        """Return the model without the cells of some functions, and without the joins that contain such a cell."""
        indices = [i for i, cell in enumerate(self.cells) if cell.split()[0] not in functions]
        place = {old: new for new, old in enumerate(indices)}
        joins = tuple(tuple(place[i] for i in join) for join in self.joins if place.keys() >= set(join))
        return FeatureModel(tuple(self.cells[i] for i in indices), joins, tuple(self.origins[i] for i in indices))


def _parse(cell: str) -> tuple[int, list[tuple[int, list[int]]]]:
    """Return (number of the function, [(place, steps) of each address]) of a cell.

    Raises ValueError for a malformed cell.
    """
    function, *addresses = cell.split() or [""]
    if function not in FUNCTIONS:
        raise ValueError(f"unknown function {function!r}, expected one of {', '.join(FUNCTIONS)}")
    number = FUNCTIONS.index(function)
    expected = 2 if number == DISTANCE else 1
    if len(addresses) != expected:
        raise ValueError(f"{function} takes {expected} address{'es' * (expected > 1)}, not {len(addresses)}")
    return number, [_address(text) for text in addresses]


def _address(text: str) -> tuple[int, list[int]]:
    """Return (word at which an address begins, rows of the configuration that the address follows from this word).

    The word is its depth in the stack, or -1 - its position in the buffer.
    """
    match = _ADDRESS.fullmatch(text)
    steps = re.findall(r"\w+", match[1])[::-1] if match else []
    if match is None or len(steps) != len(match[4]):
        raise ValueError(f"{text!r} is no address; write for instance s0, t1, h(s0) or l(r(t0))")
    if len(steps) > DEPTH:
        raise ValueError(f"{text!r} has more than {DEPTH} steps")
    index = int(match[3])
    return (index if match[2] == "s" else -1 - index), [_STEPS[step] for step in steps]


def load_models(path: str | Path | None = None) -> dict[str, FeatureModel]:
    """Read the feature models of a file, by name; the default is the file of this package.

    InputError names file, line and reason.
    """
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
        raise InputError("the file has no feature model", path=source, hint="write a table [name] with cells")
    return models


def chosen_model(name: str, attributes: Collection[str] = ()) -> FeatureModel:
    """Return the feature model that `name` denotes: a model of this package, or the last model of a file.

    The name `auto` denotes the model of this package that suits the attributes.

    attributes  attributes in the meta of the training treebank. Only the choice of `auto` depends on the attributes,
                and only on feats and lemma

    Raises InputError if there is no feature model of this name.
    """
    shipped = load_models()
    if name == AUTO:
        unseen = {function for attribute, function in ATTRIBUTES.items() if attribute not in attributes}
        return shipped[RICH].without(unseen) if len(unseen) < len(ATTRIBUTES) else shipped[PLAIN]
    if name in shipped:
        return shipped[name]
    if not Path(name).is_file():
        raise SettingError(
            "features", f"no feature model {name!r}", f"name a file, or one of {', '.join((*shipped, AUTO))}"
        )
    return list(load_models(name).values())[-1]


class _RowError(Exception):
    """An error in a feature model, with its reason and the row or key that causes it."""

    def __init__(self, reason: str, row: str = ""):
        self.reason, self.row = reason, row


def _model(table: Any, earlier: dict[str, FeatureModel]) -> FeatureModel:
    """Return the feature model of a table, which may extend a model above it in the file."""
    if not isinstance(table, dict):
        raise _RowError("not a table; write [name] above its cells")
    for key, value in table.items():
        if key not in KEYS:
            raise _RowError(f"unknown key {key!r}, expected one of {', '.join(KEYS)}", key)
        if not isinstance(value, str):
            raise _RowError(f"{key} is not a string", key)
    base = FeatureModel(())
    if (parent := table.get("extends")) is not None:
        if parent not in earlier:
            raise _RowError(f"extends {parent!r}, but no model above has this name", "extends")
        base = earlier[parent]
    cells, origins, joins = list(base.cells), list(base.origins), list(base.joins)
    for row, content, origin in _rows(table.get("cells", "")):
        try:
            _parse(content)
        except ValueError as error:
            raise _RowError(str(error), row) from None
        if content in cells:
            raise _RowError(f"cell {content!r} occurs twice", row)
        cells.append(content)
        origins.append(origin)
    for row, content, _ in _rows(table.get("joins", "")):
        parts = [part.strip() for part in content.split("+")]
        unknown = [part for part in parts if part not in cells]
        if unknown or len(set(parts)) < max(2, len(parts)):
            raise _RowError(
                f"{unknown[0]!r} is no cell of the model" if unknown else "a join needs two or more different cells",
                row,
            )
        join = tuple(cells.index(part) for part in parts)
        if join in joins:
            raise _RowError(f"join {content!r} occurs twice", row)
        joins.append(join)
    if not cells:
        raise _RowError("the model has no cells")
    return FeatureModel(tuple(cells), tuple(joins), tuple(origins))


def _rows(block: str) -> list[tuple[str, str, str]]:
    """Return (row, row without its last word, last word) of every non-empty row; the last word names the origin."""
    out = []
    for row in filter(None, map(str.strip, block.splitlines())):
        *content, origin = row.split()
        if origin not in ORIGINS:
            raise _RowError(f"a row must end in {' or '.join(ORIGINS)}, not in {origin!r}", row)
        out.append((row, " ".join(content), origin))
    return out


def _line(text: str, name: str, row: str) -> int | None:
    """Return the line (from 1) of the last row of a table that begins with `row`, or of the table itself."""
    position, inside = None, False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            inside = line.strip("[] \"'") == name
            position = number if inside else position
        elif inside and row and line.startswith(row):
            position = number
    return position
