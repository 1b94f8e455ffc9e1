"""Constraint S1 (ours): dependents with certain labels are on a fixed side of their head.

In Universal Dependencies the first conjunct is the head of the others. Constraint C1 (`symmetric_coordination`) then
becomes a constraint on the side of the dependents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class ArgumentSide:
    """A constraint that dependents with certain labels are on a fixed side of their head.

    From the start, one row per label forbids all arcs on the wrong side.

    left   labels whose dependents must be to the left of their head
    right  labels whose dependents must be to the right of their head
    """

    name = "argument-side"
    code = "S1"

    def __init__(self, left: Sequence[str] = (), right: Sequence[str] = ()):
        self.left, self.right = tuple(left), tuple(right)

    def start(self, variables: Variables) -> list[Row]:
        """Return one row for every label with arcs on the wrong side. O(V)."""
        rows = []
        for labels, wrong in (
            (self.left, variables.mod > variables.head),
            (self.right, variables.mod < variables.head),
        ):
            for label in sorted(variables.ids(labels)):
                columns = np.flatnonzero((variables.label == label) & wrong & (variables.head > 0))
                if len(columns):
                    rows.append(row(self.name, columns, 0.0, 0.0))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return no rows, because the rows of `start` are the whole constraint."""
        return []

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return the variable of every labelled arc whose dependent is on the wrong side."""
        return [(v,) for row in self.start(variables) for v in row.columns.tolist()]
