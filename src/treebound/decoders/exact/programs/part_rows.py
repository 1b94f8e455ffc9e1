"""Parts in an integer program: the columns and rows that make y the value of a part once the arcs z are integral.

Martins, Smith & Xing (2009), "Concise integer linear programming formulations for dependency parsing" has the
linearised pairs; the rows for outermost grandchildren, grand-siblings and numbers of modifiers are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treebound.constraints.rows import Row, Variables
from treebound.core.problem import NONE, NONE_OUTER, PRODUCTS, Problem

NAME = "parts"
ALWAYS = -1  #: in place of an arc that need not be selected
FAMILIES = PRODUCTS | {"arc", "adjacent-sibling", "outermost-grandchild", "grand-sibling", "valency"}

#: columns, coefficients, right-hand side
Sum = tuple[list[int], list[float], float]


class PartRows:
    """Columns and rows for all parts of a problem. Columns: the arcs, what else the caller has, y, v.

    reserved   columns before the parts, the arcs being the first
    cost       score of every column; forbidden: columns that are to be 0
    equal, at_most  rows
    numbers    first column of v, in {0, 1}: the number of modifiers of a word; y are in [0, 1]
    """

    def __init__(self, problem: Problem, reserved: int):
        self.problem = problem
        self.arcs = problem.arcs
        self.cost: list[float] = [0.0] * reserved
        self.equal: list[Sum] = []
        self.at_most: list[Sum] = []
        self.forbidden: list[int] = []
        self.into: list[list[int]] = [[] for _ in range(problem.n + 1)]
        self.out_of: list[list[int]] = [[] for _ in range(problem.n + 1)]
        for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True)):
            self.into[m].append(a)
            self.out_of[h].append(a)

    def add_parts(self) -> None:
        """The parts of all families, those of numbers of modifiers last. O(parts)."""
        for family, table in self.problem.parts.items():
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
        if "valency" in self.problem.parts:
            table = self.problem.parts["valency"]
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


class PartProgram(NamedTuple):
    """What the parts add to a program of labelled arcs.

    score      float64[columns]; the first `binary` ones are to be integral
    forbidden  intp columns that are to be 0
    rows       over the variables and these columns, which stand behind the variables
    """

    score: np.ndarray
    binary: int
    forbidden: np.ndarray
    rows: list[Row]


def part_program(variables: Variables, problem: Problem) -> PartProgram:
    """The parts of a problem over its labelled arcs: an arc is selected under one label or another. O(parts)."""
    parts = PartRows(problem, problem.arcs)
    parts.add_parts()
    binary, first = len(parts.cost) - parts.numbers, len(variables)
    # arcs become their variables (none, where the arc is forbidden), v stand before y
    own: list[np.ndarray] = [variables.arc(int(h), int(m)) for h, m in zip(problem.head, problem.mod, strict=True)]
    own += [np.array([first + binary + i]) for i in range(parts.numbers - parts.arcs)]
    own += [np.array([first + i]) for i in range(binary)]

    def row(made: Sum, lower: float) -> Row:
        columns, coefficients, upper = made
        found = [own[c] for c in columns]
        spread = np.repeat(coefficients, [len(f) for f in found])
        return Row(NAME, np.concatenate([*found, np.empty(0, np.intp)]).astype(np.intp), spread, lower, upper)

    rows = [row(made, made[2]) for made in parts.equal] + [row(made, -np.inf) for made in parts.at_most]
    cost = np.array(parts.cost[parts.arcs :])
    score = np.concatenate([cost[len(cost) - binary :], cost[: len(cost) - binary]])
    forbidden = np.array([own[c][0] for c in parts.forbidden], np.intp)
    return PartProgram(score, binary, forbidden, rows)
