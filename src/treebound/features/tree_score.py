"""Scores of single trees: of one from scratch, of a move from what it touches, and what tells two trees apart."""

from __future__ import annotations

import numpy as np

from treebound.core.errors import InputError
from treebound.core.problem import Problem
from treebound.features.scorer import selected_parts
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.features.scoring import only_in
from treebound.kernels.tree_moves import Scoring, Tree, change_of, lay_out, scoring_of


class PartScore:
    """`treebound.core.protocols.TreeScore` of the parts of a problem in canonical form.

    All heads are int32[n + 1] of trees of the problem's space. Raises InputError for a problem in another form.
    """

    def __init__(self, problem: Problem):
        if problem.canonical is None:
            raise InputError("the problem is not in canonical form", hint="see treebound.decoders.canonical.canonical")
        self.problem = problem
        self._moving: tuple[Scoring, Tree] | None = None

    def score(self, heads: np.ndarray) -> float:
        """Sum of the scores of a tree's parts; -inf where an arc is no candidate or something is forbidden.

        O(n d), d the largest number of modifiers; for products that are listed O(parts).
        """
        problem, arcs = self.problem, arcs_of_tree(index_of(self.problem).arcs, heads)
        if np.any(arcs < 0):
            return -np.inf
        parts = (t.score[self._selected(f, arcs)].sum() for f, t in problem.parts.items())
        return float(problem.arc[arcs].sum() + sum(parts))

    def change(self, heads: np.ndarray, m: int, h: int) -> float:
        """score(heads with h for m) - score(heads); -inf where h -> m is no candidate, nan where heads have another.

        Raises InputError where scores are not finite. O(d^3) and the products of two arcs, if `heads` are those of the
        call before but for a few words; the tables are made by the first call.
        """
        if self._moving is None:
            if not self.problem.finite:
                raise InputError("the problem forbids something", hint="a move has no finite change then")
            scoring = scoring_of(self.problem)
            arcs = arcs_of_tree(scoring.arc_index, heads)
            if np.any(arcs < 0):
                return np.nan
            self._moving = scoring, lay_out(scoring, arcs)[0]
        return float(change_of(*self._moving, heads, m, h))

    def difference(self, a: np.ndarray, b: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """(parts that tree a has and b has not, the other way round): family (`arc` too) -> int32[*] part numbers.

        Features of the parts are what learning from the two trees adds and subtracts. InputError where an arc is no
        candidate.
        """
        one, two = (arcs_of_tree(index_of(self.problem).arcs, heads) for heads in (a, b))
        if np.any(one < 0) or np.any(two < 0):
            raise InputError("a tree has an arc that is no candidate", hint="add it to the problem's arcs")
        ours, theirs = {}, {}
        for family in ("arc", *self.problem.parts):
            x, y = self._selected(family, one), self._selected(family, two)
            ours[family], theirs[family] = only_in(x, y), only_in(y, x)
        return ours, theirs

    def _selected(self, family: str, arcs: np.ndarray) -> np.ndarray:
        table = self.problem.parts.get(family)
        return selected_parts(family, *index_of(self.problem), None if table is None else table.arcs, arcs)
