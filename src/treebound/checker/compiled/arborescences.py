"""Compute scores of best non-projective trees in int64: the compiled version of `treebound.checker.arborescence`."""

from __future__ import annotations

import numpy as np

from treebound.checker.compiled.tables import NO
from treebound.support.jit import kernel


@kernel
def best_score(n, head, mod, score):
    """Return the score of the best tree over some arcs (Chu & Liu 1965, Edmonds 1967); NO (-inf) if there is none.

    n                 number of nodes besides the root 0
    head, mod, score  int64[A]: ends and score of each arc; the arrays are overwritten

    In every round, each node adds the score of its best incoming arc to the total, and this score is subtracted from
    all arcs into the node. Each cycle of best arcs is then contracted to one node. O(n A).
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
            node = start
            while seen[node] < 0:
                seen[node] = start
                node = above[node]
            if seen[node] == start and name[node] < 0 and node != 0:
                cycles = True
                while name[node] < 0:
                    name[node] = fewer
                    node = above[node]
                fewer += 1
        if not cycles:
            return total
        for m in range(1, nodes):
            if name[m] < 0:
                name[m] = fewer
                fewer += 1
        remaining = 0
        for i in range(count):
            h, m = name[head[i]], name[mod[i]]
            if h != m:
                head[remaining], mod[remaining], score[remaining] = h, m, score[i] - best[mod[i]]
                remaining += 1
        nodes, count = fewer, remaining


@kernel
def reach(n, single_root, head, mod, alive, score, threshold):
    """Return bool[A]: for each of A arcs, whether a tree over the arcs `alive` has it and scores above `threshold`.

    The threshold NO (-inf) accepts any tree. Each arc is forced into the tree in turn. An arc is skipped if its score
    plus the scores of the best arcs into all other words does not exceed the threshold. These best arcs need not form a
    tree.
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
    # a penalty that no choice of arcs outweighs minimises the number of roots
    penalty = 1 + 2 * total if single_root else np.int64(0)
    some_head, some_mod, some_score = np.empty(A, np.int64), np.empty(A, np.int64), np.empty(A, np.int64)
    for a in range(A):
        if not alive[a] or relaxed - top[mod[a]] + score[a] <= threshold:
            continue
        count = 0
        for b in range(A):
            if alive[b] and (b == a or mod[b] != mod[a]):
                some_head[count], some_mod[count] = head[b], mod[b]
                some_score[count] = score[b] - (penalty if head[b] == 0 else 0)
                count += 1
        best = best_score(n, some_head[:count], some_mod[:count], some_score[:count])
        if best == NO:
            continue
        if single_root:
            best += penalty  # for one root; a tree with several roots stays below all trees with one root
            if best < -total:
                continue
        keep[a] = best > threshold
    return keep
