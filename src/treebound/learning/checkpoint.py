"""Checkpoints: the state of a training run, written to a file after every epoch so that the run can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import numpy as np
from pydantic import ConfigDict, Field, FiniteFloat
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import ModelError
from treebound.core.spool import release
from treebound.core.treebank import CHUNK, STRING_COLUMNS, Treebank
from treebound.learning.storage import Format, Header, History, Layout
from treebound.learning.updates import Learner

Result = TypeVar("Result")


@dataclass(frozen=True)
class Trained(Generic[Result]):
    """The outcome of a training run.

    best     the result of the best epoch
    history  one dict per epoch, with the values that `Task.learn` and `judge` of `loop.train` returned
    seconds  (CPU, wall) seconds of learning, without evaluation
    """

    best: Result
    history: list[dict]
    seconds: tuple[float, float] = (0.0, 0.0)


Averages = tuple[np.ndarray, float]


def key_of(settings: dict, treebanks: Iterable[Treebank], *contents: bytes) -> str:
    """Return the key of a training run: a digest of settings, treebanks with their conventions, and further content.

    settings   JSON values
    treebanks  treebanks whose heads, strings and conventions enter the digest
    contents   further content, for instance of files that the training reads
    """
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for treebank in treebanks:
        conventions = {name: treebank.meta.get(name) for name in ("single_root", "tag", "coarse", "attributes")}
        digest.update(json.dumps(conventions, sort_keys=True).encode())
        for numbers in (treebank.offsets, treebank.head):
            for begin in range(0, len(numbers), CHUNK):
                digest.update(numbers[begin : begin + CHUNK].tobytes())
                release()
        # ids become ranks of first occurrence, because a vocabulary that several splits share may differ in order
        for name in STRING_COLUMNS:
            ranks = np.full(len(treebank.vocab[name]), -1, np.int64)
            order: list[int] = []
            for (ids,) in treebank.chunks(name):
                used, first = np.unique(ids, return_index=True)
                for i in used[np.argsort(first)].tolist():
                    if ranks[i] < 0:
                        ranks[i] = len(order)
                        order.append(i)
                digest.update(ranks[ids].tobytes())
            digest.update("\0".join(treebank.vocab[name][i] for i in order).encode())
    for content in contents:
        digest.update(content)
    return digest.hexdigest()


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class State(Header):
    """The header of a checkpoint file."""

    key: str
    examples: Annotated[int, Field(ge=0)]
    unit: FiniteFloat
    history: History
    seconds: tuple[FiniteFloat, FiniteFloat]


class Checkpoint:
    """The checkpoint file of a learner whose result is an average: (int32 weights, units per 1.0).

    path     the file
    key      key of the training run; a file with another key is not resumed
    learner  the learner, whose state is saved and restored
    more     dict from names to further arrays of the training state, which are saved and restored in place
    """

    def __init__(self, path: Path, key: str, learner: Learner, more: Mapping[str, np.ndarray] | None = None):
        self.path, self.key, self.learner, self.more = path, key, learner, dict(more or {})
        size = (len(learner.weights),)
        types: dict[str, type] = {"weights": np.float32, "sums": np.float64, "best": np.int32}
        layouts = {name: Layout(dtype, {size}) for name, dtype in types.items()}
        layouts |= {name: Layout(array.dtype.type, {array.shape}) for name, array in self.more.items()}
        self.format = Format("checkpoint", 4, State, lambda _: layouts, sparse=tuple(types))

    def save(self, trained: Trained[Averages]) -> None:
        """Write the state after an epoch, atomically."""
        arrays: dict[str, np.ndarray] = {"weights": self.learner.weights, "sums": self.learner.sums}
        arrays |= {"best": trained.best[0], **self.more}
        meta = {"key": self.key, "examples": self.learner.examples, "unit": trained.best[1]}
        meta |= {"history": trained.history, "seconds": trained.seconds}
        self.format.save(self.path, meta, arrays, compressed=False)

    def resume(self) -> Trained[Averages] | None:
        """Restore the learner from the file and return the outcome so far.

        Returns None if there is no readable file or if it belongs to another training run.
        """
        try:
            state, arrays = self.format.load(self.path)
        except ModelError:
            return None
        if state.key != self.key:
            return None
        self.learner.weights[:], self.learner.sums[:] = arrays["weights"], arrays["sums"]
        self.learner.examples = state.examples
        for name, array in self.more.items():
            array[:] = arrays[name]
        return Trained((arrays["best"], state.unit), state.history, state.seconds)

    def remove(self) -> None:
        """Delete the checkpoint file, which is not needed after training."""
        self.path.unlink(missing_ok=True)
