"""Best non-projective trees as in `treebound.checker.arborescence`, in int64: only their scores are asked for."""

from __future__ import annotations

import numpy as np

from treebound.checker.compiled.tables import NO
from treebound.support.jit import kernel


@kernel
def best_score(n, head, mod, score):
    """The score of the best tree over some arcs (Chu & Liu 1965, Edmonds 1967); NO where there is none.

    The arrays are used up. Every round adds the best arc into each node, takes it off all arcs into that node and makes
    each cycle of best arcs one node. O(n A).
    """
    nodes, total, count = n + 1, np.int64(0), len(head)
    best = np.empty(nodes, np.int64)
    above = np.empty(nodes, np.int64)
    name = np.empty(nodes, np.int64)
    seen = np.empty(nodes, np.int64)
    while True:
        best[:nodes], above[:nodes] = NO, -1
        for i in range(count):
            if score[i] > best[mod[i]]:
                best[mod[i]], above[mod[i]] = score[i], head[i]
        for m in range(1, nodes):
            if best[m] == NO:
                return NO
            total += best[m]
        name[:nodes], seen[:nodes] = -1, -1
        name[0], fewer, cycles = 0, 1, False
        seen[0] = 0
        for start in range(1, nodes):
            at = start
            while seen[at] < 0:
                seen[at] = start
                at = above[at]
            if seen[at] == start and name[at] < 0 and at != 0:
                cycles = True
                while name[at] < 0:
                    name[at] = fewer
                    at = above[at]
                fewer += 1
        if not cycles:
            return total
        for m in range(1, nodes):
            if name[m] < 0:
                name[m] = fewer
                fewer += 1
        left = 0
        for i in range(count):
            h, m = name[head[i]], name[mod[i]]
            if h != m:
                head[left], mod[left], score[left] = h, m, score[i] - best[mod[i]]
                left += 1
        nodes, count = fewer, left


@kernel
def reach(n, single_root, head, mod, alive, score, threshold):
    """bool[A]: the arcs whose best tree over the arcs `alive` scores more than `threshold` (NO: any tree at all).

    Each arc is forced in turn, unless the best arcs into all other words, a tree or not, are too few.
    """
    A = len(head)
    total = np.int64(0)
    relaxed, top = np.int64(0), np.full(n + 1, NO, np.int64)
    for a in range(A):
        if alive[a]:
            total += abs(score[a])
            top[mod[a]] = max(top[mod[a]], score[a])
    keep = np.zeros(A, np.bool_)
    for m in range(1, n + 1):
        if top[m] == NO:
            return keep
        relaxed += top[m]
    # a fine that no choice of arcs makes up for leaves as few roots as there can be
    fine = 1 + 2 * total if single_root else np.int64(0)
    some_head, some_mod, some_score = np.empty(A, np.int64), np.empty(A, np.int64), np.empty(A, np.int64)
    for a in range(A):
        if not alive[a] or relaxed - top[mod[a]] + score[a] <= threshold:
            continue
        count = 0
        for b in range(A):
            if alive[b] and (b == a or mod[b] != mod[a]):
                some_head[count], some_mod[count] = head[b], mod[b]
                some_score[count] = score[b] - (fine if head[b] == 0 else 0)
                count += 1
        found = best_score(n, some_head[:count], some_mod[:count], some_score[:count])
        if found == NO:
            continue
        if single_root:
            found += fine  # of the one root; with several, what is left is below all trees with one
            if found < -total:
                continue
        keep[a] = found > threshold
    return keep
