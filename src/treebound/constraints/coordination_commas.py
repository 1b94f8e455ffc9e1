"""Constraint C3: there is a comma between successive left arguments of a symmetric conjunction."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from treebound.constraints.coordination import Conjunctions, sides
from treebound.constraints.rows import Row, Selection, Variables, row


class CoordinationCommas:
    """A constraint that a separator is between successive left arguments of a symmetric conjunction.

    It adds a row for every run of left arguments without a separator between them, when the run occurs in a solution.

    The published row says that the words A of a run are not all arguments: sum over A <= |A| - 1. In fact no two of
    them can be arguments, so that the row here is sum over A <= 1. It implies the published rows of A and of all its
    subsets with two words or more.

    separators  forms; one of them must be between two successive arguments
    """

    name = "coordination-commas"
    code = "C3"

    def __init__(self, conjunctions: Conjunctions, separators: tuple[str, ...] = (",",)):
        self.conjunctions, self.separators = conjunctions, separators

    def start(self, variables: Variables) -> list[Row]:
        """Return no rows, because their number is exponential; `violated` adds the rows that a solution breaks."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return a row for every run of two or more left arguments without a separator between them.

        O(n) per conjunction, plus the number of its variables.
        """
        rows: list[Row] = []
        ids = variables.ids([self.conjunctions.label])
        forms = variables.words.form
        for i in self.conjunctions.words(variables.words):
            run: list[int] = []
            for word in range(1, i):
                argument = selection.heads[word] == i and int(selection.labels[word]) in ids
                if argument:
                    run.append(word)
                if forms[word] in self.separators:  # a separator that is an argument ends a run and begins the next one
                    rows += self._row(variables, i, run, ids)
                    run = [word] if argument else []
            rows += self._row(variables, i, run, ids)
        return rows

    def _row(self, variables: Variables, i: int, run: list[int], ids: set[int]) -> list[Row]:
        """Return the row that at most one word of `run` is an argument of conjunction i.

        The list is empty if the run has fewer than two words.

        ids  numbers of the labels of arguments
        """
        if len(run) < 2:
            return []
        arcs = np.concatenate([variables.arc(i, m) for m in run])
        return [row(self.name, arcs[np.isin(variables.label[arcs], list(ids))], -np.inf, 1.0)]

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return the variables of every two left arguments without a separator between them. O(arguments squared)."""
        pairs: list[tuple[int, ...]] = []
        forms = variables.words.form
        for _, left_arguments, _ in sides(self.conjunctions, variables):
            for a, b in combinations(left_arguments.tolist(), 2):
                first, last = sorted((int(variables.mod[a]), int(variables.mod[b])))
                if first < last and not any(form in self.separators for form in forms[first + 1 : last]):
                    pairs.append((a, b))
        return pairs
