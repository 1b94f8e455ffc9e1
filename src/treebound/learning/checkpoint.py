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
from treebound.core.treebank import STRING_COLUMNS, Treebank
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
        digest.update(treebank.offsets.tobytes() + treebank.head.tobytes())
        for name in STRING_COLUMNS:  # numbered as they occur, which a vocabulary of more splits than one may not be
            used, first, ids = np.unique(treebank.columns[name], return_index=True, return_inverse=True)
            order = np.argsort(first)
            digest.update(np.argsort(order)[ids].tobytes())
            digest.update("\0".join(treebank.vocab[name][i] for i in used[order].tolist()).encode())
    for content in more:
        digest.update(content)
    return digest.hexdigest()


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class State(Header):
    """What stands in a checkpoint beside its weights. entries: of the table, those that are kept."""

    key: str
    entries: Annotated[int, Field(ge=0)]
    examples: Annotated[int, Field(ge=0)]
    unit: FiniteFloat
    history: History
    seconds: tuple[FiniteFloat, FiniteFloat]


class Checkpoint:
    """The file of a learner in training whose results are averages: (int32 weights, units per 1.0).

    Most of the table is zero. The other entries are kept alone, with a bit for each entry that says which they are, and
    not compressed: this takes a tenth of the time of an epoch, where deflating the table took as long as the epoch.

    key   of the very run that it belongs to: what another run left there is not taken up
    more  name -> array that is state of the training, too: kept in the file, and put back in place
    """

    def __init__(self, path: Path, key: str, learner: Learner, more: Mapping[str, np.ndarray] | None = None):
        self.path, self.key, self.learner, self.more = path, key, learner, dict(more or {})
        types: dict[str, type] = {"weights": np.float32, "sums": np.float64, "best": np.int32}
        fixed = {"kept": Layout(np.uint8, {((len(learner.weights) + 7) // 8,)})}
        fixed |= {name: Layout(array.dtype.type, {array.shape}) for name, array in self.more.items()}

        def layouts(state: State) -> dict[str, Layout]:
            return fixed | {name: Layout(dtype, {(state.entries,)}) for name, dtype in types.items()}

        self.format = Format("checkpoint", 3, State, layouts)

    def save(self, trained: Trained[Averages]) -> None:
        """Write the state after an epoch, atomically."""
        tables: dict[str, np.ndarray] = {
            "weights": self.learner.weights,
            "sums": self.learner.sums,
            "best": trained.best[0],
        }
        kept = np.logical_or.reduce([table != 0 for table in tables.values()])
        arrays = {"kept": np.packbits(kept), **self.more} | {name: table[kept] for name, table in tables.items()}
        meta = {"key": self.key, "examples": self.learner.examples, "unit": trained.best[1]}
        meta |= {"entries": int(np.count_nonzero(kept)), "history": trained.history, "seconds": trained.seconds}
        self.format.save(self.path, meta, arrays, compressed=False)

    def resume(self) -> Trained[Averages] | None:
        """Put the learner into the state of the file; None if it belongs to another run or cannot be read."""
        try:
            state, arrays = self.format.load(self.path)
        except ModelError:
            return None
        if state.key != self.key:
            return None
        size = len(self.learner.weights)
        bits = np.unpackbits(arrays["kept"]).view(bool)
        if np.count_nonzero(bits) != state.entries or bits[size:].any():
            return None
        kept, best = bits[:size], np.zeros(size, np.int32)
        tables: dict[str, np.ndarray] = {"weights": self.learner.weights, "sums": self.learner.sums, "best": best}
        for name, table in tables.items():
            table[:] = 0
            table[kept] = arrays[name]
        self.learner.examples = state.examples
        for name, array in self.more.items():
            array[:] = arrays[name]
        return Trained((best, state.unit), state.history, state.seconds)

    def remove(self) -> None:
        """Training is over."""
        self.path.unlink(missing_ok=True)
