"""Gold heads and labels of a training treebank, one sentence at a time, from the columns of the treebank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from treebound.core.dtypes import INDEX
from treebound.core.spool import Spool, release
from treebound.core.treebank import Treebank
from treebound.features.labels import numbers
from treebound.treebanks.projectivise import is_projective, projectivise

RELEASE = 1000  #: number of sentences after which the memory pages of a treebank in a file are released


class GoldHeads(Sequence[np.ndarray]):
    """A sequence of the gold heads of each sentence, int32[n + 1], as `Treebank.heads` returns them."""

    def __init__(self, treebank: Treebank):
        self.treebank = treebank

    def __len__(self) -> int:
        return len(self.treebank)

    @overload
    def __getitem__(self, i: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, i: slice) -> list[np.ndarray]: ...
    def __getitem__(self, i: int | slice) -> np.ndarray | list[np.ndarray]:
        if isinstance(i, slice):
            return [self.treebank.heads(j) for j in range(*i.indices(len(self)))]
        return self.treebank.heads(i)


class GoldLabels:
    """The gold labels of each sentence, int32[n]: indices in `names`, -1 for any other label."""

    def __init__(self, treebank: Treebank, names: tuple[str, ...]):
        self.offsets, self.ids = treebank.offsets, treebank.columns["deprel"]
        self.number = numbers(treebank.vocab["deprel"], names)

    def __getitem__(self, i: int) -> np.ndarray:
        a, b = self.offsets[i : i + 2].tolist()
        return self.number[self.ids[a:b]]


def projective(treebank: Treebank) -> tuple[GoldHeads, int]:
    """Return the gold heads of every sentence, projectivised where arcs cross, and the number of changed sentences."""
    spool, lifted = Spool(INDEX), 0
    for i in range(len(treebank)):
        heads = treebank.heads(i)
        if not is_projective(heads):
            heads, _ = projectivise(heads)
            lifted += 1
        spool.extend(heads[1:])
        if i % RELEASE == 0:
            release()
    return GoldHeads(replace(treebank, head=spool.array()) if lifted else treebank), lifted
