"""A training set with the tags and the doubts of taggers that have not seen it, and those of new text."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from treebound.core.treebank import Treebank
from treebound.learning.folds import fold_of
from treebound.learning.loop import Progress
from treebound.support.workers import spread
from treebound.systems.correcting.doubts import Doubts, doubts
from treebound.systems.correcting.fold_files import DOUBTS, FoldFiles
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.tagger import with_tags


def column_of(meta: dict[str, Any]) -> str:
    """The column of a treebank whose tags are chosen here."""
    return str(meta.get("tag", "xpos"))


def jackknifed(
    train: Treebank,
    column: str,
    folds: int,
    *,
    files: FoldFiles,
    workers: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> Doubts:
    """The doubts about every word of a tagger that was trained on the other folds; settings: of `train_tagger`.

    files  results of folds: read if an earlier training was interrupted, written otherwise
    Deficits are in units of each fold's own: taggers differ in the scale of their scores.
    """
    member = fold_of(len(train), folds)
    found = files.folds(DOUBTS, folds, partial(spread, _fold, (train, column, member, settings), workers=workers))
    tags: list[tuple[str, ...]] = [()] * train.words
    deficits = [np.zeros(0)] * train.words
    of_word = np.repeat(member, train.lengths)
    for fold in progress(range(folds), "jackknife") if progress else range(folds):
        own = next(found)
        for word, listed, less in zip(np.flatnonzero(of_word == fold), own.tags, own.deficits, strict=True):
            tags[word], deficits[word] = listed, less
    return Doubts(tags, deficits)


def _fold(given: tuple[Treebank, str, np.ndarray, dict[str, Any]], fold: int) -> Doubts:
    train, column, member, settings = given
    others, own = (train.select(np.flatnonzero(chosen)) for chosen in (member != fold, member == fold))
    return doubts(train_tagger(others, column=column, **settings), own)[0]


def with_first(treebank: Treebank, meta: dict, tags: list[tuple[str, ...]], coarse: dict[str, str]) -> Treebank:
    """The treebank with the first of each word's tags as its fine tag, and the coarse tag that goes with it."""
    column, other = column_of(meta), str(meta.get("coarse", "upos"))
    names = sorted({listed[0] for listed in tags})
    number = {name: i for i, name in enumerate(names)}
    ids = np.array([number[listed[0]] for listed in tags], np.int32)
    tagged = with_tags(treebank, column, names, ids)
    if other in (column, "tag2"):
        return tagged
    coarser = sorted({coarse.get(name, "_") for name in names})
    of = np.array([coarser.index(coarse.get(name, "_")) for name in names], np.int32)
    return with_tags(tagged, other, coarser, of[ids])
