"""C2: an asymmetric coordination (zowel ... als) has no argument on its left and at least two on its right."""

from __future__ import annotations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, at_most, row


class AsymmetricCoordination:
    """From the start.

    when = "always":        sum left = 0, sum right >= 2;
    when = "coordinating":  sum left = 0, and the arguments that one word on the right may be <= those of the others.
    """

    name = "asymmetric-coordination"
    code = "C2"

    def __init__(self, conjunctions: Conjunctions):
        self.conjunctions = conjunctions

    def start(self, variables: Variables) -> list[Row]:
        """Two rows a conjunction, or one for each possible argument on its right."""
        rows = []
        for _, left, right in sides(self.conjunctions, variables):
            rows.append(row(self.name, left, 0.0, 0.0))
            if self.conjunctions.when == "always":
                rows.append(row(self.name, right, 2.0, np.inf))
                continue
            mods = variables.mod[right]
            rows += [at_most(self.name, right[mods == m], right[mods != m]) for m in np.unique(mods)]
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """None beyond the start."""
        return []

    def forbidden(self, variables: Variables) -> None:
        """It asks for arguments, which nothing that is forbidden can do."""
        return None
