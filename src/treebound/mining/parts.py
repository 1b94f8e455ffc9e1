"""The parts of a treebank that are mined separately, each with its own model, and their work files.

The model and the suspects of a part are files in a work folder, so that an interrupted run can continue. Both files
have a key that identifies data and settings. A file with another key is replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.learning.checkpoint import key_of
from treebound.learning.folds import fold_of
from treebound.learning.loop import Progress
from treebound.mining.preparation import Prepared
from treebound.mining.sentences import MinedSentence, Tree
from treebound.mining.suspects import Suspect
from treebound.mining.tags import TagMiner
from treebound.support.atomic import replacing
from treebound.systems.graph.model import Model
from treebound.systems.graph.system import Graph
from treebound.systems.tagging.several import train_taggers

VERSION = 1  #: version of the files of suspects and of the method that finds suspects


@dataclass(frozen=True)
class Part:
    """A part of a treebank: the sentences that one model judges, and the sentences that it is trained on.

    name       name of the part's work files, without their endings
    sentences  int64[*]: indices of the judged sentences in the treebank
    learnt     int64[*]: indices of the training sentences in `Prepared.examples`
    """

    name: str
    sentences: np.ndarray
    learnt: np.ndarray


@dataclass(frozen=True)
class Job:
    """The data that the training of every part needs.

    names   the id of each sentence of the treebank
    folder  folder of the work files
    """

    prepared: Prepared
    names: list[str]
    folder: Path
    progress: Progress | None = None


def folds_of(prepared: Prepared, folds: int) -> list[Part]:
    """Return a part for each fold, whose model is trained on the other folds.

    Raises InputError for fewer sentences than folds.
    """
    sentences = len(prepared.treebank)
    if sentences < folds:
        reason = f"{sentences} sentence{'s' * (sentences != 1)} for {folds} folds"
        hint = "give at least as many sentences as folds, a reference or a model"
        raise InputError(reason, path=prepared.treebank.name, hint=hint)
    fold_of_sentence = fold_of(sentences, folds)
    usable = prepared.usable
    return [
        Part(f"fold-{fold}", np.flatnonzero(fold_of_sentence == fold), usable[fold_of_sentence[usable] != fold])
        for fold in range(folds)
    ]


def whole(prepared: Prepared) -> Part:
    """Return the whole treebank as one part, whose model is trained on the reference."""
    return Part("reference", np.arange(len(prepared.treebank)), prepared.usable)


def train(job: Job, part: Part) -> Path:
    """Train the model of a part unless an earlier run has written its file; return the path of the file.

    Interrupted training resumes after the last finished epoch. Raises InputError if there are no training sentences.
    """
    if not len(part.learnt):
        hint = "give more sentences, or a reference"
        raise InputError("no sentences to train on", path=job.prepared.examples.name, hint=hint)
    examples, system = job.prepared.examples.select(part.learnt), Graph()
    settings = system.adapted_settings(job.prepared.training, examples)
    path = job.folder / f"{part.name}.npz"
    try:
        if Model.load(path).key == system.key(settings, examples, None):
            return path
    except ModelError:
        pass
    checkpoint = job.folder / f"{part.name}.checkpoint.npz"
    titled = _titled(job.progress, f"{part.name}, ")
    system.train(settings, examples, None, checkpoint=checkpoint, progress=titled).save(path)
    return path


def mine_tags(job_and_column: tuple[Job, str], part: Part) -> list[Suspect]:
    """Return the suspects among the tags of a part, found by a tagger that is trained on the part's training sentences.

    Suspects that an earlier run has stored are read from their file. Raises InputError if the column of the examples
    is empty.
    """
    job, column = job_and_column
    examples = job.prepared.examples.select(part.learnt)
    treebank = job.prepared.treebank.select(part.sentences)
    names = [job.names[i] for i in part.sentences]
    key = key_of({"tags": column, "version": VERSION}, (examples, treebank), "\0".join(names).encode())
    path = job.folder / f"{part.name}.tags.json"
    if (finished := stored(path, key)) is not None:
        return [suspect for sentence in finished for suspect in sentence.suspects]
    tagger = train_taggers(examples, None, (column,), progress=_titled(job.progress, f"{part.name}, ")).taggers[0]
    suspects = TagMiner(tagger, treebank, names, part.sentences).mine()
    store(path, key, [MinedSentence(s.sentence, 0, [s], Tree(np.empty(0, np.int32), [])) for s in suspects])
    return suspects


def key_of_part(model: bytes, own: Treebank, names: Sequence[str]) -> str:
    """Return the key of the file of suspects of a part.

    model  key of the model that finds the suspects
    own    sentences of the part
    names  ids of the sentences
    """
    digest = hashlib.blake2b(model, digest_size=16).hexdigest()
    return key_of({"model": digest, "version": VERSION}, (own,), "\0".join(names).encode())


def store(path: Path, key: str, mined: Sequence[MinedSentence]) -> None:
    """Write mined sentences to a file with the key `key`, atomically."""
    records: list[Any] = [{"key": key}]
    for sentence in mined:
        heads, labels = sentence.tree
        tree = {"heads": heads.tolist(), "labels": labels}
        records.append([sentence.sentence, sentence.words, [asdict(s) for s in sentence.suspects], tree])
    with replacing(path) as file:
        for line in records:
            file.write(json.dumps(line).encode() + b"\n")


def stored(path: Path, key: str) -> list[MinedSentence] | None:
    """Read the mined sentences that `store` wrote with this key. Returns None if there is no such file."""
    try:
        first, *lines = path.read_text("utf-8").splitlines()
        if json.loads(first) != {"key": key}:
            return None
        return [_sentence(*json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _sentence(sentence: int, words: int, suspects: list[dict[str, Any]], tree: dict[str, Any]) -> MinedSentence:
    """Return a mined sentence from the values of its line of JSON."""
    rebuilt = [Suspect(**{**fields, "variation": tuple(fields["variation"])}) for fields in suspects]
    return MinedSentence(sentence, words, rebuilt, Tree(np.array(tree["heads"], np.int32), tree["labels"]))


def _titled(progress: Progress | None, title: str) -> Progress | None:
    """Return a progress display whose titles begin with `title`."""
    return progress and (lambda items, subtitle: progress(items, title + subtitle))
