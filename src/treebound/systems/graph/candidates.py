"""Candidate arcs of the sentences that a model is trained on.

Of a sentence that it was trained on a pruner is too sure: a threshold would leave few heads beside the right one, and
a model that learns from them trusts every unlikely arc that it sees (docs/decisions/020). So a threshold prunes
training only where each sentence's heads come from a pruner that has not seen it (jackknifing).
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
    """The candidate arcs of every training sentence, bool[n + 1, n + 1] with the head first; stored as bits.

    offsets  int64[S + 1] as of `Treebank`. All sentences are appended before the first one is read
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
    """The pruner that these settings ask for, trained on some `sentences` of the examples; None for all."""
    how: dict[str, Any] = {"epochs": settings.pruner_epochs, "bits": int(settings.pruner_bits or 0)}
    return train_pruner(examples, **how, seed=settings.seed, progress=progress, sentences=sentences)


def jackknifed(settings: Settings, train: Treebank, progress: Progress | None = None) -> list[Pruner]:
    """The pruner of each fold of `treebound.learning.folds.fold_of`, trained on all others.

    InputError for a treebank with fewer sentences than folds.
    """
    folds = int(settings.pruner_folds or 0)
    if folds > len(train):
        raise InputError(f"{folds} folds of {len(train)} sentences", hint="train with fewer --pruner-folds")
    member, pruners = fold_of(len(train), folds), []
    for fold in range(folds):
        others = np.flatnonzero(member != fold)
        shown = progress and _told(progress, f"fold {fold + 1}/{folds}, ")
        pruners.append(pruner_for(settings, train, shown, others))
    return pruners


def _told(progress: Progress, before: str) -> Progress:
    return lambda items, what: progress(items, before + what)


def candidates(
    settings: Settings,
    train: Treebank,
    table: TokenTable,
    gold: Sequence[np.ndarray],
    pruner: Pruner,
    progress: Progress | None = None,
) -> Candidates:
    """bool[n + 1, n + 1] (head first) of every training sentence: what the pruner keeps, and the gold arcs.

    A word whose gold head is below the threshold keeps all k heads, so that unlikely arcs are not gold as a rule.

    table   of `train`; gold: int32[n + 1] heads of each sentence
    pruner  of the model; with `pruner_folds` those of the folds take its place here
    """
    folds, k = int(settings.pruner_folds or 0), settings.k
    pruners = jackknifed(settings, train, progress) if folds else [pruner]
    threshold = float(settings.threshold or 0) if folds else 0.0
    member = fold_of(len(train), folds) if folds else np.zeros(len(train), np.int64)
    sentences = range(len(train))
    out = Candidates(train.offsets)
    for i in progress(sentences, "candidate heads") if progress else sentences:
        own, (rows, tag) = pruners[member[i]], table.sentence(i)
        allowed = own.allowed(rows, tag, k, threshold)
        right = gold[i][1:], np.arange(1, len(tag))
        if threshold and not allowed[right].all():
            lost = 1 + np.flatnonzero(~allowed[right])
            allowed[:, lost] = own.allowed(rows, tag, k)[:, lost]
        allowed[right] = True
        out.append(allowed)
    return out
