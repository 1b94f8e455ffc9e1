"""Jackknifed tags and doubts for a training set, and treebanks with the likeliest tag of each word."""

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
    """Return the name of the treebank column that this system predicts: the column of fine tags."""
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
    """Return the doubts about every word, computed by a tagger that was trained on the other folds.

    files     the results of folds: read if an interrupted training has stored them, and written otherwise
    settings  keyword arguments of `train_tagger`

    Deficits are in units of each fold's own tagger, because taggers differ in the scale of their scores.
    """
    member = fold_of(len(train), folds)
    results = files.folds(DOUBTS, folds, partial(spread, _fold, (train, column, member, settings), workers=workers))
    tags: list[tuple[str, ...]] = [()] * train.words
    deficits = [np.zeros(0)] * train.words
    of_word = np.repeat(member, train.lengths)
    for fold in progress(range(folds), "jackknife") if progress else range(folds):
        fold_doubts = next(results)
        for word, candidates, losses in zip(
            np.flatnonzero(of_word == fold), fold_doubts.tags, fold_doubts.deficits, strict=True
        ):
            tags[word], deficits[word] = candidates, losses
    return Doubts(tags, deficits)


def _fold(task: tuple[Treebank, str, np.ndarray, dict[str, Any]], fold: int) -> Doubts:
    train, column, member, settings = task
    others, own = (train.select(np.flatnonzero(chosen)) for chosen in (member != fold, member == fold))
    return doubts(train_tagger(others, column=column, **settings), own)[0]


def with_first(treebank: Treebank, meta: dict, tags: list[tuple[str, ...]], coarse: dict[str, str]) -> Treebank:
    """Return the treebank with the first of each word's `tags` as fine tag, and with the matching coarse tag.

    coarse  fine tag -> the coarse tag that belongs to it
    """
    column, coarse_column = column_of(meta), str(meta.get("coarse", "upos"))
    names = sorted({candidates[0] for candidates in tags})
    number = {name: i for i, name in enumerate(names)}
    ids = np.array([number[candidates[0]] for candidates in tags], np.int32)
    tagged = with_tags(treebank, column, names, ids)
    if coarse_column in (column, "tag2"):
        return tagged
    coarser = sorted({coarse.get(name, "_") for name in names})
    coarse_ids = np.array([coarser.index(coarse.get(name, "_")) for name in names], np.int32)
    return with_tags(tagged, coarse_column, coarser, coarse_ids[ids])
