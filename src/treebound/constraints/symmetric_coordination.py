"""Constraint C1: a symmetric coordination (en, of, maar) has one right argument and at least one left argument."""

from __future__ import annotations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, at_most, row


class SymmetricCoordination:
    """A constraint on the numbers of left and right arguments of symmetric coordinations.

    All rows are in the integer program from the start. With the numbers of arguments `left` and `right`, they say:

        when = "always":        right = 1, left >= 1.
        when = "coordinating":  right <= 1, right <= left; every left argument requires a right argument. A word without
                                arguments keeps these rows.
    """

    name = "symmetric-coordination"
    code = "C1"

    def __init__(self, conjunctions: Conjunctions):
        self.conjunctions = conjunctions

    def start(self, variables: Variables) -> list[Row]:
        """Return two rows per conjunction. If `when` is "coordinating", add a row for each possible left argument."""
        rows = []
        for _, left, right in sides(self.conjunctions, variables):
            if self.conjunctions.when == "always":
                rows += [row(self.name, right, 1.0, 1.0), row(self.name, left, 1.0, np.inf)]
                continue
            rows += [row(self.name, right, -np.inf, 1.0), at_most(self.name, right, left)]
            rows += [at_most(self.name, left[i : i + 1], right) for i in range(len(left))]
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return no rows, because the rows of `start` are the whole constraint."""
        return []

    def forbidden(self, variables: Variables) -> None:
        """Return None: the constraint requires arguments, which forbidden arcs cannot express."""
        return None
