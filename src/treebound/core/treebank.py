"""A treebank as columns: one int32 array per annotation, and one offset per sentence.

The columns hold syntactic words only. Multiword tokens, empty nodes and comments belong to the document from which the
treebank was read (`treebound.treebanks.document`), which writes them back byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD, OFFSET
from treebound.core.spool import release
from treebound.core.vocabulary import Vocabulary

#: columns that are strings in the file and numbers of vocabulary entries here
STRING_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel")
CHUNK = 1 << 16  #: words of a column that are processed at once, so that memory does not grow with the treebank


@dataclass(frozen=True)
class Treebank:
    """The sentences of one split of one corpus.

    - `name`: name for messages and tables.
    - `offsets`: int64[S + 1]; the words of sentence i are offsets[i] .. offsets[i + 1] - 1.
    - `columns`: a mapping from each name of STRING_COLUMNS to int32[W] numbers of entries of `vocab[name]`.
    - `vocab`: a mapping from each name to its Vocabulary.
    - `head`: int32[W]; 0 for the root, 1..n for words of the same sentence, NO_HEAD (-1) if not annotated.
    """

    name: str
    offsets: np.ndarray
    columns: dict[str, np.ndarray]
    vocab: dict[str, Vocabulary]
    head: np.ndarray
    meta: dict = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def words(self) -> int:
        """Return the number of words in all sentences."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> np.ndarray:
        """Return int64[S]: the number of words in each sentence."""
        return np.diff(self.offsets)

    def __getitem__(self, i: int) -> Sentence:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return Sentence(self, i)

    def __iter__(self) -> Iterator[Sentence]:
        return (Sentence(self, i) for i in range(len(self)))

    def strings(self, column: str) -> list[str]:
        """Return the strings of a column, one per word."""
        vocab = self.vocab[column].strings
        return [vocab[i] for i in self.columns[column]]

    def chunks(self, *columns: str) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield some columns in chunks of at most CHUNK words, from the first word to the last.

        A chunk has one int32 array per column, with numbers of vocabulary entries.
        """
        for begin in range(0, self.words, CHUNK):
            yield tuple(self.columns[name][begin : begin + CHUNK] for name in columns)
            release()

    def counts(self, column: str) -> np.ndarray:
        """Return int64[V]: the number of words with each entry of the column's vocabulary. O(words)."""
        total = np.zeros(len(self.vocab[column]), np.int64)
        for (ids,) in self.chunks(column):
            total += np.bincount(ids, minlength=len(total))
        return total

    def values(self, column: str) -> list[str]:
        """Return the distinct strings that occur in the column, in the order of the vocabulary. O(words)."""
        return [self.vocab[column][i] for i in np.flatnonzero(self.counts(column)).tolist()]

    def heads(self, i: int) -> np.ndarray:
        """Return int32[n + 1]: the heads of sentence i, with heads[0] = NO_HEAD, as kernels take them."""
        a, b = self.offsets[i], self.offsets[i + 1]
        out = np.empty(b - a + 1, INDEX)
        out[0] = NO_HEAD
        out[1:] = self.head[a:b]
        return out

    def with_heads(self, head: np.ndarray) -> Treebank:
        """Return a treebank with the same words but with other heads (int32[W])."""
        if head.shape != self.head.shape:
            raise ValueError(f"heads have shape {head.shape}, the treebank has {self.head.shape}")
        return Treebank(self.name, self.offsets, self.columns, self.vocab, head.astype(INDEX), self.meta)

    def select(self, indices: np.ndarray) -> Treebank:
        """Return a treebank of the sentences with these indices, in this order. It shares the vocabularies."""
        indices = np.asarray(indices, dtype=np.int64)
        lengths = self.lengths[indices]
        offsets = np.zeros(len(indices) + 1, OFFSET)
        np.cumsum(lengths, out=offsets[1:])
        rows = np.repeat(self.offsets[indices] - offsets[:-1], lengths) + np.arange(offsets[-1])
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Treebank(self.name, offsets, columns, self.vocab, self.head[rows], self.meta)


@dataclass(frozen=True)
class Sentence:
    """A view of one sentence of a treebank. Data are copied only when they are read."""

    treebank: Treebank
    index: int

    @property
    def n(self) -> int:
        """Return the number of words."""
        return int(self.treebank.offsets[self.index + 1] - self.treebank.offsets[self.index])

    def strings(self, column: str) -> list[str]:
        """Return the n strings of a column."""
        a, b = self.treebank.offsets[self.index], self.treebank.offsets[self.index + 1]
        vocab = self.treebank.vocab[column].strings
        return [vocab[i] for i in self.treebank.columns[column][a:b]]

    @property
    def heads(self) -> np.ndarray:
        """Return int32[n + 1]: the heads, with heads[0] = NO_HEAD."""
        return self.treebank.heads(self.index)
