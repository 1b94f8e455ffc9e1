"""Constraint P1: two arcs do not cross if one of them has a label of the set P."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class SelectiveProjectivity:
    """A constraint that arcs with a label of a set P cross no other arcs. It adds a row for every crossing that occurs.

    Consider crossing arcs (i, j) and (m, n), where (i, j) has a label of P.

    The row is e[i, j, P] + sum_c d[c, n] <= 1. Here e[i, j, P] is 1 if arc (i, j) is selected with a label of P, and
    d[c, n] is 1 if arc (c, n) is selected. The sum is over all heads c from which an arc to n would cross (i, j).

    The published rows are e[i, j, l1] + e[m, n, l2] <= 1 for pairs of labels. An arc with a label of P must not cross
    any other arc, whatever the other arc's label, and n has only one head. One row here therefore replaces many
    published rows.

    - labels: the set P, or "all" for every label. Trees are then projective, also with respect to arcs of the root,
      which is to the left of the first word.
    - exempt: label -> word classes. An arc with this label to a word of one of the classes may cross other arcs (Dutch:
      cnj to verbs).
    """

    name = "selective-projectivity"
    code = "P1"

    def __init__(self, labels: Sequence[str] | str, exempt: Mapping[str, Sequence[str]] | None = None):
        self.labels = labels if labels == "all" else tuple(labels)
        self.exempt = dict(exempt or {})

    def start(self, variables: Variables) -> list[Row]:
        """Return no rows, because the O(n^4) rows are too many; `violated` adds the rows that a solution breaks."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return a row for every forbidden crossing of a selection. O(n^2)."""
        n, heads = variables.n, selection.heads
        words = np.arange(1, n + 1)
        low, high = np.minimum(heads[1:], words), np.maximum(heads[1:], words)
        into = np.argsort(variables.mod, kind="stable")
        first = np.searchsorted(variables.mod[into], np.arange(n + 2))
        rows = []
        for m in range(1, n + 1):
            h = int(heads[m])
            bound = self._bound(variables, m)
            if not bound[selection.labels[m]]:
                continue
            a, b = min(h, m), max(h, m)
            arc = variables.arc(h, m)
            own_variables = arc[bound[variables.label[arc]]]
            across = ((a < low) & (low < b) & (b < high)) | ((low < a) & (a < high) & (high < b))
            for word in words[across].tolist():
                candidates = into[first[word] : first[word + 1]]
                c = variables.head[candidates]
                crossing = (c < a) | (c > b) if a < word < b else (a < c) & (c < b)
                rows.append(row(self.name, np.concatenate([own_variables, candidates[crossing]]), -np.inf, 1.0))
        return rows

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return every pair of crossing arcs of which the first has a label of P and is not exempt. O(V squared)."""
        low, high = np.minimum(variables.head, variables.mod), np.maximum(variables.head, variables.mod)
        bound = {m: self._bound(variables, m) for m in range(1, variables.n + 1)}
        pairs: list[tuple[int, ...]] = []
        for v in range(len(variables)):
            if bound[int(variables.mod[v])][variables.label[v]]:
                a, b = low[v], high[v]
                across = ((a < low) & (low < b) & (b < high)) | ((low < a) & (a < high) & (high < b))
                pairs += [(v, other) for other in np.flatnonzero(across).tolist()]
        return pairs

    def _bound(self, variables: Variables, m: int) -> np.ndarray:
        """Return bool[labels]: for each label, whether arcs into word m with the label must not cross other arcs."""
        if self.labels == "all":
            projective = np.ones(len(variables.names), np.bool_)
        else:
            projective = np.zeros(len(variables.names), np.bool_)
            projective[list(variables.ids(self.labels))] = True
        for label, classes in self.exempt.items():
            if variables.words.word_class[m] in classes:
                projective[list(variables.ids([label]))] = False
        return projective
