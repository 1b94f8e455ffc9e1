"""Load the folds of a corpus whose split is every-tenth: sentence i belongs to fold i % 10.

Fold 1 is the development set and is left out. Each of the other nine folds is parsed by a model that is trained on the
remaining eight.
"""

from __future__ import annotations

import json

import numpy as np

from studies.common import stage
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.treebanks import storage

REPORT = "conversion.json"  #: name of the report that `treebanks.convert` writes for a corpus


def load(corpus: str, fold: int, limit: int | None = None) -> tuple[Treebank, Treebank]:
    """Return the training data for a fold (the other folds) and the fold itself.

    limit  take only the first `limit` training sentences and the first `limit` / 4 sentences of the fold

    Raises InputError for a corpus that is missing or damaged, or whose sentence numbers do not determine the folds.
    """
    folder = stage.CONVERTED / corpus
    train, test = (storage.load(folder / f"{split}.npz") for split in ("train", "test"))
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    if report["meta"]["split"] != "every-tenth" or report["splits"]["train"]["dropped"]:
        raise InputError(
            f"{corpus}: the split is not every-tenth", hint="choose a corpus whose folds follow from sentence numbers"
        )
    train, held_out = divide(train, test, fold)
    if limit is None:
        return train, held_out
    return first(train, limit), first(held_out, max(1, limit // 4))


def first(treebank: Treebank, count: int) -> Treebank:
    """Return the first `count` sentences of a treebank."""
    return treebank.select(np.arange(min(count, len(treebank))))


def divide(train: Treebank, test: Treebank, fold: int) -> tuple[Treebank, Treebank]:
    """Divide an every-tenth corpus without its development set: return the training data for a fold, and the fold.

    Fold 0 is the test set. Training sentence k is sentence 10 (k // 8) + 2 + k % 8 of the corpus, provided that no
    sentence was dropped.
    """
    if fold == 0:
        return train, test
    in_fold = of_split(len(train), fold)
    return joined(train.select(np.flatnonzero(~in_fold)), test), train.select(np.flatnonzero(in_fold))


def of_split(count: int, fold: int) -> np.ndarray:
    """Return bool[count]: the sentences of the split that belong to a fold.

    The split is test for fold 0, where all sentences belong to the fold, and train for the other folds.
    """
    return 2 + np.arange(count) % 8 == fold if fold else np.ones(count, np.bool_)


def joined(a: Treebank, b: Treebank) -> Treebank:
    """Concatenate two treebanks and renumber their strings."""
    columns, vocab = {}, {}
    for name in a.columns:
        vocabulary = type(a.vocab[name])(a.vocab[name].strings)
        number = np.array([vocabulary.add(s) for s in b.vocab[name].strings], a.columns[name].dtype)
        columns[name] = np.concatenate([a.columns[name], number[b.columns[name]]])
        vocab[name] = vocabulary
    offsets = np.concatenate([a.offsets, a.offsets[-1] + b.offsets[1:]])
    return Treebank(a.name, offsets, columns, vocab, np.concatenate([a.head, b.head]), a.meta)
