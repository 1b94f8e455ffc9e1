"""Training of parsers that sample, on the same splits and tags as the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from treebound.experiments.params import Params, Row
from treebound.experiments.rooms import by_settings
from treebound.systems.sampling.system import SamplingSystem


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train the model of a row; its history. A run that was killed goes on at its last epoch."""
    settings = replace(params.sampling[row.model], seed=params.tags_and_seed(corpus, row)[1])
    return by_settings.learn(SamplingSystem(), settings, params, corpus, row, path)[1:]
