"""Training and parsing of the systems that the pipeline compares: one module for each.

A module is imported when a model asks for its system. A new system is a module here, a line of `params.SYSTEMS` and a
model in params.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from studies.common.params import SYSTEMS, Params, Row
from treebound.core.treebank import Treebank


@dataclass(frozen=True)
class Trees:
    """Trees that a system predicts for some sentences.

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

    parse  the function that is timed: from a treebank to the system's own result
    trees  from a treebank and that result to the trees that are reported
    work   from that result to name -> one number a sentence: seconds, dp_calls, nodes, certified; empty: not known
    """

    parse: Callable[[Treebank], Any]
    trees: Callable[[Treebank, Any], Trees]
    work: Callable[[Any], dict[str, list[float]]]


class Trainer(Protocol):
    """The functions of a module here."""

    def train(self, params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
        """Train a model and write it to `path`; its metrics (the same in every run) and its seconds."""

    def load(self, params: Params, corpus: str, row: Row, path: Path) -> Loaded:
        """Load the model of a row, with the row's way to parse."""


def trainer(system: str) -> Trainer:
    """The module that trains a system and parses with it."""
    return cast("Trainer", import_module(f"{__name__}.{SYSTEMS[system]}"))
