"""The parts of a treebank, each with the model that judges it, and what a run that was killed has finished of them.

Models and suspects of a part are files in a work folder. Both have a key that identifies data and settings: a file of
another run is written anew.
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

VERSION = 1  #: of the files of suspects, and of how suspects are made


@dataclass(frozen=True)
class Part:
    """Some sentences of a treebank and the sentences that their model learns from.

    name       of its files
    sentences  int64[*]: sentences of the treebank
    learnt     int64[*]: sentences of the examples (`Prepared.examples`)
    """

    name: str
    sentences: np.ndarray
    learnt: np.ndarray


@dataclass(frozen=True)
class Job:
    """What the training of every part needs. names: the id of each sentence of the treebank."""

    prepared: Prepared
    names: list[str]
    folder: Path
    progress: Progress | None = None


def folds_of(prepared: Prepared, folds: int) -> list[Part]:
    """Return a part for each fold, whose model learns from the others. InputError for fewer sentences than folds."""
    sentences = len(prepared.treebank)
    if sentences < folds:
        reason = f"{sentences} sentence{'s' * (sentences != 1)} for {folds} folds"
        hint = "give at least as many sentences as folds, a reference or a model"
        raise InputError(reason, path=prepared.treebank.name, hint=hint)
    member = fold_of(sentences, folds)
    usable = prepared.usable
    return [
        Part(f"fold-{fold}", np.flatnonzero(member == fold), usable[member[usable] != fold]) for fold in range(folds)
    ]


def whole(prepared: Prepared) -> Part:
    """Return the treebank as one part, whose model learns from the reference."""
    return Part("reference", np.arange(len(prepared.treebank)), prepared.usable)


def train(job: Job, part: Part) -> Path:
    """Train the model of a part, or leave the file that an earlier run wrote; return the file.

    The training itself resumes at the last epoch that was finished. InputError where there is nothing to learn from.
    """
    if not len(part.learnt):
        hint = "give more sentences, or a reference"
        raise InputError("no sentence to train on", path=job.prepared.examples.name, hint=hint)
    examples, system = job.prepared.examples.select(part.learnt), Graph()
    settings = system.fitted(job.prepared.training, examples)
    path = job.folder / f"{part.name}.npz"
    try:
        if Model.load(path).key == system.key(settings, examples, None):
            return path
    except ModelError:
        pass
    checkpoint = job.folder / f"{part.name}.checkpoint.npz"
    shown = _titled(job.progress, f"{part.name}, ")
    system.train(settings, examples, None, checkpoint=checkpoint, progress=shown).save(path)
    return path


def mine_tags(job_and_column: tuple[Job, str], part: Part) -> list[Suspect]:
    """Return the suspects among the tags of a part, by a tagger that is trained for it; an earlier run's as they are.

    Raises InputError where the column of the examples is empty.
    """
    job, column = job_and_column
    examples = job.prepared.examples.select(part.learnt)
    own = job.prepared.treebank.select(part.sentences)
    names = [job.names[i] for i in part.sentences]
    key = key_of({"tags": column, "version": VERSION}, (examples, own), "\0".join(names).encode())
    path = job.folder / f"{part.name}.tags.json"
    if (finished := stored(path, key)) is not None:
        return [suspect for sentence in finished for suspect in sentence.suspects]
    tagger = train_taggers(examples, None, (column,), progress=_titled(job.progress, f"{part.name}, ")).taggers[0]
    suspects = TagMiner(tagger, own, names, part.sentences).mine()
    store(path, key, [MinedSentence(s.sentence, 0, [s], Tree(np.empty(0, np.int32), [])) for s in suspects])
    return suspects


def key_of_part(model: bytes, own: Treebank, names: Sequence[str]) -> str:
    """Identify the suspects of a part. model: what identifies the model."""
    digest = hashlib.blake2b(model, digest_size=16).hexdigest()
    return key_of({"model": digest, "version": VERSION}, (own,), "\0".join(names).encode())


def store(path: Path, key: str, mined: Sequence[MinedSentence]) -> None:
    """Write mined sentences to a file, atomically."""
    lines: list[Any] = [{"key": key}]
    for sentence in mined:
        heads, labels = sentence.tree
        tree = {"heads": heads.tolist(), "labels": labels}
        lines.append([sentence.sentence, sentence.words, [asdict(s) for s in sentence.suspects], tree])
    with replacing(path) as file:
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")


def stored(path: Path, key: str) -> list[MinedSentence] | None:
    """Read what `store` wrote under this key; None for any other file, or none."""
    try:
        first, *rest = path.read_text("utf-8").splitlines()
        if json.loads(first) != {"key": key}:
            return None
        return [_sentence(*json.loads(line)) for line in rest]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _sentence(sentence: int, words: int, suspects: list[dict[str, Any]], tree: dict[str, Any]) -> MinedSentence:
    made = [Suspect(**{**fields, "variation": tuple(fields["variation"])}) for fields in suspects]
    return MinedSentence(sentence, words, made, Tree(np.array(tree["heads"], np.int32), tree["labels"]))


def _titled(progress: Progress | None, title: str) -> Progress | None:
    return progress and (lambda items, what: progress(items, title + what))
