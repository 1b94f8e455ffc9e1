"""Jackknifing: predict columns of a training set so that every sentence is tagged by a model that has not seen it.

A parser that is trained on predicted columns meets the same kinds of errors as in new text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.folds import FOLDS, fold_of
from treebound.learning.storage import Format, Header, Layout
from treebound.support.workers import spread
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.several import train_taggers
from treebound.systems.tagging.tagger import with_tags

#: column -> (its values, int32 index of each word's value) of a fold
Tagged = dict[str, tuple[list[str], np.ndarray]]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Fold(Header):
    """The header of a file with the predicted columns of one fold. `tags` are the values of each column."""

    key: str
    tags: dict[str, list[str]]


FORMAT = Format("fold", 2, Fold, lambda header: {column: Layout(np.int32) for column in header.tags})


def jackknife(
    train: Treebank,
    columns: str | Sequence[str],
    *,
    folds: int = FOLDS,
    workers: int = 1,
    scheduler: str | None = None,
    checkpoints: Path | None = None,
    progress: Callable[[Iterable, str], Iterable] | None = None,
    **settings: Any,
) -> Treebank:
    """Return the treebank with predicted values in `columns`. Workers and scheduler do not change the result.

    columns      one column, predicted by `train_tagger`, or several, predicted by `train_taggers`, in which later
                 taggers read earlier predictions
    workers      number of processes on this machine
    scheduler    address of a Dask scheduler, whose workers train instead
    checkpoints  folder for the values of finished folds; an interrupted run computes only the missing folds
    settings     keyword arguments of `train_tagger` or `train_taggers`

    InputError for fewer than two folds, or for fewer sentences than folds.
    """
    if not 2 <= folds <= len(train):
        raise InputError(
            f"{len(train)} sentences cannot be divided into {folds} folds",
            hint=f"give at least {folds} sentences" if folds > 1 else "give 2 folds or more",
        )
    member = fold_of(len(train), folds)
    key = _key(train, columns, folds, settings)
    results: dict[int, Tagged] = {}
    for fold in range(folds):
        if checkpoints is not None and (done := _finished(_file(checkpoints, fold), key)) is not None:
            results[fold] = done
    missing = [fold for fold in range(folds) if fold not in results]

    task = train, columns, member, settings
    computed = spread(_fold, task, missing, workers=workers, scheduler=scheduler, ordered=False)
    for _ in progress(missing, "jackknife") if progress else missing:
        fold, tagged = next(computed)
        results[fold] = tagged
        if checkpoints is not None:
            values = {column: tags for column, (tags, _) in tagged.items()}
            numbers = {column: ids for column, (_, ids) in tagged.items()}
            FORMAT.save(_file(checkpoints, fold), {"key": key, "tags": values}, numbers)
    return _joined(train, np.repeat(member, train.lengths), results)


def _joined(train: Treebank, of_word: np.ndarray, results: dict[int, Tagged]) -> Treebank:
    """Return the treebank with the predicted columns of all folds; `of_word` int64[W] is the fold of each word."""
    out = train
    for column in results[0]:
        vocabulary = Vocabulary(sorted({tag for tagged in results.values() for tag in tagged[column][0]}))
        joined = np.empty(train.words, np.int32)
        for fold, tagged in results.items():
            tags, ids = tagged[column]
            joined[of_word == fold] = np.array([vocabulary.get(tag) for tag in tags], np.int32)[ids]
        out = with_tags(out, column, vocabulary.strings, joined)
    return out


def _fold(task: tuple[Treebank, str | Sequence[str], np.ndarray, dict[str, Any]], fold: int) -> tuple[int, Tagged]:
    """Train on all other folds, tag fold number `fold`, and return the number with the predicted columns.

    `task` is (treebank, columns, fold of each sentence, settings of the tagger).
    """
    train, columns, member, settings = task
    others, own = (train.select(np.flatnonzero(chosen)) for chosen in (member != fold, member == fold))
    if isinstance(columns, str):
        tagged, columns = train_tagger(others, column=columns, **settings).apply(own), (columns,)
    else:
        tagged = train_taggers(others, None, columns, **settings).apply(own)
    return fold, {column: (tagged.vocab[column].strings, tagged.columns[column]) for column in columns}


def _file(folder: Path, fold: int) -> Path:
    return folder / f"fold-{fold}.npz"


def _finished(path: Path, key: str) -> Tagged | None:
    """Return the columns of a fold that an earlier run with the same key has stored, or None."""
    try:
        header, arrays = FORMAT.load(path)
    except ModelError:
        return None
    return {name: (tags, arrays[name]) for name, tags in header.tags.items()} if header.key == key else None


def _key(train: Treebank, columns: str | Sequence[str], folds: int, settings: dict[str, Any]) -> str:
    """Return the key of a run: a digest of treebank, columns, folds and settings."""
    digest = hashlib.blake2b(repr((columns, folds, sorted(settings.items()))).encode(), digest_size=16)
    digest.update(train.offsets.tobytes())
    for name in sorted(train.vocab):
        digest.update(train.columns[name].tobytes() + "\0".join(train.vocab[name].strings).encode())
    return digest.hexdigest()
