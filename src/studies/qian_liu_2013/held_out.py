"""Parse a training set by cross-validation, with models that have not seen the parsed sentences.

The errors of a parser on its own training data say little. Its errors on held-out sentences show which factors could
improve it. Consecutive sentences go to one fold, because they often come from one document. Each fold is stored as soon
as it is finished.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from studies.common import stage
from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.learning.pruner import train_pruner
from treebound.learning.storage import Format, Header, Layout
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

BLOCK = 50  #: number of consecutive sentences that go to one fold


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Fold(Header):
    """The header of a file that stores the predicted heads of one fold."""

    key: str


FORMAT = Format("fold", 1, Fold, lambda _: {"heads": Layout(np.int32)})


def held_out(sentences: int, folds: int) -> list[np.ndarray]:
    """Return the int64 sentence numbers of each fold: blocks of consecutive sentences, assigned to folds in turn."""
    fold = np.arange(sentences) // min(BLOCK, -(-sentences // folds)) % folds
    return [np.flatnonzero(fold == f) for f in range(folds)]


def crossvalidate(treebank: Treebank, spec: Settings, folds: int, folder: Path) -> np.ndarray:
    """Return int32[W] predicted heads of all words, each from a model trained on the other folds.

    folder  folder that stores the heads of finished folds; an interrupted run continues with the first missing fold

    Time: `folds` trainings. Memory: one model at a time.
    """
    heads = np.full(treebank.words, -1, np.int32)
    for f, test in enumerate(held_out(len(treebank), folds)):
        if not len(test):
            continue
        path = folder / f"fold-{f + 1}-of-{folds}.npz"
        key = _key(treebank, spec, folds, f)
        words = np.concatenate([np.arange(treebank.offsets[i], treebank.offsets[i + 1]) for i in test])
        fold_heads = _stored_heads(path, key)
        if fold_heads is None:
            training = np.setdiff1d(np.arange(len(treebank)), test)
            fold_heads = _parse_fold(treebank.select(training), treebank.select(test), spec, f"fold {f + 1}/{folds}")
            FORMAT.save(path, {"key": key}, {"heads": fold_heads})
        heads[words] = fold_heads
    return heads


def _parse_fold(training: Treebank, test: Treebank, spec: Settings, label: str) -> np.ndarray:
    """Return int32 heads of the words of `test`, predicted by a model that is trained on `training`."""

    def progress(sentences: Iterable, phase: str) -> Iterable:
        stage.say(f"{training.name} {label}: {phase}")
        return sentences

    pruner = train_pruner(training, epochs=2, bits=min(spec.bits, 20), seed=spec.seed, progress=progress)
    # training sentences replace the development set: the held-out sentences must not choose the epoch
    dev = training.select(np.arange(min(50, len(training))))
    model = train(spec, training, dev, pruner, progress=progress)
    parses = Parser(model, max_dp_calls=spec.max_dp_calls).parse(test, progress=progress)
    return np.concatenate([parse.heads[1:] for parse in parses])


def _stored_heads(path: Path, key: str) -> np.ndarray | None:
    """Return the stored heads of a finished fold with this key, or None if there are none."""
    try:
        header, arrays = FORMAT.load(path)
    except ModelError:
        return None
    return arrays["heads"] if header.key == key else None


def _key(treebank: Treebank, spec: Settings, folds: int, fold: int) -> str:
    """Return a digest of everything that the heads of a fold depend on: treebank, settings and fold."""
    digest = hashlib.blake2b(repr((sorted(spec.as_dict().items()), folds, fold)).encode(), digest_size=16)
    for array in (treebank.head, treebank.offsets, *(treebank.columns[c] for c in sorted(treebank.columns))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
