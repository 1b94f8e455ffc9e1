"""Constraint A1: a head has at most one dependent under each label of the set U (one subject, one object, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class UniqueLabels:
    """A constraint that a head has at most one dependent under each label of a set U.

    All rows are in the integer program from the start: one for every head and label of U that could occur twice.

    labels  the set U
    """

    name = "unique-labels"
    code = "A1"

    def __init__(self, labels: Sequence[str]):
        self.labels = tuple(labels)

    def start(self, variables: Variables) -> list[Row]:
        """Return one row for every head and label of U that several variables have. O(V |U|) for V variables."""
        rows = []
        for label in sorted(variables.ids(self.labels)):
            columns = np.flatnonzero(variables.label == label)  # sorted by head
            heads = variables.head[columns]
            for group in np.split(columns, np.flatnonzero(np.diff(heads)) + 1):
                if len(group) > 1:
                    rows.append(row(self.name, group, -np.inf, 1.0))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return no rows: the rows that `start` returns are the whole constraint."""
        return []

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return every pair of variables that have the same head and the same label of U."""
        return [pair for row in self.start(variables) for pair in combinations(row.columns.tolist(), 2)]
