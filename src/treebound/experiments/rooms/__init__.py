"""How the stages train and run what is in `systems`: two modules here for each of its rooms.

They are imported when a row asks for their system, and not before, so that no stage depends on another's room. A new
system is a line of `params.ROOMS`, these two modules, rows in params.yaml and three stages in dvc.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from treebound.core.treebank import Treebank
from treebound.experiments.params import ROOMS, Params, Row


@dataclass(frozen=True)
class Trees:
    """What a system found for some sentences.

    heads    int32[n + 1] of each; labels: n names of each, None where the system gives none
    columns  name -> one value a sentence, for the file of predictions
    facts    figures of the whole, for the metrics beside accuracy
    """

    heads: Sequence[np.ndarray]
    labels: Sequence[Sequence[str]] | None
    columns: dict[str, Sequence] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Loaded(NamedTuple):
    """A trained system.

    parse  what is timed: a treebank in, whatever the system finds out
    trees  (treebank, what was found) -> what is reported of it
    work   what was found -> name -> one number a sentence: seconds, dp_calls, nodes, certified; nothing: not known
    """

    parse: Callable[[Treebank], Any]
    trees: Callable[[Treebank, Any], Trees]
    work: Callable[[Any], dict[str, list[float]]]


class Training(Protocol):
    """What `train_<room>` has."""

    def train(self, params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
        """Train what a row parses with and write it to `path`; its metrics (the same in every run) and its seconds."""


class Parsing(Protocol):
    """What `parse_<room>` has."""

    def load(self, params: Params, corpus: str, row: Row, path: Path) -> Loaded:
        """What was trained, with the row's decoder."""


def training(system: str) -> Training:
    """The module that trains a system."""
    return cast("Training", import_module(f"{__name__}.train_{ROOMS[system]}"))


def parsing(system: str) -> Parsing:
    """The module that parses with a system."""
    return cast("Parsing", import_module(f"{__name__}.parse_{ROOMS[system]}"))
