"""First-order non-projective decoding: the maximum spanning arborescence (McDonald et al. 2005)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.kernels.arborescence import maximum_arborescence


class ChuLiuEdmonds:
    """Best tree, projective or not, under arc scores. A single root is had by a constant on all root arcs."""

    name = "chu-liu-edmonds"
    space: Literal["non-projective"] = "non-projective"
    exact = True
    supports = frozenset({"arc"})
    cite = "McDonald, Pereira, Ribarov & Hajic (2005), section 2.2.1"

    def decode(self, problem: Problem) -> Parse:
        """O(n^3). UnsupportedError for families beside `arc`."""
        if problem.families - self.supports:
            families = ", ".join(sorted(problem.families - self.supports))
            raise UnsupportedError(f"{self.name} does not score {families}", hint="use branch-and-bound or ilp")
        score = np.full((problem.n + 1, problem.n + 1), -np.inf)
        score[problem.head, problem.mod] = problem.arc
        if problem.single_root:
            # no tree gains as much by a second root arc as it loses by the constant
            score[0] -= 1.0 + 2.0 * np.ceil(np.abs(problem.arc[np.isfinite(problem.arc)]).sum())
        heads = maximum_arborescence(score.copy())
        words = np.arange(1, problem.n + 1)
        roots = int((heads[1:] == 0).sum())
        if heads[1] == -2 or (problem.single_root and roots > 1):
            heads[1:] = 0
            return Parse(heads, -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
        table = np.full((problem.n + 1, problem.n + 1), -np.inf)
        table[problem.head, problem.mod] = problem.arc
        value = float(table[heads[1:], words].sum())
        return Parse(heads, value, value, "optimal", {"dp_calls": 1})
