"""Predicted tags for a training set: every sentence is tagged by a model that has not seen it (jackknifing).

A parser that is trained on them meets the errors that it will meet in new text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.storage import Format, Header, Layout
from treebound.support.workers import spread
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.tagger import with_tags

FOLDS = 10
RUN = 10  #: neighbouring sentences, which are often of one text, stay together


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Fold(Header):
    """The header of the tags of a fold."""

    key: str
    tags: list[str]


FORMAT = Format("fold", 1, Fold, lambda _: {"ids": Layout(np.int32)})


def fold_of(sentences: int, folds: int = FOLDS) -> np.ndarray:
    """int64[sentences]: the fold that tags each; RUN sentences in a row, or fewer where each fold would get none."""
    run = max(1, min(RUN, sentences // folds))
    return np.arange(sentences) // run % folds


def jackknife(
    train: Treebank,
    column: str,
    *,
    folds: int = FOLDS,
    workers: int = 1,
    scheduler: str | None = None,
    checkpoints: Path | None = None,
    progress: Callable[[Iterable, str], Iterable] | None = None,
    **settings: Any,
) -> Treebank:
    """The treebank with predicted tags in `column`; the same for any number of workers, here or on a cluster.

    workers, scheduler  as for `treebound.support.workers.spread`
    checkpoints  folder that keeps the tags of every finished fold: a run that was killed does only the others
    settings     as for `train_tagger`
    InputError for fewer than two folds or a treebank with fewer sentences than folds.
    """
    if not 2 <= folds <= len(train):
        raise InputError(f"{folds} folds of {len(train)} sentences", hint="give at least 2, and a sentence for each")
    member = fold_of(len(train), folds)
    key = _key(train, column, folds, settings)
    found: dict[int, tuple[list[str], np.ndarray]] = {}
    for fold in range(folds):
        if checkpoints is not None and (done := _finished(_file(checkpoints, fold), key)) is not None:
            found[fold] = done
    missing = [fold for fold in range(folds) if fold not in found]

    given = train, column, member, settings
    results: Iterable = spread(_fold, given, missing, workers=workers, scheduler=scheduler, ordered=False)
    for fold, tags, ids in progress(results, "jackknife") if progress else results:
        found[fold] = tags, ids
        if checkpoints is not None:
            FORMAT.save(_file(checkpoints, fold), {"key": key, "tags": tags}, {"ids": ids})
    vocabulary = Vocabulary(sorted({tag for tags, _ in found.values() for tag in tags}))
    joined = np.empty(train.words, np.int32)
    of_word = np.repeat(member, train.lengths)
    for fold, (tags, ids) in found.items():
        joined[of_word == fold] = np.array([vocabulary.get(tag) for tag in tags], np.int32)[ids]
    return with_tags(train, column, vocabulary.strings, joined)


def _fold(given: tuple[Treebank, str, np.ndarray, dict[str, Any]], fold: int) -> tuple[int, list[str], np.ndarray]:
    """Train on the other folds, tag this one: (fold, tags, int32 ids of the words of its sentences in order)."""
    train, column, member, settings = given
    tagger = train_tagger(train.select(np.flatnonzero(member != fold)), column=column, **settings)
    return fold, tagger.tags, tagger.tag(train.select(np.flatnonzero(member == fold)))


def _file(folder: Path, fold: int) -> Path:
    return folder / f"fold-{fold}.npz"


def _finished(path: Path, key: str) -> tuple[list[str], np.ndarray] | None:
    """Tags of a fold that an earlier run finished; None if there are none or they belong to another run."""
    try:
        header, arrays = FORMAT.load(path)
    except ModelError:
        return None
    return (header.tags, arrays["ids"]) if header.key == key else None


def _key(train: Treebank, column: str, folds: int, settings: dict[str, Any]) -> str:
    """Identifies the run that a checkpoint belongs to."""
    digest = hashlib.blake2b(repr((column, folds, sorted(settings.items()))).encode(), digest_size=16)
    digest.update(train.offsets.tobytes())
    for name in ("form", column):
        digest.update(train.columns[name].tobytes() + "\0".join(train.vocab[name].strings).encode())
    return digest.hexdigest()
