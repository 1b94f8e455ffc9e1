"""T2: no cycles, in the published form and as cuts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row

Form = Literal["cycle", "cut", "both"]


class NoCycles:
    """For every cycle c of a selection, when it occurs.

    form  cycle: the arcs of c are not all selected, sum d <= |c| - 1 (Riedel & Clarke 2006, T2);
          cut: some arc enters the words of c from outside, sum d >= 1. It implies the other one: with one head a word,
          at most |c| - 1 heads are left for arcs inside;
          both
    """

    name = "no-cycles"
    code = "T2"

    def __init__(self, form: Form = "cut"):
        if form not in ("cycle", "cut", "both"):
            raise ValueError(f"unknown form {form!r}: choose from cycle, cut, both")
        self.form = form

    def start(self, variables: Variables) -> list[Row]:
        """None: there are exponentially many."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """O(n + V) a cycle."""
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
        """Nothing: trees keep it."""
        return []


def cycles(heads: np.ndarray) -> list[list[int]]:
    """The cycles among int[n + 1] heads (index 0 unused), each once, its words in order of discovery. O(n)."""
    seen = [0] * len(heads)
    found = []
    for start in range(1, len(heads)):
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = int(heads[word])
        if word > 0 and seen[word] == start:
            cycle = [word]
            while (after := int(heads[cycle[-1]])) != word:
                cycle.append(after)
            found.append(cycle)
    return found
