"""P1: two arcs do not cross if one of them has a label of P."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, row


class SelectiveProjectivity:
    """For every crossing of two selected arcs, (i, j) with a label of P and (m, n): e[i, j, P] + sum_c d[c, n] <= 1.

    The sum is over all heads c from which an arc to n would cross (i, j).

    Published: e[i, j, l1] + e[m, n, l2] <= 1, one label each. What an arc with a label of P must not cross does not
    depend on the other arc's label, and n has one head, so that many published rows are one here.

    labels  P, or "all": every arc (then trees are projective; arcs of the root, which stands left of the first word,
            included)
    exempt  label -> word classes: an arc with this label to a word of such a class may cross (Dutch: cnj to verbs)
    """

    name = "selective-projectivity"
    code = "P1"

    def __init__(self, labels: Sequence[str] | str, exempt: Mapping[str, Sequence[str]] | None = None):
        self.labels = labels if labels == "all" else tuple(labels)
        self.exempt = dict(exempt or {})

    def start(self, variables: Variables) -> list[Row]:
        """None: O(n^4) of them."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """O(n^2)."""
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
            own = arc[bound[variables.label[arc]]]
            across = ((a < low) & (low < b) & (b < high)) | ((low < a) & (a < high) & (high < b))
            for other in words[across].tolist():
                candidates = into[first[other] : first[other + 1]]
                c = variables.head[candidates]
                crossing = (c < a) | (c > b) if a < other < b else (a < c) & (c < b)
                rows.append(row(self.name, np.concatenate([own, candidates[crossing]]), -np.inf, 1.0))
        return rows

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Every crossing of an arc with a label of P and another. O(V squared)."""
        low, high = np.minimum(variables.head, variables.mod), np.maximum(variables.head, variables.mod)
        bound = {m: self._bound(variables, m) for m in range(1, variables.n + 1)}
        out: list[tuple[int, ...]] = []
        for v in range(len(variables)):
            if bound[int(variables.mod[v])][variables.label[v]]:
                a, b = low[v], high[v]
                across = ((a < low) & (low < b) & (b < high)) | ((low < a) & (a < high) & (high < b))
                out += [(v, other) for other in np.flatnonzero(across).tolist()]
        return out

    def _bound(self, variables: Variables, m: int) -> np.ndarray:
        """bool[labels]: labels under which an arc to word m must not cross another."""
        if self.labels == "all":
            out = np.ones(len(variables.names), np.bool_)
        else:
            out = np.zeros(len(variables.names), np.bool_)
            out[list(variables.ids(self.labels))] = True
        for label, classes in self.exempt.items():
            if variables.words.word_class[m] in classes:
                out[list(variables.ids([label]))] = False
        return out
