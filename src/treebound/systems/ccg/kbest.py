"""The k best derivations of a hypergraph, found as they are asked for (Huang & Chiang 2005, algorithm 3)."""

from __future__ import annotations

import heapq

import numpy as np

from treebound.kernels.chart.hypergraph import NEG_TEST, Hypergraph

#: a derivation of an item: (score, edge, rank of its left tail, rank of its right one)
Ranked = tuple[float, int, int, int]


class KBest:
    """Of a graph with the scores of its variables float64[V]. O(E + k n log k) for the k best of the last item."""

    def __init__(self, graph: Hypergraph, score: np.ndarray):
        self.first, self.left, self.right = graph.first.tolist(), graph.left.tolist(), graph.right.tolist()
        self.own = (graph.weight + score[graph.var]).tolist()
        self.found: dict[int, list[Ranked]] = {}
        self.waiting: dict[int, list[tuple[float, int, int, int]]] = {}
        self.seen: dict[int, set[tuple[int, int, int]]] = {}

    def best(self, k: int) -> list[Ranked]:
        """At most k derivations of the last item, the best first; equal ones by their edges."""
        goal = len(self.first) - 2
        for item in range(1, goal + 1):  # from the bottom, so that nothing recurs deeply
            self.ranked(item, 0)
        return [found for rank in range(k) if (found := self.ranked(goal, rank)) is not None]

    def ranked(self, item: int, rank: int) -> Ranked | None:
        """The derivation of a rank, from 0; None where there are not so many."""
        if item == 0:
            return (0.0, -1, 0, 0) if rank == 0 else None
        if item not in self.waiting:
            self.found[item], self.waiting[item], self.seen[item] = [], [], set()
            for edge in range(self.first[item], self.first[item + 1]):
                self._offer(item, edge, 0, 0)
        found, waiting = self.found[item], self.waiting[item]
        while len(found) <= rank:
            if found:
                _, edge, a, b = found[-1]
                self._offer(item, edge, a + 1, b)
                self._offer(item, edge, a, b + 1)
            if not waiting:
                return None
            worse, edge, a, b = heapq.heappop(waiting)
            found.append((-worse, edge, a, b))
        return found[rank]

    def _offer(self, item: int, edge: int, a: int, b: int) -> None:
        if (edge, a, b) in self.seen[item]:
            return
        left, right = self.ranked(self.left[edge], a), self.ranked(self.right[edge], b)
        if left is None or right is None or (score := self.own[edge] + left[0] + right[0]) <= NEG_TEST:
            return
        self.seen[item].add((edge, a, b))
        heapq.heappush(self.waiting[item], (-score, edge, a, b))

    def edges(self, ranked: Ranked) -> list[int]:
        """The edges of a derivation, parents first."""
        out, stack = [], [ranked]
        while stack:
            _, edge, a, b = stack.pop()
            if edge >= 0:
                out.append(edge)
                for tail, rank in ((self.right[edge], b), (self.left[edge], a)):
                    found = self.ranked(tail, rank)
                    assert found is not None
                    stack.append(found)
        return out
