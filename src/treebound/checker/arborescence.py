"""Best non-projective trees in simple exact arithmetic, for checking: Chu & Liu (1965), Edmonds (1967).

The algorithm is recursive, works on lists of arcs and is shared with no decoder. Oracle: tests enumerate all trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from treebound.checker.chart import Number


class Arborescences:
    """The trees over some arcs (h, m), in which every word 1..n is reached from the root 0.

    ends         (h, m) of every arc of the problem
    single_root  whether exactly one arc leaves the root
    """

    def __init__(self, n: int, ends: Sequence[tuple[int, int]], single_root: bool):
        self.n, self.ends, self.single_root = n, ends, single_root

    def best(self, arcs: Iterable[int], score: Sequence[Number]) -> tuple[Number, list[int]]:
        """Return (score, arcs) of the best tree over `arcs`; (-inf, []) if there is no tree. O(n * arcs).

        The returned arcs are the arcs into the words 1..n, in this order.
        """
        arcs = list(arcs)
        # a penalty that no choice of arcs outweighs minimises the number of roots
        total: Number = 0
        for a in arcs:
            total += score[a] if score[a] >= 0 else -score[a]
        penalty = 1 + 2 * total if self.single_root else 0
        tree = _edmonds([(*self.ends[a], score[a] - (penalty if self.ends[a][0] == 0 else 0), a) for a in arcs], self.n)
        if tree is None or (self.single_root and sum(self.ends[a][0] == 0 for a in tree) != 1):
            return -math.inf, []
        return sum(score[a] for a in tree), sorted(tree, key=lambda a: self.ends[a][1])

    def reach(self, arcs: Iterable[int], score: Sequence[Number], threshold: Number) -> set[int]:
        """Return the arcs that occur in a tree with a score above `threshold`.

        Each arc is forced into the tree in turn. First, the arc replaces the arc into the same word in the best tree.
        Only if the result is no tree, or scores too little, is the best tree with the arc computed.
        """
        arcs = set(arcs)
        value, tree = self.best(arcs, score)
        if value <= threshold:
            return set()
        reached = set(tree)
        into = {self.ends[a][1]: a for a in tree}
        for a in sorted(arcs - reached):
            h, m = self.ends[a]
            node = h
            while node not in (0, m):
                node = self.ends[into[node]][0]
            roots = (h == 0) - (self.ends[into[m]][0] == 0)
            swapped = value - score[into[m]] + score[a] if node == 0 and not (self.single_root and roots) else -math.inf
            if swapped <= threshold:
                swapped, _ = self.best((b for b in arcs if b == a or self.ends[b][1] != m), score)
            if swapped > threshold:
                reached.add(a)
        return reached


def _edmonds(arcs: list[tuple[int, int, Number, int]], n: int) -> list[int] | None:
    """Return the identifiers of the arcs of the best spanning tree, or None if there is no spanning tree.

    arcs  (head, modifier, score, identifier) of every arc
    n     number of nodes beside the root
    """
    best: dict[int, tuple[int, int, Number, int]] = {}
    for arc in arcs:
        if arc[1] not in best or arc[2] > best[arc[1]][2]:
            best[arc[1]] = arc
    if any(m not in best for m in range(1, n + 1)):
        return None
    cycle = _cycle({m: arc[0] for m, arc in best.items()})
    if not cycle:
        return [arc[3] for arc in best.values()]
    # the cycle becomes one node; the score of an arc into it is the gain over the arc of the cycle that it replaces
    names = {m: i for i, m in enumerate((m for m in range(1, n + 1) if m not in cycle), 1)}
    node = len(names) + 1
    names = {0: 0, **names} | dict.fromkeys(cycle, node)
    smaller, enters = [], {}
    for h, m, score, name in arcs:
        if names[h] == names[m]:
            continue
        enters[name] = m
        gain = score - best[m][2] if names[m] == node else score
        smaller.append((names[h], names[m], gain, name))
    tree = _edmonds(smaller, node)
    if tree is None:
        return None
    (entered,) = (enters[name] for name in tree if enters[name] in cycle)
    return tree + [best[m][3] for m in cycle if m != entered]


def _cycle(head: dict[int, int]) -> set[int]:
    """Return the words of a cycle of `head`, which maps words to heads, or an empty set if all words reach the root."""
    done: set[int] = {0}
    for start in head:
        path, word = [], start
        while word not in done and word not in path:
            path.append(word)
            word = head[word]
        if word in path:
            return set(path[path.index(word) :])
        done.update(path)
    return set()
