"""A simple chart of projective trees for checking, with exact numbers and Python loops, shared with no decoder.

The items are the grand-sibling spans of Koo & Collins (2010), Model 1, extended so that outermost grandchildren can be
scored as well; g is the head of h, and d = -1 (left) or +1 (right) is a side.

    C(g, h, e, d)   h with all its modifiers on side d, covering h .. e.
    I(g, h, m)      h with its modifiers from the nearest to m on one side, covering h .. m with the inner half of m.
    S(h, s, m)      the words between s and m, consecutive modifiers of h: the outer half of s, the inner half of m.

    C(g, h, h, d)                                   | no modifier on side d | outermost(g, h, none)
    I(g, h, m) <- C(h, m, h + d, -d)                | m is the nearest      | arc(h, m) + grandchild(g, h, m)
                                                    |                       | + adjacent(h, none, m)
                                                    |                       | + grand-sibling(g, h, none, m)
    I(g, h, m) <- I(g, h, s)        S(h, s, m)      | m comes after s       | arc(h, m) + grandchild(g, h, m)
                                                    |                       | + adjacent(h, s, m)
                                                    |                       | + grand-sibling(g, h, s, m)
    S(h, s, m) <- C(h, s, r, d)  C(h, m, r + d, -d) | r in s .. m - d       |
    C(g, h, e, d) <- I(g, h, m)     C(h, m, e, d)   | m is the farthest     | outermost(g, h, m)
    goal <- C(0, m, 1, -1)  C(0, m, n, +1)          | one root              | arc(0, m)
    goal <- C(-, 0, n, +1)                          | any number of roots   |

Every projective tree has exactly one derivation. If no exact family needs g, it is left out of C and I. A family
that needs g keeps it even without parts: the search does the same, and its proofs remove edges between such items. With
k candidate heads per word: O(n k^2 (n + k)) edges, O(n^4) without pruning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from treebound.core.problem import NONE, NONE_OUTER, Problem

#: stands for g in items that do not keep it, and for the head of the root
ANY = -1

Number = int | float | Fraction

#: families that the chart can score
CHART_FAMILIES = frozenset({"adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling"})
#: families for which items keep the head of a head
HEAD_FAMILIES = CHART_FAMILIES - {"adjacent-sibling"}


class Edge(NamedTuple):
    """An application of a rule, which builds item `head` from up to two items `tails`.

    arc    the arc that the edge selects; -1 for none
    score  the score of the edge, without the score of the arc
    after  the arc to the next modifier towards the head on the same side, or NONE. `after` and `arc` form an
           adjacent-sibling part. None if the edge selects no arc, or the only arc of a single root
    """

    head: int
    tails: tuple[int, ...]
    arc: int
    score: Number
    after: int | None = None


@dataclass(frozen=True)
class Chart:
    """A chart as a list of edges, ordered such that every item is complete before it is used.

    The goal is item 0 and comes last.
    """

    items: int
    edges: list[Edge]

    def keep(self, accepted: Callable[[Edge], bool]) -> Chart:
        """Return the chart of the trees that use only edges for which `accepted` returns True."""
        return Chart(self.items, [edge for edge in self.edges if accepted(edge)])


def exact_number(problem: Problem) -> Callable[[float], Number]:
    """Return a function that converts a score to an exact number: an int if scores are integers, else a Fraction."""
    read = int if problem.unit else Fraction
    return lambda x: -math.inf if x == -math.inf else read(x)


def build_chart(problem: Problem, exact: frozenset[str]) -> Chart:
    """Return the chart of all trees of `problem` that the families in `exact` do not forbid, scored by these families.

    exact  some of CHART_FAMILIES

    Scores of arcs are added later, by `max_marginals`. Arcs with the score -inf are left out.
    """
    if not exact <= CHART_FAMILIES:
        raise ValueError(f"the chart does not score {sorted(exact - CHART_FAMILIES)}")
    return _Builder(problem, exact).build()


class _Builder:
    """The construction of a chart, from narrow to wide spans."""

    def __init__(self, problem: Problem, exact: frozenset[str]):
        number = exact_number(problem)
        self.n, self.single_root = problem.n, problem.single_root
        self.number: dict[tuple[int, int], int] = {}
        for a, (h, m) in enumerate(zip(problem.head.tolist(), problem.mod.tolist(), strict=True)):
            if problem.arc[a] != -math.inf:
                self.number[h, m] = a
        words = range(problem.n + 1)
        #: (head, side) -> its possible modifiers there, from near to far
        self.modifiers = {(h, -1): [m for m in range(h - 1, 0, -1) if (h, m) in self.number] for h in words}
        self.modifiers |= {(h, +1): [m for m in range(h + 1, problem.n + 1) if (h, m) in self.number] for h in words}
        #: family -> arcs of a part as its table lists them -> score
        self.scores: dict[str, dict[tuple[int, ...], Number]] = {family: {} for family in CHART_FAMILIES}
        for family in exact & problem.parts.keys():
            table = problem.parts[family]
            rows = zip(table.arcs.tolist(), table.score.tolist(), strict=True)
            self.scores[family] = {tuple(arcs): number(score) for arcs, score in rows}
        self.with_head = bool(exact & HEAD_FAMILIES)
        self.heads: dict[int, list[int]] = {0: [ANY]}
        for m in range(1, problem.n + 1):
            self.heads[m] = [h for h in words if (h, m) in self.number] if self.with_head else [ANY]
        self.items: dict[tuple, int] = {("goal",): 0}
        self.edges: list[Edge] = []

    def _add(self, item: tuple, tails: Sequence[tuple], arc: int, *scores: Number, after: int | None = None) -> None:
        """Add an edge if its tails exist and none of its scores is -inf."""
        if -math.inf in scores or any(tail not in self.items for tail in tails):
            return
        head = self.items.setdefault(item, len(self.items))
        self.edges.append(Edge(head, tuple(self.items[tail] for tail in tails), arc, sum(scores), after))

    def _half(self, h: int, m: int, e: int, d: int) -> tuple:
        """Return the item C(h, m, e, d): word m, whose head is h, with its modifiers on side d up to e.

        The place of h is ANY if the chart's items do not distinguish the head of m.
        """
        return ("C", h if self.with_head else ANY, m, e, d)

    def _score(self, family: str, *arcs: int) -> Number:
        """Return the score of the part of `family` that consists of `arcs`; 0 if there is no such part."""
        return self.scores[family].get(arcs, 0)

    def build(self) -> Chart:
        """Return the complete chart."""
        n = self.n
        for width in range(n + 1):
            for h in range(1 if self.single_root else 0, n + 1):
                for d in (-1, +1):
                    if width:
                        self._between_siblings(h, d, width)
                        self._incomplete(h, d, width)
                    self._complete(h, d, width)
        if self.single_root:
            for m in self.modifiers[0, +1]:
                self._add(("goal",), [self._half(0, m, 1, -1), self._half(0, m, n, +1)], self.number[0, m])
        else:
            self._add(("goal",), [("C", ANY, 0, n, +1)], -1)
        return Chart(len(self.items), self.edges)

    def _between_siblings(self, h: int, d: int, width: int) -> None:
        """Add the edges that build items S of head h on side d; `width` is the distance from s to m."""
        for s in self.modifiers[h, d]:
            m = s + d * width
            if (h, m) in self.number:
                for r in range(s, m, d):
                    self._add(("S", h, s, m), [self._half(h, s, r, d), self._half(h, m, r + d, -d)], -1)

    def _incomplete(self, h: int, d: int, width: int) -> None:
        """Add the edges that build items I of head h on side d; `width` is the distance from h to m."""
        m = h + d * width
        if (h, m) not in self.number:
            return
        arc = self.number[h, m]
        for g in self.heads[h]:
            above = self.number.get((g, h), ANY)

            def scores(s: int, above: int = above) -> list[Number]:
                part = self._score("grand-sibling", above, s, arc)
                return [self._score("grandchild", above, arc), self._score("adjacent-sibling", s, arc), part]

            self._add(("I", g, h, m), [self._half(h, m, h + d, -d)], arc, *scores(NONE), after=NONE)
            for s in self.modifiers[h, d]:
                if abs(s - h) < width:
                    nearer = self.number[h, s]
                    self._add(("I", g, h, m), [("I", g, h, s), ("S", h, s, m)], arc, *scores(nearer), after=nearer)

    def _complete(self, h: int, d: int, width: int) -> None:
        """Add the edges that build items C of head h on side d; `width` is the distance from h to e."""
        e = h + d * width
        if not (1 <= e <= self.n or e == h):
            return
        for g in self.heads[h]:
            above = self.number.get((g, h), ANY)
            if width == 0:
                empty = NONE if (g > h) == (d > 0) else NONE_OUTER
                self._add(("C", g, h, h, d), [], -1, self._score("outermost-grandchild", above, empty))
            for m in self.modifiers[h, d]:
                if abs(m - h) <= width:
                    farthest = self._score("outermost-grandchild", above, self.number[h, m])
                    self._add(("C", g, h, e, d), [("I", g, h, m), self._half(h, m, e, d)], -1, farthest)


def edge_scores(
    chart: Chart, arc_score: Sequence[Number], adjacent_score: Mapping[tuple[int, int], Number] | None = None
) -> list[Number]:
    """Return the score of every edge, including arcs and adjacent pairs.

    arc_score       arc_score[a] is added to each edge that selects arc a
    adjacent_score  adjacent_score[s, a] is added to each edge that completes the adjacent pair (s, a); s is NONE if a
                    is the nearest modifier
    """
    scores = [edge.score + arc_score[edge.arc] if edge.arc >= 0 else edge.score for edge in chart.edges]
    if adjacent_score:
        pairs = [None if edge.after is None else (edge.after, edge.arc) for edge in chart.edges]
        scores = [s if pair is None else s + adjacent_score.get(pair, 0) for s, pair in zip(scores, pairs, strict=True)]
    return scores


def max_marginals(
    chart: Chart, arc_score: Sequence[Number], adjacent_score: Mapping[tuple[int, int], Number] | None = None
) -> tuple[Number, list[Number]]:
    """Return the score of the best tree, and for every edge the score of the best tree that uses it.

    The scores are -inf where no tree exists. For the arguments see `edge_scores`. The inside and outside passes of
    max-product take O(edges) and are exact for int and Fraction.
    """
    inside: list[Number] = [-math.inf] * chart.items
    outside: list[Number] = [-math.inf] * chart.items
    scores = edge_scores(chart, arc_score, adjacent_score)
    for edge, score in zip(chart.edges, scores, strict=True):
        total = sum((inside[t] for t in edge.tails), score)
        if total > inside[edge.head]:
            inside[edge.head] = total
    outside[0] = 0
    marginal: list[Number] = [-math.inf] * len(chart.edges)
    for i in range(len(chart.edges) - 1, -1, -1):
        head, tails = chart.edges[i][:2]
        total = sum((inside[t] for t in tails), outside[head] + scores[i])
        if total == -math.inf:
            continue
        marginal[i] = total
        for t in tails:
            outside[t] = max(outside[t], total - inside[t])
    return inside[0], marginal


def best_tree(chart: Chart, arc_score: Sequence[Number]) -> tuple[Number, list[int]]:
    """Return (score, arcs) of a best tree of a chart. O(edges). Raises ValueError if the chart has no tree."""
    inside: list[Number] = [-math.inf] * chart.items
    chosen: list[Edge | None] = [None] * chart.items
    for edge, score in zip(chart.edges, edge_scores(chart, arc_score), strict=True):
        total = sum((inside[t] for t in edge.tails), score)
        if total > inside[edge.head]:
            inside[edge.head], chosen[edge.head] = total, edge
    arcs, items = [], [0]
    while items:
        used = chosen[items.pop()]
        if used is None:
            raise ValueError("the chart has no tree")
        items += used.tails
        if used.arc >= 0:
            arcs.append(used.arc)
    return inside[0], arcs
