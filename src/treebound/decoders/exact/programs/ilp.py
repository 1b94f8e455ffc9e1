"""Decoding as an integer program, solved by HiGHS through cvxpy: slow, but independent of all other decoders.

Variables: z_a in {0, 1} for every arc; y >= 0 for every part; f >= 0, a flow on the arcs that forbids cycles; v in
{0, 1} for every number of dependents that a word may have. If z is integral, the rows force y to the value of the part,
whatever the sign of its score.

The flow is the formulation of Martins, Smith & Xing (2009), "Concise integer linear programming formulations for
dependency parsing". The rows that forbid crossing arcs in groups are ours. The rows of parts are in `part_rows`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix

from treebound.checker.scoring import tree_score
from treebound.core.dtypes import INDEX, NO_HEAD, ROOT
from treebound.core.errors import UnsupportedError
from treebound.core.limits import check_memory
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.base import CheckedDecoder
from treebound.decoders.exact.programs.live import objective_scale
from treebound.decoders.exact.programs.part_rows import FAMILIES, PartRows
from treebound.support.extras import needs

#: bytes of the rows that forbid crossing arcs, for each pair of arcs; bytes of the other rows, for each arc or part
_PAIR, _ENTRY = 15, 1000


class IntegerProgram(CheckedDecoder):
    """A decoder of the best tree by mixed integer programming.

    space       "projective" or "non-projective"
    time_limit  limit of solver seconds per sentence, None for no limit. A sentence that reaches it gets status `limit`

    The solver uses floating-point numbers: `optimal` means proved up to its tolerance, which is about 1e-9 of the
    largest score for each part. The value is the exact score of the returned tree.
    """

    name = "ilp"
    exact = True
    supports = FAMILIES
    cite = "Martins, Smith & Xing (2009), section 3"

    def __init__(self, space: Space = "projective", time_limit: float | None = None):
        if space not in ("projective", "non-projective"):
            raise UnsupportedError(f"unknown tree space {space!r}", hint="choose from projective, non-projective")
        self.space = space
        self.time_limit = time_limit

    def decode(self, problem: Problem, without: Sequence[np.ndarray] = ()) -> Parse:
        """Return the best tree of `problem` that is not in the list `without` of trees, given as heads int[n + 1].

        See `Parse` for the status and the bound.
        """
        return self._through(problem, without=without)

    def _decode(self, problem: Problem, without: Sequence[np.ndarray] = ()) -> Parse:
        """Return the best tree of a canonical problem that is not in the list `without` of trees."""
        start = time.perf_counter()
        program = _Program(problem, self.space)
        for tree in without:
            program.exclude(tree)
        built = time.perf_counter()
        status, z, bound, nodes = program.solve(self.time_limit)
        seconds = {"build": built - start, "solve": time.perf_counter() - built}
        heads = np.zeros(problem.n + 1, INDEX)
        heads[ROOT] = NO_HEAD
        if status == "infeasible":
            return Parse(heads, -math.inf, -math.inf, status, {"nodes": nodes}, seconds)
        if z is None:  # the time limit was reached before any tree was found
            return Parse(heads, -math.inf, bound, status, {"nodes": nodes}, seconds)
        heads[problem.mod[z]] = problem.head[z]
        value = float(tree_score(problem, heads))
        return Parse(
            heads, value, value if status == "optimal" else max(value, bound), status, {"nodes": nodes}, seconds
        )


class _Program(PartRows):
    """The rows and columns of the integer program of one problem.

    Columns: arcs, the flow, parts, numbers of dependents.
    """

    def __init__(self, problem: Problem, space: str):
        arcs, parts = problem.arcs, sum(table.arcs.size for table in problem.parts.values())
        size = (_PAIR * arcs * arcs if space == "projective" else 0) + _ENTRY * (arcs + parts)
        check_memory(f"an integer program of {problem.n:,} words with {arcs:,} arcs", size, "choose branch-and-bound")
        super().__init__(problem, 2 * problem.arcs)
        self.cost[: self.arcs] = [0.0 if s == -math.inf else float(s) for s in problem.arc]
        self.forbidden += [a for a in range(self.arcs) if problem.arc[a] == -math.inf]
        self._tree()
        if space == "projective":
            self._planar()
        self.add_parts()

    # -- trees

    def _tree(self) -> None:
        """Add the rows of trees: one head per word, and one unit of flow from the root to every word over selected
        arcs.
        """
        problem, n = self.problem, self.problem.n
        for m in range(1, n + 1):
            self._sum_equals(self.into[m], [1.0] * len(self.into[m]), 1.0)
            flow = [self.arcs + a for a in self.into[m] + self.out_of[m]]
            self._sum_equals(flow, [1.0] * len(self.into[m]) + [-1.0] * len(self.out_of[m]), 1.0)
        if problem.single_root:
            roots = self.out_of[ROOT]
            self._sum_equals(roots, [1.0] * len(roots), 1.0)
        number = {(h, m): a for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))}
        for (h, m), a in number.items():
            capacity = n if h == ROOT else n - 1
            self._sum_at_most([self.arcs + a, a], [1.0, -float(capacity)], 0.0)
            if (m, h) in number and h < m:
                self._sum_at_most([a, number[m, h]], [1.0, 1.0], 1.0)

    def _planar(self) -> None:
        """Add the rows that forbid crossing arcs; the root is at position 0.

        An arc that crosses arc b = (h, m) has one end strictly inside the span of b and one end strictly outside. Word
        k has one head, so that one row can forbid b together with all crossing arcs into k. These are the arcs
        (outside, k) for a k inside, and the arcs (inside, k) for a k outside.
        """
        head, mod = self.problem.head.tolist(), self.problem.mod.tolist()
        for b in range(self.arcs):
            low, high = min(head[b], mod[b]), max(head[b], mod[b])
            for k in range(1, self.problem.n + 1):
                if k in (low, high):
                    continue
                if low < k < high:
                    across = [a for a in self.into[k] if not low <= head[a] <= high]
                else:
                    across = [a for a in self.into[k] if low < head[a] < high]
                if across:
                    self._sum_at_most([b, *across], [1.0] * (len(across) + 1), 1.0)

    def exclude(self, heads: np.ndarray) -> None:
        """Add the row that forbids a tree: not all arcs of the tree may be selected."""
        arcs = np.flatnonzero(heads[self.problem.mod] == self.problem.head).tolist()
        if len(arcs) == self.problem.n:
            self._sum_at_most(arcs, [1.0] * len(arcs), self.problem.n - 1.0)

    # -- solution

    def solve(
        self, time_limit: float | None
    ) -> tuple[Literal["optimal", "limit", "infeasible"], np.ndarray | None, float, int]:
        """Solve the program with HiGHS.

        Returns (status, selected arcs bool[A] or None, upper bound on the score, nodes of the solver's search tree).
        """
        if not all(self.into[1:]):  # a word has no candidate head; the solver refuses an empty program
            return "infeasible", None, -math.inf, 0
        with needs("ilp"):  # importing cvxpy takes half a second: only if this decoder is used
            import cvxpy as cp

        size = len(self.cost)
        cost = np.array(self.cost)
        scale = objective_scale(cost)
        upper = np.ones(size)
        upper[self.arcs : 2 * self.arcs] = self.problem.n
        upper[self.forbidden] = 0.0
        z = cp.Variable(self.arcs, boolean=True)
        width = self.numbers - self.arcs
        continuous = cp.Variable(width, bounds=[np.zeros(width), upper[self.arcs : self.numbers]])
        chosen = [z]
        if size > self.numbers:
            chosen.append(cp.Variable(size - self.numbers, boolean=True))
        x = cp.hstack([z, continuous, *chosen[1:]])
        equal, value = _matrix(self.equal, size)
        at_most, limit = _matrix(self.at_most, size)
        constraints = [equal @ x == value, at_most @ x <= limit]
        constraints += [v <= u for v, u in zip(chosen, (upper[: self.arcs], upper[self.numbers :]), strict=False)]
        problem = cp.Problem(cp.Maximize((scale * cost) @ x), constraints)
        # no presolve: on these programs it takes three times as long as everything else
        options = {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-6, "presolve": "off", "threads": 1, "random_seed": 0}
        if time_limit is not None:
            options["time_limit"] = time_limit
        with warnings.catch_warnings():  # cvxpy warns at a time limit, which the status reports
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=cp.HIGHS, highs_options=options)
        info: Any = problem.solver_stats.extra_stats
        bound, nodes = -info.mip_dual_bound / scale, max(0, int(info.mip_node_count))
        if problem.status == cp.INFEASIBLE:
            return "infeasible", None, -math.inf, nodes
        if z.value is None or abs(z.value.sum() - self.problem.n) > 0.5:
            return "limit", None, bound, nodes
        return "optimal" if problem.status == cp.OPTIMAL else "limit", z.value > 0.5, bound, nodes


def _matrix(rows: list[tuple[list[int], list[float], float]], size: int) -> tuple[csr_matrix, np.ndarray]:
    """Return rows (columns, coefficients, right-hand side) as a sparse matrix [rows, size] and a vector [rows]."""
    columns = np.array([c for row in rows for c in row[0]], np.int64)
    data = np.array([v for row in rows for v in row[1]], float)
    pointers = np.cumsum([0] + [len(row[0]) for row in rows])
    return csr_matrix((data, columns, pointers), shape=(len(rows), size)), np.array([row[2] for row in rows], float)
