"""Problems written by hand as the checker wants them: arcs in order, counts complete, no part that cannot fire.

A parser's problems are so already. Parts that no tree has would take their shares from others, and prove less.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from treebound.core.certificate import Step
from treebound.core.problem import LONGEST_COMB, MAX_COUNT, NONE, PartTable, Problem, canonical_order

C = TypeVar("C", bound=Any)  #: `Certificate`


class Ordered:
    """A problem in order, and what a certificate of the given one says of it.

    problem  arcs sorted, parts without those that score and cannot fire
    """

    def __init__(self, given: Problem, projective: bool):
        order = canonical_order(given.n, given.head, given.mod)
        self.order: np.ndarray | None = None if np.array_equal(order, np.arange(given.arcs)) else order
        self.rank = np.argsort(order)
        #: family -> the given rows that are left, where some are not
        self.kept: dict[str, np.ndarray] = {}
        tables = {family: self._table(given, table, projective) for family, table in given.parts.items()}
        self.problem = given
        if self.order is not None or any(tables[f] is not given.parts[f] for f in tables):
            self.problem = replace(
                given, head=given.head[order], mod=given.mod[order], arc=given.arc[order], parts=tables
            )

    def certificate(self, given: C) -> C:
        """A certificate about the given problem as one about `problem`; anything else of it stays as it is.

        ValueError for other numbers of shares than of parts, or of multipliers than of arcs.
        """
        if self.order is None and not self.kept:
            return given
        nodes = []
        for node in given.nodes:
            there = self.order is not None and 0 <= node.arc < len(self.rank)
            arc = int(self.rank[node.arc]) if there else node.arc
            nodes.append(replace(node, arc=arc, steps=[self._step(step) for step in node.steps]))
        return replace(given, nodes=nodes)

    def _table(self, given: Problem, table: PartTable, projective: bool) -> PartTable:
        rows, score = table.arcs, table.score
        scored = np.flatnonzero(score != 0.0)
        keep = np.ones(len(table), np.bool_)
        keep[scored] = _possible(given, table.family, rows[scored], projective)
        if not keep.all():
            self.kept[table.family] = keep
            rows, score = rows[keep], score[keep]
        if table.family == "valency":
            return _complete(given, PartTable(table.family, rows, score))
        if table.family == "comb" and rows.shape[1] < LONGEST_COMB:
            rows = np.pad(rows, ((0, 0), (0, LONGEST_COMB - rows.shape[1])), constant_values=NONE)
        if self.order is not None:
            rows = np.where(rows >= 0, self.rank[np.maximum(rows, 0)], rows) if len(self.rank) else rows
        return table if rows is table.arcs else PartTable(table.family, rows, score)

    def _step(self, step: Step) -> Step:
        shares = dict(step.shares)
        for family in self.kept.keys() & shares.keys():
            if np.shape(shares[family])[:1] != self.kept[family].shape:
                raise ValueError(f"{len(self.kept[family])} parts of {family} have other shares")
            shares[family] = shares[family][self.kept[family]]
        moved = {}
        for name in ("shift", "child", "parent") if self.order is not None else ():
            values = getattr(step, name)
            if values is not None:
                if len(values) != len(self.rank):
                    raise ValueError(f"{name}: {len(values)} numbers for {len(self.rank)} arcs")
                moved[name] = values[self.order]
        return replace(step, shares=shares, **moved)


def _complete(given: Problem, table: PartTable) -> PartTable:
    """Every number of modifiers of every word that has one, in order: those that were left out score 0."""
    most = np.minimum(np.bincount(given.head, minlength=given.n + 1), MAX_COUNT)
    words = sorted(set(table.arcs[:, 0].tolist()))
    known = {tuple(row): score for row, score in zip(table.arcs.tolist(), table.score.tolist(), strict=True)}
    rows = [(h, c) for h in words for c in range(most[h] + 1)]
    if known.keys() == set(rows):
        return table
    if known.keys() - set(rows):
        raise ValueError(f"valency has no parts {sorted(known.keys() - set(rows))}")
    return PartTable("valency", np.array(rows, np.int32).reshape(-1, 2), np.array([known.get(r, 0.0) for r in rows]))


def _possible(problem: Problem, family: str, rows: np.ndarray, projective: bool) -> np.ndarray:
    """bool[F]: parts that some tree may have, as far as two of its arcs tell, or a chain that comes back."""
    head, mod = problem.head, problem.mod
    if family == "valency":
        return rows[:, 1] <= np.bincount(head, minlength=problem.n + 1)[rows[:, 0]]
    out = np.ones(len(rows), np.bool_)
    if not len(rows):
        return out
    for x, y in combinations(rows.T, 2):
        a, b = np.maximum(x, 0), np.maximum(y, 0)
        apart = (mod[a] == mod[b]) | ((head[a] == mod[b]) & (mod[a] == head[b]))
        if problem.single_root:
            apart |= (head[a] == 0) & (head[b] == 0)
        if projective:
            (low, high), (left, right) = (np.sort([head[i], mod[i]], axis=0) for i in (a, b))
            apart |= ((low < left) & (left < high) & (high < right)) | ((left < low) & (low < right) & (right < high))
            # an arc stands above its own words alone: not above the head of its head
            apart |= (mod[a] == head[b]) & (left < head[a]) & (head[a] < right)
            apart |= (mod[b] == head[a]) & (low < head[b]) & (head[b] < high)
        out &= ~(apart & (a != b) & (x >= 0) & (y >= 0))
    return out & (mod[rows[:, 2]] != head[rows[:, 0]]) if family == "great-grandchild" else out
