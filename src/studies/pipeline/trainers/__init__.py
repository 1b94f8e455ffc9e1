"""Train and apply the systems that the pipeline compares: one module for each system.

A module is imported when a model requests its system. To add a system, add a module here, a line of `params.SYSTEMS`,
and a model in params.yaml.
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

    heads    int32[n + 1] for each sentence
    labels   n names for each sentence; None if the system predicts no labels
    columns  name of a column of the file of predictions -> list of one value per sentence
    facts    values about all sentences together, which become metrics in addition to the accuracy
    """

    heads: Sequence[np.ndarray]
    labels: Sequence[Sequence[str]] | None
    columns: dict[str, Sequence] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Loaded(NamedTuple):
    """A trained system, ready to parse.

    - parse: the timed function, from a treebank to the system's own result.
    - trees: function from a treebank and the result to the trees that are reported.
    - work: function from the result to a dictionary with the keys seconds, dp_calls, nodes and certified. Each value is
      a list of one number per sentence. The dictionary is empty if the system does not report these numbers.
    """

    parse: Callable[[Treebank], Any]
    trees: Callable[[Treebank, Any], Trees]
    work: Callable[[Any], dict[str, list[float]]]


class Trainer(Protocol):
    """The functions that each module of this package defines."""

    def train(self, params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
        """Train a model and write it to `path`; return its metrics (the same in every run) and its times in seconds."""

    def load(self, params: Params, corpus: str, row: Row, path: Path) -> Loaded:
        """Load the model of a row, with the settings of the row for parsing."""


def trainer(system: str) -> Trainer:
    """Return the module that trains a system and parses with it."""
    return cast("Trainer", import_module(f"{__name__}.{SYSTEMS[system]}"))
