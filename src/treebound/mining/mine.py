"""Mine a treebank for annotation errors: train models, parse the sentences and rank the suspects."""

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

BLOCK = 32  #: number of sentences that a worker takes at a time


@dataclass(frozen=True)
class Mined:
    """The suspects of a treebank, and the best trees of their sentences.

    suspects   the ranked list, most doubtful annotation first, ties by sentence and word
    trees      index of a sentence -> best tree, for the sentences with suspects among heads and labels
    sentences  number of sentences of the treebank
    words      number of words of the treebank
    remarks    one line for each convention that was chosen, and one for each reason to leave out sentences
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
        """Return a line with the numbers of sentences, words and suspects of each kind, and the time."""
        plurals = {"head": "heads", "label": "labels", "tag": "tags"}
        words = max(1, self.words)
        counts = [
            f"{self.count(kind):,} {name} ({100 * self.count(kind) / words:.1f} %) differ"
            for kind, name in plurals.items()
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
    r"""Find the annotations of a treebank that a model doubts, and rank them by how strongly it prefers another one.

    The model that judges a sentence was not trained on it.

    Parameters
    ----------
    document
        The annotated sentences. A `Treebank` has no sentence ids; its suspects carry the numbers of sentences, from 1.
    settings
        The kinds of annotation to check, and the number of folds. None means `Settings()`.
    training
        Settings of the models: names and values of fields of `treebound.systems.graph.settings.Settings`. Models are
        trained for a fixed number of epochs.
    reference
        Treebanks whose annotation is trusted. One model is trained on them and parses all sentences. Without a
        reference, the sentences are divided into folds, and each fold is parsed by a model trained on the other folds.
    model
        File of a graph-based model that was not trained on the treebank. With a model, nothing is trained.
    folder
        Existing folder for work files. A run that was interrupted continues from these files; they are removed at the
        end. By default, a temporary folder.
    workers
        Number of worker processes on this machine. The result does not depend on it.
    progress
        Function that wraps an iterable to show progress, for instance `treebound.support.progress.over`.

    Returns
    -------
    Mined
        The suspects, most doubtful first, and the best trees of their sentences.

    Raises
    ------
    InputError
        If settings contradict each other, if there are fewer sentences than folds, or if a sentence is too long.

    Notes
    -----
    Most of the time is spent on training, on one search per sentence, and on one search per doubted head. The margins
    are computed as in `treebound.decoders.kbest`.

    References
    ----------
    van Halteren (2000), The detection of inconsistency in manually tagged text, LINC: errors are sought where a model
    disagrees with the annotation.

    Examples
    --------
    In one of forty sentences, the labels of subject and object are exchanged.

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
        raise InputError("a model cannot be combined with a reference or tags", hint="leave out reference and tags")
    with nullcontext(folder) if folder is not None else _temporary() as work_folder:
        if model is None:
            prepared = prepare(treebank, reference, training or {})
            job = Job(prepared, names, work_folder, progress if workers == 1 else None)
            mined_parts = [parts.whole(prepared)] if reference else parts.folds_of(prepared, settings.folds)
            remarks = prepared.remarks
        else:
            job, mined_parts, remarks = Job(_untrained(treebank), names, work_folder), [], []
        run = _Run(job, settings, workers, progress)
        mined = run.trees(mined_parts, model) if settings.kinds else []
        suspects = [s for sentence in mined for s in sentence.suspects if s.kind in settings.kinds]
        suspects += run.tags(mined_parts) if settings.tags else []
        for path in run.files(mined_parts):
            path.unlink(missing_ok=True)
    ranked = sorted(suspects, key=lambda s: (-s.doubt, s.sentence, s.word, s.kind))
    trees = {sentence.sentence: sentence.tree for sentence in mined}
    seconds = time.monotonic() - started
    return Mined(ranked, trees, len(treebank), treebank.words, remarks, seconds)


