"""Constraint T2: a tree has no cycles. The rows have the published form or are cuts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row

Form = Literal["cycle", "cut", "both"]


class NoCycles:
    """A constraint that trees have no cycles. It adds rows for every cycle c that occurs in a solution.

    form selects the rows, which are sums of d, the 0/1 variables of arcs:

    - "cycle": the arcs of c are not all selected, sum d <= |c| - 1 (Riedel & Clarke 2006, T2).
    - "cut": an arc from outside enters the words of c, sum d >= 1. A cut implies the other form: since every word has
      one head, at most |c| - 1 words then have a head inside c.
    - "both" adds both rows.
    """

    name = "no-cycles"
    code = "T2"

    def __init__(self, form: Form = "cut"):
        if form not in ("cycle", "cut", "both"):
            raise ValueError(f"unknown form {form!r}: choose from cycle, cut, both")
        self.form = form

    def start(self, variables: Variables) -> list[Row]:
        """Return no rows, because their number is exponential; `violated` adds the rows that a solution breaks."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return the rows of every cycle of a selection. O(n + V) per cycle."""
        rows = []
        for cycle in cycles(selection.heads):
            if self.form != "cut":
                arcs = [variables.arc(int(selection.heads[m]), m) for m in cycle]
                rows.append(row(self.name, np.concatenate(arcs), -np.inf, len(cycle) - 1.0))
            if self.form != "cycle":
                inside = np.zeros(variables.n + 1, np.bool_)
                inside[cycle] = True
                entering = np.flatnonzero(inside[variables.mod] & ~inside[variables.head])
                rows.append(row(self.name, entering, 1.0, np.inf))
        return rows

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return an empty list, because every tree keeps the constraint."""
        return []


def cycles(heads: np.ndarray) -> list[list[int]]:
    """Return every cycle of heads int[n + 1] (index 0 unused) once, as a list in which each word's head comes next.

    O(n).
    """
    seen = [0] * len(heads)
    result = []
    for start in range(1, len(heads)):
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = int(heads[word])
        if word > 0 and seen[word] == start:
            cycle = [word]
            while (head := int(heads[cycle[-1]])) != word:
                cycle.append(head)
            result.append(cycle)
    return result
