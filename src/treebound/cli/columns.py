"""Warnings about input columns that differ from the training treebank: empty, or full of unknown values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.support.progress import say

PART = 100  #: number of sentences that are examined together
MOSTLY = 0.5  #: a share of words with unknown values, or with values of another column, is reported above this value
FEW = 50  #: number of words below which an empty column of features is not reported
FEWEST = 5  #: smallest number of words from which it is judged whether the values of a column are known


class Columns:
    """The columns of one input file. `add` reads its sentences in order; each column is reported at most once.

    name   name of the file, for messages
    reads  columns that the model reads, forms excepted
    known  column -> values in the training treebank; columns without an entry are not judged by their values
    """

    def __init__(self, name: str, reads: Collection[str], known: Mapping[str, Collection[str]]):
        self.name, self.reads = name, tuple(reads)
        self.known = {column: frozenset(values) for column, values in known.items() if column in reads}
        self._reported: set[str] = set()
        self._waiting: list[Treebank] = []
        self._sentences = self._before = 0

    def add(self, treebank: Treebank) -> None:
        """Store the sentences of a treebank, and examine all stored sentences once their number is at least PART."""
        self._waiting.append(treebank)
        self._sentences += len(treebank)
        if self._sentences - self._before >= PART:
            self.finish()

    def finish(self) -> None:
        """Examine the stored sentences, warn about their columns, and drop the sentences."""
        words = sum(treebank.words for treebank in self._waiting)
        columns = [name for name in self.reads if words and name not in self._reported]
        empty = [name for name in columns if self._is_empty(name, words)]
        if empty:
            it = "it" if len(empty) == 1 else "them"
            self._report(empty, f"{', '.join(empty)} empty, but the model reads {it}; `treebound tag` can fill {it}")
        for column in columns:
            if column not in self._reported and (unknown := self._unknown(column, words)):
                fault = f"the model does not know the {column} of {unknown}"
                other = self._exchanged(column, words)
                if other:
                    fault += f", but it knows the values of {other}: are {column} and {other} exchanged?"
                    self._report([column, other], fault)
                else:
                    self._report([column], f"{fault}: is it annotated like the training treebank?")
        self._waiting, self._before = [], self._sentences

    def _report(self, columns: Collection[str], fault: str) -> None:
        place = f", sentences {self._before + 1} to {self._sentences}" if self._before else ""
        say(f"treebound: warning: {self.name}{place}: {fault}")
        self._reported.update(columns)

    def _is_empty(self, column: str, words: int) -> bool:
        """Return whether a column holds only `_`.

        Return False if the column held only `_` in the training treebank, too, or if it is `feats` of a few words.
        """
        if self.known.get(column) == {"_"} or (column == "feats" and words < FEW):
            return False
        return self._count(column, {"_"}) == words

    def _unknown(self, column: str, words: int) -> str:
        """Say how many words have unknown values in a column; return an empty string if they are not the majority."""
        known = self.known.get(column, frozenset())
        judged = words
        if column == "feats":  # `_` is no evidence: most words of many languages have no features
            judged, known = words - self._count(column, {"_"}), known - {"_"}
        unknown = judged - self._count(column, known)
        if not known or judged < FEWEST or unknown <= MOSTLY * judged:
            return ""
        return f"{unknown:,} of {judged:,} words ({100 * unknown / judged:.0f} %)"

    def _exchanged(self, column: str, words: int) -> str:
        """Return another column, most of whose values are known values of this column, or an empty string."""
        known = self.known[column] - {"_"}
        others = [name for name in STRING_COLUMNS if name not in ("form", column)]
        best = max(others, key=lambda name: self._count(name, known))
        return best if self._count(best, known) > MOSTLY * words else ""

    def _count(self, column: str, values: Collection[str]) -> int:
        """Return the number of words of the stored sentences whose value in a column is in `values`.

        O(words + distinct values).
        """
        total = 0
        for treebank in self._waiting:
            flags = np.array([value in values for value in treebank.vocab[column].strings], bool)
            total += int(np.count_nonzero(flags[treebank.columns[column]])) if treebank.words else 0
        return total


def known_by(model: Any) -> dict[str, list[str]]:
    """Return column -> values of a model's training treebank; an empty dict for models that do not store them."""
    return getattr(model, "meta", {}).get("values", {})