@dataclass(frozen=True)
class _Run:
    """A run of mining: its job, settings, number of workers and progress display."""

    job: Job
    settings: Settings
    workers: int
    progress: Progress | None

    def trees(self, mined_parts: list[Part], model: str | Path | None) -> list[MinedSentence]:
        """Return the sentences with suspects among heads and labels, found by one model file or by a model per part."""
        if model is not None:
            everything = np.arange(len(self.job.prepared.treebank))
            return self._mine(_parser(model), everything, "parse")
        files = spread(parts.train, self.job, mined_parts, workers=min(self.workers, len(mined_parts)))
        shown_files = self._shown(files, len(mined_parts), "folds") if self.workers > 1 else files
        paths = list(shown_files)
        mined: list[MinedSentence] = []
        for part, path in zip(mined_parts, paths, strict=True):
            mined += self._part(part, path)
        return mined

    def _part(self, part: Part, path: Path) -> list[MinedSentence]:
        """Return the mined sentences of a part. Reads them from the work file if an interrupted run has stored them."""
        parser = _parser(path)
        treebank = self.job.prepared.treebank.select(part.sentences)
        key = parts.key_of_part(parser.model.key.encode(), treebank, [self.job.names[i] for i in part.sentences])
        file = self._file(part)
        mined = parts.stored(file, key)
        if mined is None:
            mined = self._mine(parser, part.sentences, f"{part.name}, parse")
            parts.store(file, key, mined)
        return mined

    def _mine(self, parser: Parser, sentences: np.ndarray, title: str) -> list[MinedSentence]:
        """Return the sentences in which the model of one parser finds suspects."""
        treebank = self.job.prepared.treebank.select(sentences)
        miner = Miner(parser, treebank, [self.job.names[i] for i in sentences], sentences)
        ranges = blocks(len(treebank), BLOCK)
        results = spread(_mine_block, miner, ranges, workers=self.workers, short=True)
        return [sentence for block in self._shown(results, len(ranges), title) for sentence in block]

    def tags(self, mined_parts: list[Part]) -> list[Suspect]:
        """Return the suspects among the tags of all parts."""
        workers = min(self.workers, len(mined_parts))
        results = spread(parts.mine_tags, (self.job, self.settings.tags), mined_parts, workers=workers)
        return [
            suspect for part_suspects in self._shown(results, len(mined_parts), "tags") for suspect in part_suspects
        ]

    def files(self, mined_parts: list[Part]) -> Iterator[Path]:
        """Yield the paths of all work files of all parts, whether or not they exist."""
        for part in mined_parts:
            for ending in ("npz", "checkpoint.npz", "tags.json", "json"):
                yield self.job.folder / f"{part.name}.{ending}"

    def _file(self, part: Part) -> Path:
        """Return the path of the work file that stores a part's mined sentences."""
        return self.job.folder / f"{part.name}.json"

    def _shown(self, results: Iterator[Any], total: int, title: str) -> Iterator[Any]:
        """Pass results on and show the progress over their total number."""
        if self.progress is None:
            return results
        return (next(results) for _ in self.progress(range(total), title))


def _sentences(document: Document | Treebank) -> tuple[Treebank, list[str]]:
    """Return the treebank and the ids of its sentences."""
    if isinstance(document, Document):
        return document.treebank, sentence_ids(document)
    return document, [str(i + 1) for i in range(len(document))]


def _untrained(treebank: Treebank) -> Prepared:
    """Prepare a treebank that a model file parses, so that nothing is trained."""
    return prepare(treebank, (), {"space": "projective", "labels": "none"})


def _parser(path: str | Path) -> Parser:
    """Return the parser of a model file. Raises ModelError if the file holds no graph-based model."""
    return Parser(Model.load(path))


def _mine_block(miner: Miner, sentences: range) -> list[MinedSentence]:
    """Return the sentences of a block that have suspects."""
    mined = (miner.mine(i) for i in sentences)
    return [sentence for sentence in mined if sentence.suspects]


@contextmanager
def _temporary() -> Iterator[Path]:
    """Create a temporary folder, and remove it at the end of the context."""
    with tempfile.TemporaryDirectory(prefix="treebound-") as folder:
        yield Path(folder)
