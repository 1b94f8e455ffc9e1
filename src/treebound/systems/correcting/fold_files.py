"""Files with the results of folds, beside the checkpoint of a training, until the training ends."""

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
    """The header of a file of one fold. `tags` are the names of the tags in its `Doubts`."""

    key: str
    tags: list[str]


Arrays = Sequence[np.ndarray]
T = TypeVar("T")


class Kind(NamedTuple, Generic[T]):
    """A kind of result of a fold, with its conversion to and from the arrays of a file.

    name      name of the kind, a part of the names of its files
    types     name -> dtype of the arrays, in order
    packed    function from a result to its arrays and the names of its tags
    unpacked  function from arrays and names of tags to the result
    """

    name: str
    types: Mapping[str, type]
    packed: Callable[[T], tuple[Sequence, list[str]]]  #: returns arrays, in the order of `types`, and names of tags
    unpacked: Callable[[Arrays, list[str]], T]

    @property
    def format(self) -> Format[Fold]:
        """The format of a file with this kind of result."""
        layouts = {name: Layout(dtype) for name, dtype in self.types.items()}
        return Format("fold of a checkpoint", 1, Fold, lambda _: layouts)


def _packed_doubts(doubts: Doubts) -> tuple[Sequence, list[str]]:
    names = sorted({tag for tags in doubts.tags for tag in tags})
    number = {name: i for i, name in enumerate(names)}
    tags = [number[tag] for tags in doubts.tags for tag in tags]
    return [list(map(len, doubts.tags)), tags, np.concatenate([np.zeros(0), *doubts.deficits])], names


def _unpacked_doubts(arrays: Arrays, names: list[str]) -> Doubts:
    counts, tags, deficits = arrays
    ends = np.cumsum(counts)[:-1]
    return Doubts([tuple(names[t] for t in numbers) for numbers in np.split(tags, ends)], np.split(deficits, ends))


def _packed_choices(choices: Sequence[Choice]) -> tuple[Sequence, list[str]]:
    rows, none = [choice.features for choice in choices], [np.zeros(0)]
    parts = (
        [np.diff(r.indptr) for r in rows],
        [r.indices for r in rows],
        [r.data for r in rows],
        [c.errors for c in choices],
    )
    return [[len(choice.errors) for choice in choices], *(np.concatenate(none + part) for part in parts)], []


def _unpacked_choices(arrays: Arrays, _: list[str]) -> list[Choice]:
    counts, sizes, columns, data, errors = arrays
    rows = np.concatenate([[0], np.cumsum(sizes)])
    every = sparse.csr_matrix((data, columns, rows), shape=(len(sizes), 1 << BITS))
    ends = np.cumsum(counts)
    return [Choice(every[b - k : b], errors[b - k : b]) for k, b in zip(counts.tolist(), ends.tolist(), strict=True)]


#: results of taggers: the number of tags of each word, these tags as numbers, and their deficits
DOUBTS: Kind[Doubts] = Kind(
    "tagger", {"counts": np.int32, "tags": np.int32, "deficits": np.float64}, _packed_doubts, _unpacked_doubts
)
#: results of parsers: the number of tag sequences of a sentence, the number of features of each, features, and errors
CHOICES: Kind[list[Choice]] = Kind(
    "parser",
    {"counts": np.int32, "sizes": np.int32, "columns": np.int32, "data": np.float64, "errors": np.float64},
    _packed_choices,
    _unpacked_choices,
)


class FoldFiles:
    """The files of one training run. Files of other runs are ignored. Without a checkpoint, nothing is stored."""

    def __init__(self, checkpoint: Path | None, key: str):
        self.checkpoint, self.key = checkpoint, key

    def folds(self, kind: Kind[T], number: int, compute: Callable[[list[int]], Iterator[T]]) -> Iterator[T]:
        """Yield the result of every fold, in order: from its file if there is one, and otherwise computed and stored.

        number   number of folds
        compute  function that yields the results of a list of folds, in order
        """
        stored = [self._load(kind, fold) for fold in range(number)]
        computed = compute([fold for fold, result in enumerate(stored) if result is None])
        for fold, loaded in enumerate(stored):
            result = next(computed) if loaded is None else loaded
            if loaded is None:
                self._save(kind, fold, result)
            yield result

    def remove(self) -> None:
        """Delete the files, once training has ended."""
        if self.checkpoint is not None:
            prefixes = tuple(f"{self.checkpoint.name}.{kind.name}." for kind in (DOUBTS, CHOICES))
            for path in self.checkpoint.parent.iterdir():
                if path.name.startswith(prefixes):
                    path.unlink(missing_ok=True)

    def _save(self, kind: Kind[T], fold: int, result: T) -> None:
        if self.checkpoint is not None:
            arrays, tags = kind.packed(result)
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
