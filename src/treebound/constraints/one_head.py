"""T1: every word has exactly one head; with a single root, the root has exactly one modifier."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class OneHead:
    """From the start: n rows, one more for a single root. The root has no head since no variable is one."""

    name = "one-head"
    code = "T1"

    def start(self, variables: Variables) -> list[Row]:
        """O(V log V)."""
        order = np.argsort(variables.mod, kind="stable")
        bounds = np.searchsorted(variables.mod[order], np.arange(1, variables.n + 2))
        rows = [row(self.name, order[a:b], 1.0, 1.0) for a, b in pairwise(bounds)]
        roots = np.flatnonzero(variables.head == 0)
        rows.append(row(self.name, roots, 1.0, 1.0 if variables.single_root else np.inf))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """None beyond the start."""
        return []

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Nothing: trees keep it."""
        return []
