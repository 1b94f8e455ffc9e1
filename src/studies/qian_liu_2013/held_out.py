"""Parses of a training set by models that have not seen the sentence: k folds, each kept as soon as it is done.

What a parser gets wrong on its own training data says little; what it gets wrong on held-out sentences is what factors
are made for. Consecutive sentences go to one fold, as they often come from one document.
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

BLOCK = 50  #: consecutive sentences of one fold


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Fold(Header):
    """The header of the heads of a fold."""

    key: str


FORMAT = Format("fold", 1, Fold, lambda _: {"heads": Layout(np.int32)})


def held_out(sentences: int, folds: int) -> list[np.ndarray]:
    """int64 sentence numbers of each fold: blocks of consecutive sentences, dealt out in turn."""
    fold = np.arange(sentences) // min(BLOCK, -(-sentences // folds)) % folds
    return [np.flatnonzero(fold == f) for f in range(folds)]


def crossvalidate(treebank: Treebank, spec: Settings, folds: int, folder: Path) -> np.ndarray:
    """int32[W] heads of every word, predicted by a model that was trained on the other folds.

    folder  keeps the heads of finished folds; a run that was killed goes on with the first fold that is missing
    Time: `folds` trainings. Memory: one model at a time.
    """
    heads = np.full(treebank.words, -1, np.int32)
    for f, test in enumerate(held_out(len(treebank), folds)):
        if not len(test):
            continue
        path = folder / f"fold-{f + 1}-of-{folds}.npz"
        key = _key(treebank, spec, folds, f)
        words = np.concatenate([np.arange(treebank.offsets[i], treebank.offsets[i + 1]) for i in test])
        found = _kept(path, key)
        if found is None:
            rest = np.setdiff1d(np.arange(len(treebank)), test)
            found = _parse_fold(treebank.select(rest), treebank.select(test), spec, f"fold {f + 1}/{folds}")
            FORMAT.save(path, {"key": key}, {"heads": found})
        heads[words] = found
    return heads


def _parse_fold(rest: Treebank, test: Treebank, spec: Settings, what: str) -> np.ndarray:
    """int32: heads of the words of `test` by a model of `rest`."""

    def progress(sentences: Iterable, phase: str) -> Iterable:
        stage.say(f"{rest.name} {what}: {phase}")
        return sentences

    pruner = train_pruner(rest, epochs=2, bits=min(spec.bits, 20), seed=spec.seed, progress=progress)
    # a few of the training sentences stand in for dev: the held-out ones must not choose the epoch
    few = rest.select(np.arange(min(50, len(rest))))
    model = train(spec, rest, few, pruner, progress=progress)
    parses = Parser(model, max_dp_calls=spec.max_dp_calls).parse(test, progress=progress)
    return np.concatenate([parse.heads[1:] for parse in parses])


def _kept(path: Path, key: str) -> np.ndarray | None:
    """Heads of a finished fold of this very run, else None."""
    try:
        header, arrays = FORMAT.load(path)
    except ModelError:
        return None
    return arrays["heads"] if header.key == key else None


def _key(treebank: Treebank, spec: Settings, folds: int, fold: int) -> str:
    """Identifies what a kept fold was computed from."""
    digest = hashlib.blake2b(repr((sorted(spec.as_dict().items()), folds, fold)).encode(), digest_size=16)
    for array in (treebank.head, treebank.offsets, *(treebank.columns[c] for c in sorted(treebank.columns))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
