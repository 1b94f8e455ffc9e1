"""Canonical form of problems written by hand: sorted arcs, complete counts, and no parts that can never fire.

A parser's problems have this form already. Parts that occur in no tree would take shares from other parts and weaken
the bound.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from treebound.core.certificate import Step
from treebound.core.problem import LONGEST_COMB, MAX_COUNT, NONE, PartTable, Problem, canonical_order

AnyCertificate = TypeVar("AnyCertificate", bound=Any)  #: `Certificate`


class Ordered:
    """A problem in canonical form, with the translation of certificates about the original problem.

    problem  the problem with sorted arcs, and without parts that have a score but can never fire
    """

    def __init__(self, original: Problem, projective: bool):
        order = canonical_order(original.n, original.head, original.mod)
        self.order: np.ndarray | None = None if np.array_equal(order, np.arange(original.arcs)) else order
        self.rank = np.argsort(order)
        #: family -> bool mask of the remaining rows, for families that lost some
        self.kept: dict[str, np.ndarray] = {}
        self.added = 0  #: number of columns that were added to the table of combs
        tables = {family: self._table(original, table, projective) for family, table in original.parts.items()}
        self.problem = original
        if self.order is not None or any(tables[f] is not original.parts[f] for f in tables):
            self.problem = replace(
                original, head=original.head[order], mod=original.mod[order], arc=original.arc[order], parts=tables
            )

    def certificate(self, certificate: AnyCertificate) -> AnyCertificate:
        """Translate a certificate about the original problem into a certificate about `problem`.

        Arcs of nodes, shares and numbers per arc are rearranged; all other fields of the certificate are unchanged.
        Shares of combs get the columns that were added to the table of combs.

        Raises ValueError if the number of shares differs from the number of parts, or the number of multipliers from
        the number of arcs.
        """
        if self.order is None and not self.kept and not self.added:
            return certificate
        nodes = []
        for node in certificate.nodes:
            has_arc = self.order is not None and 0 <= node.arc < len(self.rank)
            arc = int(self.rank[node.arc]) if has_arc else node.arc
            nodes.append(replace(node, arc=arc, steps=[self._step(step) for step in node.steps]))
        return replace(certificate, nodes=nodes)

    def _table(self, original: Problem, table: PartTable, projective: bool) -> PartTable:
        """Return the parts of a family in canonical form, and store which rows remain."""
        rows, score = table.arcs, table.score
        scored = np.flatnonzero(score != 0.0)
        keep = np.ones(len(table), np.bool_)
        keep[scored] = _possible(original, table.family, rows[scored], projective)
        if not keep.all():
            self.kept[table.family] = keep
            rows, score = rows[keep], score[keep]
        if table.family == "valency":
            return _complete(original, PartTable(table.family, rows, score))
        if table.family == "comb" and rows.shape[1] < LONGEST_COMB:
            self.added = LONGEST_COMB - rows.shape[1]
            rows = np.pad(rows, ((0, 0), (0, LONGEST_COMB - rows.shape[1])), constant_values=NONE)
        if self.order is not None:
            rows = np.where(rows >= 0, self.rank[np.maximum(rows, 0)], rows) if len(self.rank) else rows
        return table if rows is table.arcs else PartTable(table.family, rows, score)

    def _step(self, step: Step) -> Step:
        """Translate a step of a certificate about the original problem into a step about `problem`."""
        shares = dict(step.shares)
        for family in self.kept.keys() & shares.keys():
            if np.shape(shares[family])[:1] != self.kept[family].shape:
                raise ValueError(f"{len(self.kept[family])} parts of {family} have other shares")
            shares[family] = shares[family][self.kept[family]]
        if self.added and "comb" in shares and np.shape(shares["comb"])[1:] == (LONGEST_COMB - self.added,):
            shares["comb"] = np.pad(shares["comb"], ((0, 0), (0, self.added)))
        moved = {}
        for name in ("shift", "child", "parent") if self.order is not None else ():
            values = getattr(step, name)
            if values is not None:
                if len(values) != len(self.rank):
                    raise ValueError(f"{name}: {len(values)} numbers for {len(self.rank)} arcs")
                moved[name] = values[self.order]
        return replace(step, shares=shares, **moved)


def _complete(original: Problem, table: PartTable) -> PartTable:
    """Return a valency table in order, with score 0 for missing counts of every word that has a part."""
    most = np.minimum(np.bincount(original.head, minlength=original.n + 1), MAX_COUNT)
    words = sorted(set(table.arcs[:, 0].tolist()))
    known = {tuple(row): score for row, score in zip(table.arcs.tolist(), table.score.tolist(), strict=True)}
    rows = [(h, c) for h in words for c in range(most[h] + 1)]
    if known.keys() == set(rows):
        return table
    if known.keys() - set(rows):
        raise ValueError(f"valency has no parts {sorted(known.keys() - set(rows))}")
    return PartTable("valency", np.array(rows, np.int32).reshape(-1, 2), np.array([known.get(r, 0.0) for r in rows]))


def _possible(problem: Problem, family: str, rows: np.ndarray, projective: bool) -> np.ndarray:
    """Return bool[F]: the parts that may occur in a tree.

    Each pair of arcs of a part must be compatible, and the chain of a great-grandchild part must not return to its
    head.
    """
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
            # in a projective tree, no arc spans the head of its own head
            apart |= (mod[a] == head[b]) & (left < head[a]) & (head[a] < right)
            apart |= (mod[b] == head[a]) & (low < head[b]) & (head[b] < high)
        out &= ~(apart & (a != b) & (x >= 0) & (y >= 0))
    return out & (mod[rows[:, 2]] != head[rows[:, 0]]) if family == "great-grandchild" else out
