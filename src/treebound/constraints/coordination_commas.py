"""C3: between successive arguments on the left of a symmetric conjunction there is a comma."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, row


class CoordinationCommas:
    """For every run of left arguments without a separator between its first and its last word, when it occurs.

    Published: the words A of such a run are not all arguments, sum over A <= |A| - 1. No two of them can be, which is
    the row here, sum over A <= 1: it implies the published row of A and of all its subsets with two words or more.

    separators  forms, of which one must stand between two successive arguments
    """

    name = "coordination-commas"
    code = "C3"

    def __init__(self, conjunctions: Conjunctions, separators: tuple[str, ...] = (",",)):
        self.conjunctions, self.separators = conjunctions, separators

    def start(self, variables: Variables) -> list[Row]:
        """None: there are exponentially many."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """O(n) a conjunction, and its variables."""
        rows: list[Row] = []
        ids = variables.ids([self.conjunctions.label])
        forms = variables.words.form
        for i in self.conjunctions.words(variables.words):
            run: list[int] = []
            for word in range(1, i):
                argument = selection.heads[word] == i and int(selection.labels[word]) in ids
                if argument:
                    run.append(word)
                if forms[word] in self.separators:  # one that is an argument itself ends a run and begins another
                    rows += self._row(variables, i, run, ids)
                    run = [word] if argument else []
            rows += self._row(variables, i, run, ids)
        return rows

    def _row(self, variables: Variables, i: int, run: list[int], ids: set[int]) -> list[Row]:
        if len(run) < 2:
            return []
        arcs = np.concatenate([variables.arc(i, m) for m in run])
        return [row(self.name, arcs[np.isin(variables.label[arcs], list(ids))], -np.inf, 1.0)]

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Every two left arguments without a separator between them. O(arguments squared)."""
        out: list[tuple[int, ...]] = []
        forms = variables.words.form
        for _, left, _ in sides(self.conjunctions, variables):
            for one, two in combinations(left.tolist(), 2):
                first, last = sorted((int(variables.mod[one]), int(variables.mod[two])))
                if first < last and not any(form in self.separators for form in forms[first + 1 : last]):
                    out.append((one, two))
        return out
