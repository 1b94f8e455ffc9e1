"""Training of a correcting model: the tagger, the parser that reads its tags, and the balance of both, from folds."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from treebound.core.treebank import Treebank
from treebound.learning import loop
from treebound.learning.folds import fold_of
from treebound.learning.loop import Progress
from treebound.learning.pruner import train_pruner
from treebound.metrics.attachment import scored_words
from treebound.support.workers import spread
from treebound.systems.correcting.balance import Choice, learn
from treebound.systems.correcting.doubts import Doubts, doubts
from treebound.systems.correcting.fold_files import CHOICES, FoldFiles
from treebound.systems.correcting.jackknifed import column_of, jackknifed, with_first
from treebound.systems.correcting.listing import Words, errors, listed
from treebound.systems.correcting.model import CorrectingModel
from treebound.systems.correcting.settings import Settings
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser as Sampler
from treebound.systems.sampling.tags.candidates import coarse_tags
from treebound.systems.sampling.training import Training, key_for
from treebound.systems.sampling.training import train_model as train_sampler
from treebound.systems.tagging.learn import train_tagger


def train_model(
    spec: Settings,
    train: Treebank,
    dev: Treebank,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> CorrectingModel:
    """Train tagger and parser as in a pipeline, each up to its best epoch on dev, and the balance on folds of train.

    checkpoint  checkpoint file of the parser; the results of folds are stored beside it until training ends
    """
    column, files = column_of(train.meta), FoldFiles(checkpoint, key_for(spec, train, dev))
    coarse = coarse_tags(train, column)
    train_doubts = jackknifed(
        train, column, spec.tagger_folds, files=files, workers=workers, progress=progress, **spec.of_tagger
    )
    train_doubts = train_doubts.under(spec.doubt, spec.tags)
    tagged_train = with_first(train, train.meta, train_doubts.tags, coarse)
    tagger = train_tagger(train, dev, column=column, progress=progress, **spec.of_tagger)
    dev_doubts, gap = doubts(tagger, dev)
    tagged_dev = with_first(dev, train.meta, dev_doubts.tags, coarse)
    choices = choices_of(
        spec, train, tagged_train, train_doubts, coarse, files=files, workers=workers, progress=progress
    )
    model = train_sampler(spec, tagged_train, tagged_dev, checkpoint=checkpoint, progress=progress)
    files.remove()
    return CorrectingModel(model, tagger, learn(choices, spec.penalty), gap, coarse)


def choices_of(
    spec: Settings,
    train: Treebank,
    tagged: Treebank,
    own: Doubts,
    coarse: dict[str, str],
    *,
    files: FoldFiles,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Choice]:
    """Return the choices for every sentence with doubts, with trees of parsers trained on the other folds.

    tagged  the training set with the tags of taggers that were trained on other folds
    own     the doubts of the same taggers
    coarse  fine tag -> the coarse tag that belongs to it
    files   the results of folds: read if an interrupted training has stored them, and written otherwise
    """
    member = fold_of(len(train), spec.folds)
    task = spec, train, tagged, own, coarse, member
    results = files.folds(CHOICES, spec.folds, partial(spread, _fold, task, workers=workers))
    every = progress(range(spec.folds), "held-out parsers") if progress else range(spec.folds)
    return [choice for _ in every for choice in next(results)]


def _fold(task: tuple[Settings, Treebank, Treebank, Doubts, dict[str, str], np.ndarray], fold: int) -> list[Choice]:
    spec, gold, tagged, own, coarse, member = task
    sampler = Sampler(held_out(spec, tagged.select(np.flatnonzero(member != fold))))
    words = Words(sampler.table(tagged), own)
    right, scored = gold.strings(column_of(gold.meta)), scored_words(gold)
    out = []
    for i in np.flatnonzero(member == fold).tolist():
        span = slice(*gold.offsets[i : i + 2])
        if any(len(tags) > 1 for tags in own.tags[span]):
            choices = listed(sampler, words, i, coarse, spec.taggings)
            out.append(Choice(choices.features, errors(choices, right[span], gold.heads(i)[1:], scored[span])))
    return out


def held_out(spec: Settings, train: Treebank) -> SamplingModel:
    """Return a parser that is trained for all epochs, without a development set."""
    pruner = train_pruner(train, epochs=spec.pruner_epochs, bits=min(20, spec.bits), seed=spec.seed)
    task = Training(spec, train, pruner)
    trained = loop.train(task, spec.epochs, loop.shuffled(spec.seed, len(train)))
    return SamplingModel(spec, *trained.best, pruner, train.meta, [], labels=task.labelling.names)
