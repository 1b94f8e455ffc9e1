"""Best non-projective trees in plain exact arithmetic, for checking: Chu & Liu (1965), Edmonds (1967).

Recursive, on lists of arcs; shared with no decoder. Oracle: tests enumerate all trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from treebound.checker.chart import Number


class Arborescences:
    """Trees over some arcs: words 1..n, every one reached from 0 over arcs (h, m).

    ends         (h, m) of every arc of the problem
    single_root  exactly one arc leaves 0
    """

    def __init__(self, n: int, ends: Sequence[tuple[int, int]], single_root: bool):
        self.n, self.ends, self.single_root = n, ends, single_root

    def best(self, arcs: Iterable[int], score: Sequence[Number]) -> tuple[Number, list[int]]:
        """(score of the best tree over `arcs`, its arcs by word 1..n); (-inf, []) where there is none. O(n * arcs)."""
        arcs = list(arcs)
        # a fine that no choice of arcs makes up for leaves as few roots as there can be
        total: Number = 0
        for a in arcs:
            total += score[a] if score[a] >= 0 else -score[a]
        fine = 1 + 2 * total if self.single_root else 0
        tree = _edmonds([(*self.ends[a], score[a] - (fine if self.ends[a][0] == 0 else 0), a) for a in arcs], self.n)
        if tree is None or (self.single_root and sum(self.ends[a][0] == 0 for a in tree) != 1):
            return -math.inf, []
        return sum(score[a] for a in tree), sorted(tree, key=lambda a: self.ends[a][1])

    def reach(self, arcs: Iterable[int], score: Sequence[Number], threshold: Number) -> set[int]:
        """The arcs whose best tree scores more than `threshold`: each is forced into the tree in turn.

        An arc that replaces one of the best tree is looked at first: if that tree is good enough, no other is needed.
        """
        arcs = set(arcs)
        value, tree = self.best(arcs, score)
        if value <= threshold:
            return set()
        found = set(tree)
        into = {self.ends[a][1]: a for a in tree}
        for a in sorted(arcs - found):
            h, m = self.ends[a]
            at = h
            while at not in (0, m):
                at = self.ends[into[at]][0]
            roots = (h == 0) - (self.ends[into[m]][0] == 0)
            swapped = value - score[into[m]] + score[a] if at == 0 and not (self.single_root and roots) else -math.inf
            if swapped <= threshold:
                swapped, _ = self.best((b for b in arcs if b == a or self.ends[b][1] != m), score)
            if swapped > threshold:
                found.add(a)
        return found


def _edmonds(arcs: list[tuple[int, int, Number, int]], n: int) -> list[int] | None:
    """Names of the arcs (head, modifier, score, name) of the best tree that spans what 0 must reach; None if none does.

    `n` words may be nodes; those into which no arc leads at the top level are missing.
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
    # the cycle becomes one node; an arc into it counts what it adds over the cycle's arc that it replaces
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
    """Some cycle of the words that hang on each other; empty if all reach 0."""
    done: set[int] = {0}
    for start in head:
        path, at = [], start
        while at not in done and at not in path:
            path.append(at)
            at = head[at]
        if at in path:
            return set(path[path.index(at) :])
        done.update(path)
    return set()
