"""A token table for training: it holds the hashes of vocabulary entries, and makes the rows of a sentence when asked.

`TokenTable` holds 72 bytes for each word of a treebank, which is right for the sentences that are parsed together and
too much for a treebank that a model is trained on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.spool import release
from treebound.core.treebank import Treebank
from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import _SPECIAL, EXTRA, PAD, TokenTable, _column, attributes_of

if TYPE_CHECKING:
    from treebound.features.patterns import Matches

BEFORE = PAD + 1  #: rows before the first word
RELEASE = 16  #: sentences after which the pages of a treebank in a file are released


class LazyTokenTable(TokenTable):
    """The rows of `TokenTable` for the same treebank, made one sentence at a time.

    found  where the patterns of a model match (`Scorer.matches`)
    """

    def __init__(self, treebank: Treebank, found: Matches | None = None):
        self.found = found
        self.attributes = attributes_of(treebank)
        self.offsets = treebank.offsets
        self._made, self._last = 0, -1  #: the number of sentences that were made, and the last one of them
        self._tags = treebank.columns[_column(treebank, "tag")[0]]
        #: for each column that is read: its ids, and the attributes read from it with the hash of each id
        self._read: list[tuple[np.ndarray, list[tuple[int, np.ndarray]]]] = []
        columns: dict[str, list[tuple[int, np.ndarray]]] = {}
        for i, attribute in enumerate(ATTRIBUTES):
            if attribute in self.attributes:
                column, function = _column(treebank, attribute)
                strings = [function(string) for string in treebank.vocab[column].strings]  # type: ignore[operator]
                hashes = np.array([hash_string(f"{attribute}={string}") for string in strings], np.int64)
                columns.setdefault(column, []).append((i, hashes))
        self._read = [(treebank.columns[column], read) for column, read in columns.items()]

    def sentence(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """As `TokenTable.sentence`. O(n)."""
        if i != self._last:
            self._rows_and_tag, self._last = self._make(i), i
            self._made += 1
            if self._made % RELEASE == 0:
                release()
        return self._rows_and_tag

    def _make(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = self.offsets[i : i + 2].tolist()
        n = b - a
        rows = np.zeros((len(ATTRIBUTES), n + EXTRA), np.int64)
        rows[:, :BEFORE], rows[:, BEFORE + n :] = _SPECIAL[:, :BEFORE], _SPECIAL[:, BEFORE:]
        for column, read in self._read:
            ids = column[a:b]
            for attribute, hashes in read:
                rows[attribute, BEFORE : BEFORE + n] = hashes[ids]
        tag = np.empty(n + 1, np.int32)
        tag[0], tag[1:] = -1, self._tags[a:b]
        return rows, tag
