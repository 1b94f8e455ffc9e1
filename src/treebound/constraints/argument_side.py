"""S1 (ours): modifiers under some labels stand on one side of their head.

In Universal Dependencies the first conjunct heads the others, so what C1 says of conjunctions is a matter of sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class ArgumentSide:
    """From the start: one row that forbids all arcs on the wrong side.

    left, right  labels whose modifiers stand left, right of their head
    """

    name = "argument-side"
    code = "S1"

    def __init__(self, left: Sequence[str] = (), right: Sequence[str] = ()):
        self.left, self.right = tuple(left), tuple(right)

    def start(self, variables: Variables) -> list[Row]:
        """O(V)."""
        left = np.isin(variables.label, list(variables.ids(self.left))) & (variables.mod > variables.head)
        right = np.isin(variables.label, list(variables.ids(self.right))) & (variables.mod < variables.head)
        columns = np.flatnonzero((left | right) & (variables.head > 0))
        return [row(self.name, columns, 0.0, 0.0)] if len(columns) else []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """None beyond the start."""
        return []
