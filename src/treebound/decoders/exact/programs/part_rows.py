"""Parts in an integer program: columns and rows that force y to the value of a part if the arcs z are integral.

The linearised pairs are from Martins, Smith & Xing (2009), "Concise integer linear programming formulations for
dependency parsing". The rows for outermost grandchildren, grand-siblings and valencies are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treebound.constraints.rows import Row, Variables
from treebound.core.problem import NONE, NONE_OUTER, PRODUCTS, Problem

NAME = "parts"
ALWAYS = -1  #: stands for an arc into the head that need not be selected
FAMILIES = PRODUCTS | {"arc", "adjacent-sibling", "outermost-grandchild", "grand-sibling", "valency"}

#: a row: its columns, its coefficients and its right-hand side
Sum = tuple[list[int], list[float], float]


class PartRows:
    """The columns and rows of all parts of a problem. The columns are the arcs, other columns of the caller, y, and v.

    - reserved: number of columns before the columns of the parts; the columns of the arcs come first.
    - cost: score of every column.
    - forbidden: columns that must be 0.
    - equal, at_most: rows.
    - numbers: the first of the columns v in {0, 1}. There is one v for each possible number of dependents of each
      word. The columns y are in [0, 1].
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
        """Add the columns and rows of the parts of all families, valencies last. O(parts)."""
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
        """Add a continuous variable in [0, 1] and return its column; it is fixed to 0 if its score is -inf."""
        column = len(self.cost)
        self.cost.append(0.0 if score == -math.inf else score)
        if score == -math.inf:
            self.forbidden.append(column)
        return column

    def _sum_equals(self, columns: list[int], coefficients: list[float], value: float) -> None:
        """Add the row which says that the weighted sum of some columns equals a value."""
        self.equal.append((columns, coefficients, value))

    def _sum_at_most(self, columns: list[int], coefficients: list[float], value: float) -> None:
        """Add the row which says that the weighted sum of some columns is at most a value."""
        self.at_most.append((columns, coefficients, value))

    # -- parts

    def _products(self, rows: list[tuple]) -> None:
        """Add a column y for each part, and rows that make y the product of the part's arcs.

        The rows bound y from above if the score is positive, and from below if it is negative. A forbidden part has no
        y, and its row says that not all of its arcs are selected.
        """
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
        """Add a column y = z_a z_b for each pair of arcs, as for products, but with rows summed over a.

        All arcs a that form pairs with one arc b enter the same word, so that the sums give fewer and tighter rows.
        """
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
        """Add the rows of adjacent siblings.

        The dependents on one side of a head form a path outwards, and y is a flow along this path. The path starts at
        NONE, which stands for the absence of an inner sibling.

        Rows are (a, s, b, score): a is the arc into the head, or ALWAYS if the score does not depend on it. If a is
        selected, at most one unit of flow leaves NONE, and each dependent passes on at most the flow that it receives.
        Each selected dependent receives exactly one unit. Only NONE can supply the nearest dependent, and NONE then has
        no flow left. Only the nearest dependent can supply the second dependent, and so on.
        """
        head, mod = self.problem.head.tolist(), self.problem.mod.tolist()
        first: dict[tuple[int, int, bool], list[int]] = {}
        received: dict[int, list[int]] = {}
        received_under: dict[tuple[int, int], list[int]] = {}
        passed_on: dict[tuple[int, int], list[int]] = {}
        for a, s, b, score in rows:
            if a != ALWAYS and head[a] in (mod[b], mod[s] if s != NONE else NONE):
                continue  # no tree has a part with an arc and its reverse
            y = self._column(score)
            received.setdefault(b, []).append(y)
            received_under.setdefault((a, b), []).append(y)
            if s == NONE:
                first.setdefault((a, head[b], mod[b] > head[b]), []).append(y)
            else:
                passed_on.setdefault((a, s), []).append(y)
        for b, ys in received.items():
            self._sum_equals([*ys, b], [1.0] * len(ys) + [-1.0], 0.0)
        for (a, s), ys in passed_on.items():
            if a == ALWAYS:
                self._sum_at_most([*ys, s], [1.0] * len(ys) + [-1.0], 0.0)
            else:
                supply = received_under.get((a, s), [])
                self._sum_at_most([*ys, *supply], [1.0] * len(ys) + [-1.0] * len(supply), 0.0)
        for (a, _, _), ys in first.items():
            if a == ALWAYS:
                self._sum_at_most(ys, [1.0] * len(ys), 1.0)
            else:
                self._sum_at_most([*ys, a], [1.0] * len(ys) + [-1.0], 0.0)

    def _valencies(self, rows: list[tuple[int, int, float]]) -> None:
        """Add the rows of valencies: for each word, the v of its number of dependents is 1.

        The last v of a word stands for all larger numbers.
        """
        by_word: dict[int, list[tuple[int, float]]] = {}
        for h, count, score in rows:
            by_word.setdefault(h, []).append((count, score))
        for h, counts in by_word.items():
            arcs = self.out_of[h]
            vs = [self._column(score) for _, score in counts]
            lower = [float(count) for count, _ in counts]
            upper = [*lower[:-1], float(len(arcs))]
            self._sum_equals(vs, [1.0] * len(vs), 1.0)
            self._sum_at_most([*vs, *arcs], [*lower, *[-1.0] * len(arcs)], 0.0)
            self._sum_at_most([*arcs, *vs], [*[1.0] * len(arcs), *[-c for c in upper]], 0.0)

    def _outermost_grandchildren(self, rows: list[tuple[int, int, float]]) -> None:
        """Add a column y for each outermost-grandchild part, and rows that make y equal to the value of the part.

        If arc (h, m) is selected, one y is 1 on each side of m. It stands for the farthest dependent g of m on this
        side, or for no dependent.

        The choices of a side are ordered: none, nearest, ..., farthest. A dependent g can be chosen only if arc (m, g)
        is selected. If arc (m, g) is selected, no choice before g is possible. Only the farthest dependent remains.
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
    """The columns and rows of the parts in a program of labelled arcs.

    score      float64[columns]; the first `binary` columns must be integral
    forbidden  intp columns that must be 0
    rows       rows over the variables, followed by these columns
    """

    score: np.ndarray
    binary: int
    forbidden: np.ndarray
    rows: list[Row]


def part_program(variables: Variables, problem: Problem) -> PartProgram:
    """Return the columns and rows of a problem's parts over its labelled arcs. O(parts).

    An arc is selected if it is selected under one of its labels.
    """
    parts = PartRows(problem, problem.arcs)
    parts.add_parts()
    binary, first = len(parts.cost) - parts.numbers, len(variables)
    # the columns of this program for each column of `parts`: an arc has one column for each label, and no column if it
    # is forbidden. The columns v come before the columns y
    expansion: list[np.ndarray] = [
        variables.arc(int(h), int(m)) for h, m in zip(problem.head, problem.mod, strict=True)
    ]
    expansion += [np.array([first + binary + i]) for i in range(parts.numbers - parts.arcs)]
    expansion += [np.array([first + i]) for i in range(binary)]

    def row(total: Sum, lower: float) -> Row:
        """Return the `Row` of a `Sum`, in which the variables of each arc replace the column of the arc."""
        columns, coefficients, upper = total
        expanded = [expansion[c] for c in columns]
        spread = np.repeat(coefficients, [len(f) for f in expanded])
        return Row(NAME, np.concatenate([*expanded, np.empty(0, np.intp)]).astype(np.intp), spread, lower, upper)

    rows = [row(total, total[2]) for total in parts.equal] + [row(total, -np.inf) for total in parts.at_most]
    cost = np.array(parts.cost[parts.arcs :])
    score = np.concatenate([cost[len(cost) - binary :], cost[: len(cost) - binary]])
    forbidden = np.array([expansion[c][0] for c in parts.forbidden], np.intp)
    return PartProgram(score, binary, forbidden, rows)
