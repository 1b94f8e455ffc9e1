"""C1: a symmetric coordination (en, of, maar) has exactly one argument on its right and at least one on its left."""

from __future__ import annotations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, at_most, row


class SymmetricCoordination:
    """From the start.

    when = "always":        sum right = 1, sum left >= 1;
    when = "coordinating":  sum right <= 1, sum right <= sum left, and every left argument <= sum right: all of that
                            holds if there are no arguments at all.
    """

    name = "symmetric-coordination"
    code = "C1"

    def __init__(self, conjunctions: Conjunctions):
        self.conjunctions = conjunctions

    def start(self, variables: Variables) -> list[Row]:
        """Two rows a conjunction, or one for each possible argument on its left."""
        rows = []
        for _, left, right in sides(self.conjunctions, variables):
            if self.conjunctions.when == "always":
                rows += [row(self.name, right, 1.0, 1.0), row(self.name, left, 1.0, np.inf)]
                continue
            rows += [row(self.name, right, -np.inf, 1.0), at_most(self.name, right, left)]
            rows += [at_most(self.name, left[i : i + 1], right) for i in range(len(left))]
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """None beyond the start."""
        return []

    def forbidden(self, variables: Variables) -> None:
        """It asks for arguments, which nothing that is forbidden can do."""
        return None
