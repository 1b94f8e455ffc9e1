"""Build token tables for training, which store hashes of vocabulary entries and make the rows of a sentence on demand.

`TokenTable` takes 72 bytes for each word of a treebank. This suits sentences that are parsed together, but is too much
for a training treebank.
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

BEFORE = PAD + 1  #: number of rows before the first word
RELEASE = 16  #: the pages of a treebank in a file are released after this number of sentences


class LazyTokenTable(TokenTable):
    """Token table with the rows of `TokenTable`, made one sentence at a time.

    Parameters
    ----------
    treebank : Treebank
        Sentences to hash.
    matches : Matches, optional
        Matches of the patterns of a model (`Scorer.matches`).
    """

    def __init__(self, treebank: Treebank, matches: Matches | None = None):
        self.pattern_matches = matches
        self.attributes = attributes_of(treebank)
        self.offsets = treebank.offsets
        self._made, self._last = 0, -1  #: number of sentences made so far, and the number of the last one
        self._tags = treebank.columns[_column(treebank, "tag")[0]]
        #: for each column in use: its ids, and its attributes with the hash of each id
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
        """Return the rows and tag ids of sentence i, like `TokenTable.sentence`. O(n)."""
        if i != self._last:
            self._rows_and_tag, self._last = self._make(i), i
            self._made += 1
            if self._made % RELEASE == 0:
                release()
        return self._rows_and_tag

    def _make(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Build the rows and tag ids of sentence i, without using stored ones."""
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
