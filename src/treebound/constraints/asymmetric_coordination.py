"""Constraint C2: an asymmetric coordination (zowel ... als) has no left and at least two right arguments."""

from __future__ import annotations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, at_most, row


class AsymmetricCoordination:
    """A constraint on the numbers of left and right arguments of asymmetric coordinations.

    All rows are in the integer program from the start. With the numbers of arguments `left` and `right`, they say:

        when = "always":        left = 0, right >= 2.
        when = "coordinating":  left = 0; every right argument requires another right argument.
    """

    name = "asymmetric-coordination"
    code = "C2"

    def __init__(self, conjunctions: Conjunctions):
        self.conjunctions = conjunctions

    def start(self, variables: Variables) -> list[Row]:
        """Return the rows of all conjunctions.

        A conjunction has two rows if `when` is "always". Otherwise it has one row, plus one row for each possible right
        argument.
        """
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
        """Return no rows, because the rows of `start` are the whole constraint."""
        return []

    def forbidden(self, variables: Variables) -> None:
        """Return None: the constraint requires arguments, which forbidden arcs cannot express."""
        return None
