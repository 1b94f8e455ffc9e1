"""Mining a treebank for annotation errors: from sentences to a ranked list of suspects."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.loop import Progress
from treebound.mining import parts
from treebound.mining.parts import Job, Part
from treebound.mining.preparation import Prepared, prepare
from treebound.mining.sentence_ids import sentence_ids
from treebound.mining.sentences import MinedSentence, Miner, Tree
from treebound.mining.settings import Settings
from treebound.mining.suspects import Suspect
from treebound.support.workers import blocks, spread
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.treebanks.document import Document

BLOCK = 32  #: sentences that a worker takes at a time


@dataclass(frozen=True)
class Mined:
    """The suspects of a treebank.

    suspects   ranked: the most doubtful annotation first; ties by sentence and word
    trees      sentence -> best tree, for the sentences with suspects among heads and labels
    sentences, words  their numbers in the treebank
    remarks    a line for what was chosen or left out
    seconds    wall time of the whole run
    """

    suspects: list[Suspect]
    trees: dict[int, Tree] = field(repr=False)
    sentences: int
    words: int
    remarks: list[str]
    seconds: float

    def count(self, kind: str) -> int:
        """Return the number of suspects of a kind."""
        return sum(suspect.kind == kind for suspect in self.suspects)

    @property
    def report(self) -> str:
        """Return sentences, words, how often model and annotation differ, and the time, in one line."""
        shown = {"head": "heads", "label": "labels", "tag": "tags"}
        words = max(1, self.words)
        counts = [
            f"{self.count(kind):,} {name} ({100 * self.count(kind) / words:.1f} %) differ"
            for kind, name in shown.items()
            if self.count(kind)
        ]
        size = f"{self.sentences:,} sentences, {self.words:,} words"
        return f"{size}: {', '.join(counts) or 'nothing differs'}; {self.seconds:.0f} s"


def mine(
    document: Document | Treebank,
    settings: Settings | None = None,
    *,
    training: Mapping[str, Any] | None = None,
    reference: Sequence[Treebank] = (),
    model: str | Path | None = None,
    folder: Path | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Mined:
    r"""Rank the annotations of a treebank by how much a model that has not seen them prefers others.

    Parameters
    ----------
    document
        The annotated sentences. A `Treebank` has no ids of sentences: their numbers, from 1, take the place.
    settings
        What is looked for; `Settings()` where it is None.
    training
        Settings of the models, as of `treebound.systems.graph.settings.Settings`: names and values. Models are trained
        for a fixed number of epochs.
    reference
        Treebanks that are corrected already. One model is trained on them and parses all sentences. Without a
        reference, the sentences are divided into folds, and each fold is parsed by a model of the others.
    model
        A model file, of a graph-based system, that has not seen the treebank; nothing is trained then.
    folder
        Folder of the work files, which exists: a run that was killed continues from them. They are removed in the end.
    workers
        Processes on this machine. The result does not depend on it.
    progress
        `treebound.support.progress.over`, for instance.

    Returns
    -------
    Mined
        Suspects, best first, and the best trees of their sentences.

    Raises
    ------
    InputError
        For settings that do not fit, fewer sentences than folds, and sentences that are too long.

    Time: that of training, and a search per sentence and doubted head. Source: the margins are those of
    `treebound.decoders.kbest`; that errors of annotation are found where a parser disagrees is of long standing
    (van Halteren 2000).

    Examples
    --------
    Forty sentences, in one of which subject and object are exchanged.

    >>> from treebound.treebanks.document import read
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> rows = [word(1, "Cats", "NOUN", 2, "nsubj"), word(2, "see", "VERB", 0, "root"), word(3, "us", "PRON", 2, "obj")]
    >>> right = "".join(rows) + "\n"
    >>> wrong = right.replace("nsubj", "x").replace("obj", "nsubj").replace("x", "obj")
    >>> mined = mine(read((right * 20 + wrong + right * 19).encode()), training={"families": (), "bits": 12})
    >>> [(s.sentence, s.word, s.label, s.proposed_label) for s in mined.suspects]
    [(20, 1, 'obj', 'nsubj'), (20, 3, 'nsubj', 'obj')]
    """
    started = time.monotonic()
    settings = settings or Settings()
    treebank, names = _sentences(document)
    if not len(treebank):
        raise InputError("has no sentences", path=treebank.name, hint="give a treebank")
    if model is not None and (reference or settings.tags):
        raise InputError("a model is named, and so is something to train", hint="leave out reference and tags")
    with nullcontext(folder) if folder is not None else _temporary() as place:
        if model is None:
            prepared = prepare(treebank, reference, training or {})
            job = Job(prepared, names, place, progress if workers == 1 else None)
            divided = [parts.whole(prepared)] if reference else parts.folds_of(prepared, settings.folds)
            remarks = prepared.remarks
        else:
            job, divided, remarks = Job(_untrained(treebank), names, place), [], []
        run = _Run(job, settings, workers, progress)
        mined = run.trees(divided, model) if settings.kinds else []
        suspects = [s for sentence in mined for s in sentence.suspects if s.kind in settings.kinds]
        suspects += run.tags(divided) if settings.tags else []
        for path in run.files(divided):
            path.unlink(missing_ok=True)
    ranked = sorted(suspects, key=lambda s: (-s.doubt, s.sentence, s.word, s.kind))
    trees = {sentence.sentence: sentence.tree for sentence in mined}
    seconds = time.monotonic() - started
    return Mined(ranked, trees, len(treebank), treebank.words, remarks, seconds)


@dataclass(frozen=True)
class _Run:
    job: Job
    settings: Settings
    workers: int
    progress: Progress | None

    def trees(self, divided: list[Part], model: str | Path | None) -> list[MinedSentence]:
        """Return the sentences with suspects among heads and labels, by a model file or the models of the parts."""
        if model is not None:
            everything = np.arange(len(self.job.prepared.treebank))
            return self._mine(_parser(model), everything, "parse")
        trained = spread(parts.train, self.job, divided, workers=min(self.workers, len(divided)))
        shown = self._shown(trained, len(divided), "folds") if self.workers > 1 else trained
        paths = list(shown)
        out: list[MinedSentence] = []
        for part, path in zip(divided, paths, strict=True):
            out += self._part(part, path)
        return out

    def _part(self, part: Part, path: Path) -> list[MinedSentence]:
        """Return the mined sentences of a part; those that an earlier run stored as they are."""
        parser = _parser(path)
        own = self.job.prepared.treebank.select(part.sentences)
        key = parts.key_of_part(parser.model.key.encode(), own, [self.job.names[i] for i in part.sentences])
        file = self._file(part)
        mined = parts.stored(file, key)
        if mined is None:
            mined = self._mine(parser, part.sentences, f"{part.name}, parse")
            parts.store(file, key, mined)
        return mined

    def _mine(self, parser: Parser, sentences: np.ndarray, what: str) -> list[MinedSentence]:
        """Return the sentences with suspects, by one model."""
        own = self.job.prepared.treebank.select(sentences)
        miner = Miner(parser, own, [self.job.names[i] for i in sentences], sentences)
        some = blocks(len(own), BLOCK)
        results = spread(_mine_block, miner, some, workers=self.workers, short=True)
        return [sentence for block in self._shown(results, len(some), what) for sentence in block]

    def tags(self, divided: list[Part]) -> list[Suspect]:
        """Return the suspects among tags."""
        workers = min(self.workers, len(divided))
        results = spread(parts.mine_tags, (self.job, self.settings.tags), divided, workers=workers)
        return [suspect for some in self._shown(results, len(divided), "tags") for suspect in some]

    def files(self, divided: list[Part]) -> Iterator[Path]:
        """Yield the work files of all parts."""
        for part in divided:
            for ending in ("npz", "checkpoint.npz", "tags.json", "json"):
                yield self.job.folder / f"{part.name}.{ending}"

    def _file(self, part: Part) -> Path:
        return self.job.folder / f"{part.name}.json"

    def _shown(self, results: Iterator[Any], total: int, what: str) -> Iterator[Any]:
        """Pass results on, and show how many there are."""
        if self.progress is None:
            return results
        return (next(results) for _ in self.progress(range(total), what))


def _sentences(document: Document | Treebank) -> tuple[Treebank, list[str]]:
    """Return the treebank and the ids of its sentences."""
    if isinstance(document, Document):
        return document.treebank, sentence_ids(document)
    return document, [str(i + 1) for i in range(len(document))]


def _untrained(treebank: Treebank) -> Prepared:
    """Return a treebank that a given model parses, with nothing to train."""
    return prepare(treebank, (), {"space": "projective", "labels": "none"})


def _parser(path: str | Path) -> Parser:
    """Return the parser of a model file. ModelError where the file holds no graph-based model."""
    return Parser(Model.load(path))


def _mine_block(miner: Miner, sentences: range) -> list[MinedSentence]:
    """Return the sentences of a block that have suspects."""
    mined = (miner.mine(i) for i in sentences)
    return [sentence for sentence in mined if sentence.suspects]


@contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="treebound-") as folder:
        yield Path(folder)
