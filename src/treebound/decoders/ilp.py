"""Decoding as an integer program, solved by HiGHS through cvxpy: slow, and independent of every other decoder here.

Variables: z_a in {0, 1} for every arc; y >= 0 for every part, which the rows below force to the part's value once z is
integral, whatever the sign of its score; f >= 0, a flow on the arcs that forbids cycles; v in {0, 1} for every number
of modifiers that a word may have.

Martins, Smith & Xing (2009), "Concise integer linear programming formulations for dependency parsing" has the flow and
the linearised pairs; the rows for outermost grandchildren, grand-siblings and numbers of modifiers and the clique form
of planarity are ours.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix

from treebound.core.dtypes import INDEX, NO_HEAD, ROOT
from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse
from treebound.core.problem import NONE, NONE_OUTER, PRODUCTS, Problem
from treebound.evaluation.scoring import tree_score

#: Coefficients of the objective are scaled to this size, for which the solver's absolute tolerances (1e-6) are made.
_LARGEST_COEFFICIENT = 1e3
ALWAYS = -1  #: in place of an arc that need not be selected


class IntegerProgram:
    """The best tree by mixed integer programming.

    space       "projective" or "non-projective"
    time_limit  seconds of solver time for a sentence; None: as long as it takes. A search cut short has status `limit`

    The solver works in floating point: `optimal` means proved up to its tolerance, about 1e-9 of the largest score for
    each part. The value is that of the returned tree, recomputed exactly.
    """

    name = "ilp"
    exact = True
    supports = PRODUCTS | {"arc", "adjacent-sibling", "outermost-grandchild", "grand-sibling", "valency"}
    cite = "Martins, Smith & Xing (2009), section 3"

    def __init__(self, space: Literal["projective", "non-projective"] = "projective", time_limit: float | None = None):
        if space not in ("projective", "non-projective"):
            raise UnsupportedError(f"unknown tree space {space!r}", hint="choose from projective, non-projective")
        self.space = space
        self.time_limit = time_limit

    def decode(self, problem: Problem) -> Parse:
        """Best tree of `problem`; see `Parse` for what status and bound mean."""
        unknown = problem.families - self.supports
        if unknown:
            raise UnsupportedError(f"decoder {self.name!r} does not support {', '.join(sorted(unknown))}")
        start = time.perf_counter()
        program = _Program(problem, self.space)
        built = time.perf_counter()
        status, z, bound, nodes = program.solve(self.time_limit)
        seconds = {"build": built - start, "solve": time.perf_counter() - built}
        heads = np.zeros(problem.n + 1, INDEX)
        heads[ROOT] = NO_HEAD
        if status == "infeasible":
            return Parse(heads, -math.inf, -math.inf, status, {"nodes": nodes}, seconds)
        if z is None:  # the time was up before any tree was found
            return Parse(heads, -math.inf, bound, status, {"nodes": nodes}, seconds)
        heads[problem.mod[z]] = problem.head[z]
        value = float(tree_score(problem, heads))
        return Parse(
            heads, value, value if status == "optimal" else max(value, bound), status, {"nodes": nodes}, seconds
        )


class _Program:
    """Rows and columns of the integer program of one problem. Columns: arcs, the flow, parts, numbers of modifiers."""

    def __init__(self, problem: Problem, space: str):
        self.problem = problem
        self.arcs = problem.arcs
        self.cost: list[float] = [0.0 if s == -math.inf else float(s) for s in problem.arc] + [0.0] * self.arcs
        self.equal: list[tuple[list[int], list[float], float]] = []
        self.at_most: list[tuple[list[int], list[float], float]] = []
        self.forbidden = [a for a in range(self.arcs) if problem.arc[a] == -math.inf]
        self.into: list[list[int]] = [[] for _ in range(problem.n + 1)]
        self.out_of: list[list[int]] = [[] for _ in range(problem.n + 1)]
        for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True)):
            self.into[m].append(a)
            self.out_of[h].append(a)
        self._tree()
        if space == "projective":
            self._planar()
        for family, table in problem.parts.items():
            rows = list(zip(*table.arcs.T.tolist(), table.score.tolist(), strict=True))
            if family == "adjacent-sibling":
                self._adjacent_siblings([(ALWAYS, *row) for row in rows])
            elif family == "grand-sibling":
                self._adjacent_siblings(rows)
            elif family == "outermost-grandchild":
                self._outermost_grandchildren(rows)
            elif family in ("grandchild", "head-bigram"):
                self._rival_pairs(rows)
            elif family != "valency":
                self._products(rows)
        self.numbers = len(self.cost)
        if "valency" in problem.parts:
            table = problem.parts["valency"]
            self._valencies(list(zip(*table.arcs.T.tolist(), table.score.tolist(), strict=True)))

    # -- rows and columns

    def _column(self, score: float) -> int:
        """A new continuous variable in [0, 1]; fixed to 0 if its score is -inf."""
        column = len(self.cost)
        self.cost.append(0.0 if score == -math.inf else score)
        if score == -math.inf:
            self.forbidden.append(column)
        return column

    def _sum_equals(self, columns: list[int], coefficients: list[float], value: float) -> None:
        self.equal.append((columns, coefficients, value))

    def _sum_at_most(self, columns: list[int], coefficients: list[float], value: float) -> None:
        self.at_most.append((columns, coefficients, value))

    # -- trees

    def _tree(self) -> None:
        """One head a word; the root sends one unit of flow to every word, over selected arcs only."""
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
        """No two arcs cross, the root standing at position 0.

        Arcs across arc b = (h, m) have one end strictly inside its span and one strictly outside. Those into one word
        exclude each other, so b can be added to each such set: all (outside, k) for a k inside, all (inside, k) for a
        k outside.
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

    # -- parts

    def _products(self, rows: list[tuple]) -> None:
        """y = the product of the part's arcs: from above for a positive score, from below for a negative one."""
        for *part, score in rows:
            arcs = [a for a in part if a != NONE]
            if score == -math.inf:
                self._sum_at_most(arcs, [1.0] * len(arcs), len(arcs) - 1.0)
            elif score > 0:
                y = self._column(score)
                for a in arcs:
                    self._sum_at_most([y, a], [1.0, -1.0], 0.0)
            elif score < 0:
                y = self._column(score)
                self._sum_at_most([*arcs, y], [1.0] * len(arcs) + [-1.0], len(arcs) - 1.0)

    def _rival_pairs(self, rows: list[tuple[int, int, float]]) -> None:
        """y = z_a z_b as for products, but summed over a, as all a of one b go into one word: fewer rows, tighter."""
        above: dict[int, list[tuple[int, float]]] = {}
        for a, b, score in rows:
            if score != 0.0:
                above.setdefault(b, []).append((a, score))
        for b, parts in above.items():
            positive = [(a, self._column(score)) for a, score in parts if score > 0]
            negative = [(a, self._column(score)) for a, score in parts if -math.inf < score < 0]
            for a, y in positive + negative:
                self._sum_at_most([y, a], [1.0, -1.0], 0.0)
            if positive:
                self._sum_at_most([b] + [y for _, y in positive], [-1.0] + [1.0] * len(positive), 0.0)
            below = [a for a, score in parts if score < 0]
            if below:
                ys = [y for _, y in negative]
                self._sum_at_most([b, *below, *ys], [1.0] * (1 + len(below)) + [-1.0] * len(ys), 1.0)

    def _adjacent_siblings(self, rows: list[tuple[int, int, int, float]]) -> None:
        """The modifiers on one side of a head form a path from NONE outwards; y is the flow along it.

        Rows (a, s, b, score): the arc a into the head, or ALWAYS where its score does not depend on it. Below a, one
        unit at most leaves NONE, and each modifier passes on at most what it takes in. Each selected modifier takes in
        exactly one. The nearest can only be fed by NONE, which is then used up; the next only by that one, and so on.
        """
        head, mod = self.problem.head.tolist(), self.problem.mod.tolist()
        first: dict[tuple[int, int, bool], list[int]] = {}
        taken: dict[int, list[int]] = {}
        taken_below: dict[tuple[int, int], list[int]] = {}
        given: dict[tuple[int, int], list[int]] = {}
        for a, s, b, score in rows:
            if a != ALWAYS and head[a] in (mod[b], mod[s] if s != NONE else NONE):
                continue  # an arc and its reverse
            y = self._column(score)
            taken.setdefault(b, []).append(y)
            taken_below.setdefault((a, b), []).append(y)
            if s == NONE:
                first.setdefault((a, head[b], mod[b] > head[b]), []).append(y)
            else:
                given.setdefault((a, s), []).append(y)
        for b, ys in taken.items():
            self._sum_equals([*ys, b], [1.0] * len(ys) + [-1.0], 0.0)
        for (a, s), ys in given.items():
            if a == ALWAYS:
                self._sum_at_most([*ys, s], [1.0] * len(ys) + [-1.0], 0.0)
            else:
                fed = taken_below.get((a, s), [])
                self._sum_at_most([*ys, *fed], [1.0] * len(ys) + [-1.0] * len(fed), 0.0)
        for (a, _, _), ys in first.items():
            if a == ALWAYS:
                self._sum_at_most(ys, [1.0] * len(ys), 1.0)
            else:
                self._sum_at_most([*ys, a], [1.0] * len(ys) + [-1.0], 0.0)

    def _valencies(self, rows: list[tuple[int, int, float]]) -> None:
        """One v of each word is 1: that of its number of modifiers, the last standing for all larger ones."""
        by_word: dict[int, list[tuple[int, float]]] = {}
        for h, count, score in rows:
            by_word.setdefault(h, []).append((count, score))
        for h, counts in by_word.items():
            arcs = self.out_of[h]
            vs = [self._column(score) for _, score in counts]
            least = [float(count) for count, _ in counts]
            most = [*least[:-1], float(len(arcs))]
            self._sum_equals(vs, [1.0] * len(vs), 1.0)
            self._sum_at_most([*vs, *arcs], [*least, *[-1.0] * len(arcs)], 0.0)
            self._sum_at_most([*arcs, *vs], [*[1.0] * len(arcs), *[-c for c in most]], 0.0)

    def _outermost_grandchildren(self, rows: list[tuple[int, int, float]]) -> None:
        """Each side of a selected arc chooses one of its arcs (m, g) or none, and none nearer than a selected one.

        With the choices of a side in the order none, nearest, ..., farthest: the choices before (m, g) and z_(m,g)
        exclude each other, and (m, g) can be chosen only if z_(m,g) = 1. That leaves the farthest selected one.
        """
        sides: dict[tuple[int, bool], list[tuple[int, int, int]]] = {}
        for a, b, score in rows:
            h, m = int(self.problem.head[a]), int(self.problem.mod[a])
            g = m if b in (NONE, NONE_OUTER) else int(self.problem.mod[b])
            outer = b == NONE_OUTER or (b >= 0 and (g > m) == (m > h))
            sides.setdefault((a, outer), []).append((abs(g - m), b, self._column(score)))
        for (a, _), choices in sides.items():
            choices.sort()
            ys = [y for _, _, y in choices]
            self._sum_equals([*ys, a], [1.0] * len(ys) + [-1.0], 0.0)
            for i, (_, b, y) in enumerate(choices):
                if b >= 0:
                    self._sum_at_most([y, b], [1.0, -1.0], 0.0)
                    self._sum_at_most([*ys[:i], b], [1.0] * (i + 1), 1.0)

    # -- solution

    def solve(
        self, time_limit: float | None
    ) -> tuple[Literal["optimal", "limit", "infeasible"], np.ndarray | None, float, int]:
        """(status, selected arcs bool[A] or None, upper bound on the score, nodes of the solver's search tree)."""
        if not all(self.into[1:]):  # a word without candidate heads; the solver does not take an empty program
            return "infeasible", None, -math.inf, 0
        import cvxpy as cp  # half a second: only for those who decode with it

        size = len(self.cost)
        cost = np.array(self.cost)
        scale = _LARGEST_COEFFICIENT / max(np.abs(cost).max(initial=0.0), 1e-300)
        upper = np.ones(size)
        upper[self.arcs : 2 * self.arcs] = self.problem.n
        upper[self.forbidden] = 0.0
        z = cp.Variable(self.arcs, boolean=True)
        width = self.numbers - self.arcs
        rest = cp.Variable(width, bounds=[np.zeros(width), upper[self.arcs : self.numbers]])
        chosen = [z]
        if size > self.numbers:
            chosen.append(cp.Variable(size - self.numbers, boolean=True))
        x = cp.hstack([z, rest, *chosen[1:]])
        equal, value = _matrix(self.equal, size)
        at_most, limit = _matrix(self.at_most, size)
        constraints = [equal @ x == value, at_most @ x <= limit]
        constraints += [v <= u for v, u in zip(chosen, (upper[: self.arcs], upper[self.numbers :]), strict=False)]
        problem = cp.Problem(cp.Maximize((scale * cost) @ x), constraints)
        # Presolve takes three times as long as the rest together on these programs.
        options = {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-6, "presolve": "off", "threads": 1, "random_seed": 0}
        if time_limit is not None:
            options["time_limit"] = time_limit
        with warnings.catch_warnings():  # "may be inaccurate" at a time limit: the status says so
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
    """Rows (columns, coefficients, right-hand side) as a sparse matrix [rows, size] and a vector [rows]."""
    columns = np.array([c for row in rows for c in row[0]], np.int64)
    data = np.array([v for row in rows for v in row[1]], float)
    pointers = np.cumsum([0] + [len(row[0]) for row in rows])
    return csr_matrix((data, columns, pointers), shape=(len(rows), size)), np.array([row[2] for row in rows], float)
