"""Warnings about input whose columns are not those that a model was trained on: empty, or full of unknown values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.support.progress import say

PART = 100  #: sentences that are judged at a time
MOSTLY = 0.5  #: share of words with unknown values, or with values of another column, from which on it is reported
FEW = 50  #: words of which it is no wonder if none has features
FEWEST = 5  #: words that are enough to judge a column by


class Columns:
    """The columns of one input file, of which `add` takes the sentences in turn. Each column is reported once.

    name   the file, for messages
    reads  the columns that the model looks at, beside forms
    known  column -> the values that the model was trained on; columns that are not there are not judged by values
    """

    def __init__(self, name: str, reads: Collection[str], known: Mapping[str, Collection[str]]):
        self.name, self.reads = name, tuple(reads)
        self.known = {column: frozenset(values) for column, values in known.items() if column in reads}
        self._reported: set[str] = set()
        self._waiting: list[Treebank] = []
        self._sentences = self._before = 0

    def add(self, treebank: Treebank) -> None:
        """Take some sentences; judge them together with those before if they are enough."""
        self._waiting.append(treebank)
        self._sentences += len(treebank)
        if self._sentences - self._before >= PART:
            self.finish()

    def finish(self) -> None:
        """Judge the sentences that were not judged yet."""
        words = sum(treebank.words for treebank in self._waiting)
        columns = [name for name in self.reads if words and name not in self._reported]
        empty = [name for name in columns if self._is_empty(name, words)]
        if empty:
            self._report(empty, f"{', '.join(empty)} empty, which the model reads; see treebound tag")
        for column in columns:
            if column not in self._reported and (unknown := self._unknown(column, words)):
                fault = f"the model does not know the {column} of {unknown}"
                other = self._exchanged(column, words)
                if other:
                    fault += f", but it knows what {other} holds: are {column} and {other} exchanged?"
                    self._report([column, other], fault)
                else:
                    self._report([column], f"{fault}: is it annotated like the training treebank?")
        self._waiting, self._before = [], self._sentences

    def _report(self, columns: Collection[str], fault: str) -> None:
        place = f", sentences {self._before + 1} to {self._sentences}" if self._before else ""
        say(f"treebound: warning: {self.name}{place}: {fault}")
        self._reported.update(columns)

    def _is_empty(self, column: str, words: int) -> bool:
        """Return whether a column has no value but `_`, though the training treebank had others, as far as is known."""
        if self.known.get(column) == {"_"} or (column == "feats" and words < FEW):
            return False
        return self._count(column, {"_"}) == words

    def _unknown(self, column: str, words: int) -> str:
        """Return how many words have unknown values, in words, if they are most; else an empty string."""
        known = self.known.get(column, frozenset())
        judged = words
        if column == "feats":  # most words of many languages have none, which says nothing
            judged, known = words - self._count(column, {"_"}), known - {"_"}
        unknown = judged - self._count(column, known)
        if not known or judged < FEWEST or unknown <= MOSTLY * judged:
            return ""
        return f"{unknown:,} of {judged:,} words ({100 * unknown / judged:.0f} %)"

    def _exchanged(self, column: str, words: int) -> str:
        """Return the other column that holds mostly known values of this one; an empty string if there is none."""
        known = self.known[column] - {"_"}
        others = [name for name in STRING_COLUMNS if name not in ("form", column)]
        best = max(others, key=lambda name: self._count(name, known))
        return best if self._count(best, known) > MOSTLY * words else ""

    def _count(self, column: str, values: Collection[str]) -> int:
        """Return the number of waiting words with one of these values in a column. O(words + distinct values)."""
        total = 0
        for treebank in self._waiting:
            flags = np.array([value in values for value in treebank.vocab[column].strings], bool)
            total += int(np.count_nonzero(flags[treebank.columns[column]])) if treebank.words else 0
        return total


def known_by(model: Any) -> dict[str, list[str]]:
    """Return the values that a model was trained on, by columns; nothing for a model that was written without them."""
    return getattr(model, "meta", {}).get("values", {})
