"""A1: a head has at most one modifier under each of the labels U (one subject, one object, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class UniqueLabels:
    """From the start: a row for every head and label of U that could occur twice.

    labels  U
    """

    name = "unique-labels"
    code = "A1"

    def __init__(self, labels: Sequence[str]):
        self.labels = tuple(labels)

    def start(self, variables: Variables) -> list[Row]:
        """O(V |U|)."""
        rows = []
        for label in sorted(variables.ids(self.labels)):
            columns = np.flatnonzero(variables.label == label)  # sorted by head
            heads = variables.head[columns]
            for group in np.split(columns, np.flatnonzero(np.diff(heads)) + 1):
                if len(group) > 1:
                    rows.append(row(self.name, group, -np.inf, 1.0))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """None beyond the start."""
        return []

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Every two modifiers of one head under one label of U."""
        return [pair for row in self.start(variables) for pair in combinations(row.columns.tolist(), 2)]
