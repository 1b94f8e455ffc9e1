"""Results of the folds of a training, each in a file beside the checkpoint until training ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked
from scipy import sparse

from treebound.core.errors import ModelError
from treebound.learning.storage import Format, Header, Layout
from treebound.systems.correcting.balance import BITS, Choice
from treebound.systems.correcting.doubts import Doubts


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Fold(Header):
    """What stands beside the arrays; tags: their names, of doubts."""

    key: str
    tags: list[str]


Arrays = Sequence[np.ndarray]
T = TypeVar("T")


class Kind(NamedTuple, Generic[T]):
    """What folds find, and the arrays of its file."""

    name: str
    types: Mapping[str, type]
    packed: Callable[[T], tuple[Sequence, list[str]]]  #: arrays, in the order of `types`, and names of tags
    unpacked: Callable[[Arrays, list[str]], T]

    @property
    def format(self) -> Format[Fold]:
        """Of a file."""
        layouts = {name: Layout(dtype) for name, dtype in self.types.items()}
        return Format("fold of a checkpoint", 1, Fold, lambda _: layouts)


def _packed_doubts(found: Doubts) -> tuple[Sequence, list[str]]:
    names = sorted({tag for tags in found.tags for tag in tags})
    number = {name: i for i, name in enumerate(names)}
    tags = [number[tag] for tags in found.tags for tag in tags]
    return [list(map(len, found.tags)), tags, np.concatenate([np.zeros(0), *found.deficits])], names


def _unpacked_doubts(arrays: Arrays, names: list[str]) -> Doubts:
    counts, tags, deficits = arrays
    ends = np.cumsum(counts)[:-1]
    return Doubts([tuple(names[t] for t in some) for some in np.split(tags, ends)], np.split(deficits, ends))


def _packed_choices(found: Sequence[Choice]) -> tuple[Sequence, list[str]]:
    rows, none = [choice.features for choice in found], [np.zeros(0)]
    parts = (
        [np.diff(r.indptr) for r in rows],
        [r.indices for r in rows],
        [r.data for r in rows],
        [c.errors for c in found],
    )
    return [[len(choice.errors) for choice in found], *(np.concatenate(none + part) for part in parts)], []


def _unpacked_choices(arrays: Arrays, _: list[str]) -> list[Choice]:
    counts, sizes, columns, data, errors = arrays
    rows = np.concatenate([[0], np.cumsum(sizes)])
    every = sparse.csr_matrix((data, columns, rows), shape=(len(sizes), 1 << BITS))
    ends = np.cumsum(counts)
    return [Choice(every[b - k : b], errors[b - k : b]) for k, b in zip(counts.tolist(), ends.tolist(), strict=True)]


#: of taggers: how many tags each word has, their numbers and deficits
DOUBTS: Kind[Doubts] = Kind(
    "tagger", {"counts": np.int32, "tags": np.int32, "deficits": np.float64}, _packed_doubts, _unpacked_doubts
)
#: of parsers: how many taggings each sentence has and how many features each of them, these, and errors
CHOICES: Kind[list[Choice]] = Kind(
    "parser",
    {"counts": np.int32, "sizes": np.int32, "columns": np.int32, "data": np.float64, "errors": np.float64},
    _packed_choices,
    _unpacked_choices,
)


class FoldFiles:
    """The files of one training. Files of another training are ignored. Without a checkpoint nothing is stored."""

    def __init__(self, checkpoint: Path | None, key: str):
        self.checkpoint, self.key = checkpoint, key

    def folds(self, kind: Kind[T], number: int, compute: Callable[[list[int]], Iterator[T]]) -> Iterator[T]:
        """What every fold finds, in order: as it was saved, or else computed and saved.

        compute  what the folds that it is given find, in their order
        """
        before = [self._load(kind, fold) for fold in range(number)]
        found = compute([fold for fold, one in enumerate(before) if one is None])
        for fold, saved in enumerate(before):
            one = next(found) if saved is None else saved
            if saved is None:
                self._save(kind, fold, one)
            yield one

    def remove(self) -> None:
        """Training is over."""
        if self.checkpoint is not None:
            ours = tuple(f"{self.checkpoint.name}.{kind.name}." for kind in (DOUBTS, CHOICES))
            for path in self.checkpoint.parent.iterdir():
                if path.name.startswith(ours):
                    path.unlink(missing_ok=True)

    def _save(self, kind: Kind[T], fold: int, found: T) -> None:
        if self.checkpoint is not None:
            arrays, tags = kind.packed(found)
            typed = zip(kind.types.items(), arrays, strict=True)
            named: dict[str, np.ndarray] = {name: np.asarray(array, dtype) for (name, dtype), array in typed}
            kind.format.save(self._path(kind, fold), {"key": self.key, "tags": tags}, named)

    def _load(self, kind: Kind[T], fold: int) -> T | None:
        if self.checkpoint is None:
            return None
        try:
            header, arrays = kind.format.load(self._path(kind, fold))
        except ModelError:
            return None
        return kind.unpacked([arrays[name] for name in kind.types], header.tags) if header.key == self.key else None

    def _path(self, kind: Kind[T], fold: int) -> Path:
        assert self.checkpoint is not None
        return self.checkpoint.with_name(f"{self.checkpoint.name}.{kind.name}.{fold}")
