"""Training that was interrupted, kept in a file after every epoch."""

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

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Trained(Generic[Kept]):
    """best: the result of the best epoch; history: a record an epoch; seconds: (CPU, wall) of learning alone."""

    best: Kept
    history: list[dict]
    seconds: tuple[float, float] = (0.0, 0.0)


Averages = tuple[np.ndarray, float]


def key_of(settings: dict, treebanks: Iterable[Treebank], *more: bytes) -> str:
    """Identifies a training by its settings (JSON values), the treebanks with their conventions, and whatever else."""
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for treebank in treebanks:
        conventions = {name: treebank.meta.get(name) for name in ("single_root", "tag", "coarse", "attributes")}
        digest.update(json.dumps(conventions, sort_keys=True).encode())
        for numbers in (treebank.offsets, treebank.head):
            for begin in range(0, len(numbers), CHUNK):
                digest.update(numbers[begin : begin + CHUNK].tobytes())
                release()
        for name in STRING_COLUMNS:  # numbered as they occur, which a vocabulary of more splits than one may not be
            number = np.full(len(treebank.vocab[name]), -1, np.int64)
            order: list[int] = []
            for (ids,) in treebank.chunks(name):
                used, first = np.unique(ids, return_index=True)
                for i in used[np.argsort(first)].tolist():
                    if number[i] < 0:
                        number[i] = len(order)
                        order.append(i)
                digest.update(number[ids].tobytes())
            digest.update("\0".join(treebank.vocab[name][i] for i in order).encode())
    for content in more:
        digest.update(content)
    return digest.hexdigest()


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class State(Header):
    """The header of a checkpoint."""

    key: str
    examples: Annotated[int, Field(ge=0)]
    unit: FiniteFloat
    history: History
    seconds: tuple[FiniteFloat, FiniteFloat]


class Checkpoint:
    """The file of a learner in training whose results are averages: (int32 weights, units per 1.0).

    key   identifies the training: a file of another training is not resumed
    more  name -> array that is state of the training, too: kept in the file, and put back in place
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
        """Put the learner into the state of the file; None if it belongs to another run or cannot be read."""
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
        """Training is over."""
        self.path.unlink(missing_ok=True)
