"""Constraint T1: every word has one head; a single root has one dependent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class OneHead:
    """A constraint that every word has one head, and that a single root has one dependent.

    All rows are in the integer program from the start: one row per word, and one for the root. If the problem allows
    several dependents of the root, the row of the root requires at least one.

    The root has no head, because there is no variable for an arc into it.
    """

    name = "one-head"
    code = "T1"

    def start(self, variables: Variables) -> list[Row]:
        """Return the rows of all words and of the root. O(V log V)."""
        order = np.argsort(variables.mod, kind="stable")
        bounds = np.searchsorted(variables.mod[order], np.arange(1, variables.n + 2))
        rows = [row(self.name, order[a:b], 1.0, 1.0) for a, b in pairwise(bounds)]
        roots = np.flatnonzero(variables.head == 0)
        rows.append(row(self.name, roots, 1.0, 1.0 if variables.single_root else np.inf))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return no rows, because the rows of `start` are the whole constraint."""
        return []

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return an empty list, because every tree keeps the constraint."""
        return []
