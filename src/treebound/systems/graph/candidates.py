"""Candidate arcs of the sentences that a model is trained on.

A pruner is too confident about the sentences that it was trained on. A threshold would leave few candidate heads
beside the gold head, and a model trained on them would trust every unlikely arc that it sees (docs/decisions/020).
Training is therefore pruned by a threshold only with jackknifing: the pruner of a sentence was not trained on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.spool import Spool
from treebound.core.treebank import Treebank
from treebound.features.tokens import TokenTable
from treebound.learning.folds import fold_of
from treebound.learning.loop import Progress
from treebound.learning.pruner import Pruner, train_pruner
from treebound.systems.graph.settings import Settings


class Candidates:
    """The candidate arcs of every training sentence, stored as bits: bool[n + 1, n + 1], indexed head first.

    offsets  int64[S + 1], the offsets of the `Treebank`

    All sentences must be appended before the first one is read.
    """

    def __init__(self, offsets: np.ndarray):
        self.offsets = offsets
        self.first = np.concatenate([[0], np.cumsum(((np.diff(offsets) + 1) ** 2 + 7) // 8)])
        self.bits: np.ndarray | None = None
        self.spool = Spool(np.uint8)

    def append(self, allowed: np.ndarray) -> None:
        """Add the candidates of the next sentence."""
        self.spool.extend(np.packbits(allowed))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        if not 0 <= i < len(self):
            raise IndexError(i)
        if self.bits is None:
            self.bits = self.spool.array()
        (begin, end), (a, b) = self.offsets[i : i + 2].tolist(), self.first[i : i + 2].tolist()
        size = end - begin + 1
        return np.unpackbits(self.bits[a:b], count=size * size).view(np.bool_).reshape(size, size)


def pruner_for(
    settings: Settings, examples: Treebank, progress: Progress | None = None, sentences: np.ndarray | None = None
) -> Pruner:
    """Train a pruner with these settings on the `sentences` of the examples (indices; None uses all sentences)."""
    settings_of_pruner: dict[str, Any] = {"epochs": settings.pruner_epochs, "bits": int(settings.pruner_bits or 0)}
    return train_pruner(examples, **settings_of_pruner, seed=settings.seed, progress=progress, sentences=sentences)


def jackknifed(settings: Settings, train: Treebank, progress: Progress | None = None) -> list[Pruner]:
    """Train a pruner for each fold of `treebound.learning.folds.fold_of` on all other folds.

    Raises InputError for a treebank with fewer sentences than folds.
    """
    folds = int(settings.pruner_folds or 0)
    if folds > len(train):
        raise InputError(
            f"{len(train)} sentences cannot be divided into {folds} folds", hint="train with fewer --pruner-folds"
        )
    member, pruners = fold_of(len(train), folds), []
    for fold in range(folds):
        others = np.flatnonzero(member != fold)
        titled = progress and _with_prefix(progress, f"fold {fold + 1}/{folds}, ")
        pruners.append(pruner_for(settings, train, titled, others))
    return pruners


def _with_prefix(progress: Progress, prefix: str) -> Progress:
    """Return a progress display whose titles begin with a prefix."""
    return lambda items, title: progress(items, prefix + title)


def candidates(
    settings: Settings,
    train: Treebank,
    table: TokenTable,
    gold: Sequence[np.ndarray],
    pruner: Pruner,
    progress: Progress | None = None,
) -> Candidates:
    """Return the candidate arcs of every training sentence: the arcs that the pruner keeps, and the gold arcs.

    A word whose gold head is below the threshold keeps all k heads. Otherwise the model would learn that an unlikely
    candidate is usually the gold head.

    table   the tokens of `train`
    gold    int32[n + 1] gold heads of each sentence
    pruner  the pruner of the model. It is used unless `pruner_folds` asks for one pruner per fold
    """
    folds, k = int(settings.pruner_folds or 0), settings.k
    pruners = jackknifed(settings, train, progress) if folds else [pruner]
    threshold = float(settings.threshold or 0) if folds else 0.0
    member = fold_of(len(train), folds) if folds else np.zeros(len(train), np.int64)
    sentences = range(len(train))
    result = Candidates(train.offsets)
    for i in progress(sentences, "candidate heads") if progress else sentences:
        fold_pruner, (rows, tag) = pruners[member[i]], table.sentence(i)
        allowed = fold_pruner.allowed(rows, tag, k, threshold)
        gold_arcs = gold[i][1:], np.arange(1, len(tag))
        if threshold and not allowed[gold_arcs].all():
            lost = 1 + np.flatnonzero(~allowed[gold_arcs])
            allowed[:, lost] = fold_pruner.allowed(rows, tag, k)[:, lost]
        allowed[gold_arcs] = True
        result.append(allowed)
    return result
