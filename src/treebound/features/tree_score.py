"""Score single trees from scratch, score changes of a tree from the affected parts, and compare two trees."""

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
    """Score of a tree as the sum over the parts of a problem in canonical form (`treebound.core.protocols.TreeScore`).

    All arguments `heads` are int32[n + 1], the heads of a tree in the problem's space. Raises InputError for a problem
    in another form.
    """

    def __init__(self, problem: Problem):
        if problem.canonical is None:
            raise InputError("the problem is not in canonical form", hint="see treebound.decoders.canonical.canonical")
        self.problem = problem
        self._moving: tuple[Scoring, Tree] | None = None

    def score(self, heads: np.ndarray) -> float:
        """Return the sum of the scores of a tree's parts.

        The sum is -inf if an arc or part of the tree is forbidden, or if an arc is not a candidate.

        O(n d), d the largest number of modifiers; O(parts) for families that have to be scanned.
        """
        problem, arcs = self.problem, arcs_of_tree(index_of(self.problem).arcs, heads)
        if np.any(arcs < 0):
            return -np.inf
        parts = (t.score[self._selected(f, arcs)].sum() for f, t in problem.parts.items())
        return float(problem.arc[arcs].sum() + sum(parts))

    def change(self, heads: np.ndarray, m: int, h: int) -> float:
        """Return score(heads with h as the head of m) - score(heads).

        The change is -inf if h -> m is not a candidate arc, and nan if `heads` has an arc that is not a candidate.
        Raises InputError if scores are not finite. The first call builds tables. A later call is fast if its `heads`
        differ in few words from the `heads` of the previous call. It then takes O(d^3) time, where d is the largest
        number of modifiers, plus time for the arc products that contain the old or the new arc.
        """
        if self._moving is None:
            if not self.problem.finite:
                raise InputError("the problem forbids an arc or part", hint="give finite scores")
            scoring = scoring_of(self.problem)
            arcs = arcs_of_tree(scoring.arc_index, heads)
            if np.any(arcs < 0):
                return np.nan
            self._moving = scoring, lay_out(scoring, arcs)[0]
        return float(change_of(*self._moving, heads, m, h))

    def difference(self, a: np.ndarray, b: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return two dicts, family (or `arc`) -> int32[*]: the parts of tree a that b lacks, and of b that a lacks.

        Learning from the two trees adds and subtracts the features of the returned parts. Raises InputError if an arc
        is not a candidate.
        """
        arcs_of_a, arcs_of_b = (arcs_of_tree(index_of(self.problem).arcs, heads) for heads in (a, b))
        if np.any(arcs_of_a < 0) or np.any(arcs_of_b < 0):
            raise InputError("a tree has an arc that is not a candidate", hint="add the arc to the problem")
        only_a, only_b = {}, {}
        for family in ("arc", *self.problem.parts):
            x, y = self._selected(family, arcs_of_a), self._selected(family, arcs_of_b)
            only_a[family], only_b[family] = only_in(x, y), only_in(y, x)
        return only_a, only_b

    def _selected(self, family: str, arcs: np.ndarray) -> np.ndarray:
        """Return the parts of a family that a tree with these arcs selects."""
        table = self.problem.parts.get(family)
        return selected_parts(family, *index_of(self.problem), None if table is None else table.arcs, arcs)
