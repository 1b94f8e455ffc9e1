"""What the folds of an interrupted training found, each in a file beside the checkpoint until training ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

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


#: the arrays of a file
Types = Mapping[str, type]
#: how many tags each word has, their numbers and deficits
DOUBTS: Types = {"counts": np.int32, "tags": np.int32, "deficits": np.float64}
#: how many taggings each sentence has and how many features each of them, these, and errors
CHOICES: Types = {"counts": np.int32, "sizes": np.int32, "columns": np.int32, "data": np.float64, "errors": np.float64}


class Kept:
    """The files of a training; what another one left there is not taken up. Without a checkpoint there are none."""

    def __init__(self, checkpoint: Path | None, key: str):
        self.checkpoint, self.key = checkpoint, key

    def save_doubts(self, fold: int, found: Doubts) -> None:
        """Of a fold of taggers."""
        names = sorted({tag for tags in found.tags for tag in tags})
        number = {name: i for i, name in enumerate(names)}
        arrays = [list(map(len, found.tags)), [number[tag] for tags in found.tags for tag in tags]]
        self._save("tagger", fold, DOUBTS, [*arrays, np.concatenate([np.zeros(0), *found.deficits])], names)

    def doubts(self, fold: int) -> Doubts | None:
        """What was saved of a fold; None if nothing was."""
        loaded = self._load("tagger", fold, DOUBTS)
        if loaded is None:
            return None
        names, (counts, tags, deficits) = loaded
        ends = np.cumsum(counts)[:-1]
        return Doubts([tuple(names[t] for t in some) for some in np.split(tags, ends)], np.split(deficits, ends))

    def save_choices(self, fold: int, found: Sequence[Choice]) -> None:
        """Of a fold of parsers."""
        rows = [choice.features for choice in found]
        none = [np.zeros(0)]
        arrays = [
            [len(choice.errors) for choice in found],
            *(np.concatenate(none + part) for part in ([np.diff(r.indptr) for r in rows], [r.indices for r in rows])),
            *(np.concatenate(none + part) for part in ([r.data for r in rows], [choice.errors for choice in found])),
        ]
        self._save("parser", fold, CHOICES, arrays, [])

    def choices(self, fold: int) -> list[Choice] | None:
        """What was saved of a fold; None if nothing was."""
        loaded = self._load("parser", fold, CHOICES)
        if loaded is None:
            return None
        counts, sizes, columns, data, errors = loaded[1]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        every = sparse.csr_matrix((data, columns, ends), shape=(len(sizes), 1 << BITS))
        last = np.cumsum(counts)
        return [
            Choice(every[b - k : b], errors[b - k : b]) for k, b in zip(counts.tolist(), last.tolist(), strict=True)
        ]

    def remove(self) -> None:
        """Training is over."""
        if self.checkpoint is not None:
            ours = tuple(f"{self.checkpoint.name}.{part}." for part in ("tagger", "parser"))
            for path in self.checkpoint.parent.iterdir():
                if path.name.startswith(ours):
                    path.unlink(missing_ok=True)

    def _save(self, part: str, fold: int, types: Types, arrays: Sequence, tags: list[str]) -> None:
        if self.checkpoint is not None:
            typed = zip(types.items(), arrays, strict=True)
            named: dict[str, np.ndarray] = {name: np.asarray(array, dtype) for (name, dtype), array in typed}
            _format(types).save(self._path(part, fold), {"key": self.key, "tags": tags}, named)

    def _load(self, part: str, fold: int, types: Types) -> tuple[list[str], list[np.ndarray]] | None:
        if self.checkpoint is None:
            return None
        try:
            header, arrays = _format(types).load(self._path(part, fold))
        except ModelError:
            return None
        return (header.tags, [arrays[name] for name in types]) if header.key == self.key else None

    def _path(self, part: str, fold: int) -> Path:
        assert self.checkpoint is not None
        return self.checkpoint.with_name(f"{self.checkpoint.name}.{part}.{fold}")


def _format(types: Types) -> Format[Fold]:
    return Format("fold of a checkpoint", 1, Fold, lambda _: {name: Layout(dtype) for name, dtype in types.items()})
