"""The k best derivations of a hypergraph, computed lazily (Huang & Chiang 2005, algorithm 3)."""

from __future__ import annotations

import heapq

import numpy as np

from treebound.kernels.chart.hypergraph import NEG_TEST, Hypergraph

#: a derivation of an item: (score, edge, rank of the left tail's derivation, rank of the right tail's derivation)
Ranked = tuple[float, int, int, int]


class KBest:
    """Search for the k best derivations of a graph with E edges, for a sentence of n words. O(E + k n log k).

    score  float64[V], scores of the variables
    """

    def __init__(self, graph: Hypergraph, score: np.ndarray):
        self.first, self.left, self.right = graph.first.tolist(), graph.left.tolist(), graph.right.tolist()
        self.own = (graph.weight + score[graph.var]).tolist()
        self.derived: dict[int, list[Ranked]] = {}
        self.waiting: dict[int, list[tuple[float, int, int, int]]] = {}
        self.seen: dict[int, set[tuple[int, int, int]]] = {}

    def best(self, k: int) -> list[Ranked]:
        """Return at most k derivations of the last item, best first; ties are ordered by their edges."""
        goal = len(self.first) - 2
        for item in range(1, goal + 1):  # from the bottom, which keeps the recursion shallow
            self.ranked(item, 0)
        return [derivation for rank in range(k) if (derivation := self.ranked(goal, rank)) is not None]

    def ranked(self, item: int, rank: int) -> Ranked | None:
        """Return the derivation of an item that has rank `rank`, from 0, or None if the item has fewer derivations."""
        if item == 0:
            return (0.0, -1, 0, 0) if rank == 0 else None
        if item not in self.waiting:
            self.derived[item], self.waiting[item], self.seen[item] = [], [], set()
            for edge in range(self.first[item], self.first[item + 1]):
                self._offer(item, edge, 0, 0)
        derived, waiting = self.derived[item], self.waiting[item]
        while len(derived) <= rank:
            if derived:
                _, edge, a, b = derived[-1]
                self._offer(item, edge, a + 1, b)
                self._offer(item, edge, a, b + 1)
            if not waiting:
                return None
            worse, edge, a, b = heapq.heappop(waiting)
            derived.append((-worse, edge, a, b))
        return derived[rank]

    def _offer(self, item: int, edge: int, a: int, b: int) -> None:
        """Queue a derivation of an item, unless it does not exist or was queued before.

        The derivation consists of `edge` and of the derivations of the edge's left and right tail with ranks a and b.
        """
        if (edge, a, b) in self.seen[item]:
            return
        left, right = self.ranked(self.left[edge], a), self.ranked(self.right[edge], b)
        if left is None or right is None or (score := self.own[edge] + left[0] + right[0]) <= NEG_TEST:
            return
        self.seen[item].add((edge, a, b))
        heapq.heappush(self.waiting[item], (-score, edge, a, b))

    def edges(self, ranked: Ranked) -> list[int]:
        """Return the edges of a derivation, parents first."""
        out, stack = [], [ranked]
        while stack:
            _, edge, a, b = stack.pop()
            if edge >= 0:
                out.append(edge)
                for tail, rank in ((self.right[edge], b), (self.left[edge], a)):
                    derivation = self.ranked(tail, rank)
                    assert derivation is not None
                    stack.append(derivation)
        return out
