"""Maximum spanning arborescence: Chu & Liu (1965), Edmonds (1967), with contraction on a dense matrix.

Oracle: tests/contract enumerates all trees.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def maximum_arborescence(score):
    """int32[n + 1] heads of the best tree rooted in node 0, ties to the lower head; heads[1] = -2 if there is none.

    score float64[n + 1, n + 1], score[h, m]; -inf forbids an arc. Changed in place. O(n^3) at worst, O(n^2) a cycle.
    Every round takes the best arc into each node. A cycle is contracted into its first node: an arc into the cycle then
    counts what it adds over the cycle's arc that it replaces. Cycles are opened again in reverse order.
    """
    size = score.shape[0]
    heads = np.full(size, -1, np.int32)
    active = np.ones(size, np.bool_)
    # the arc between words that stands for the best one between two components
    from_word = np.empty((size, size), np.int32)
    to_word = np.empty((size, size), np.int32)
    for u in range(size):
        for v in range(size):
            from_word[u, v], to_word[u, v] = u, v
    component = np.arange(size).astype(np.int32)  # of every word
    before = np.empty((size, size), np.int32)  # component of every word before each contraction
    cycle_of = np.empty((size, size), np.int32)  # members of each contracted cycle
    cycle_size = np.zeros(size, np.int32)
    cycle_head = np.empty((size, size), np.int32)  # the arc of the cycle into each member, between words
    cycle_mod = np.empty((size, size), np.int32)
    cycles = 0
    best = np.full(size, -1, np.int32)
    mark = np.empty(size, np.int32)
    while True:
        for v in range(1, size):
            if not active[v]:
                continue
            best[v] = -1
            top = -np.inf
            for u in range(size):
                if active[u] and u != v and score[u, v] > top:
                    top = score[u, v]
                    best[v] = u
            if best[v] < 0:
                heads[1] = -2
                return heads
        # a cycle among the best arcs
        mark[:] = 0
        start = -1
        for v in range(1, size):
            if not active[v] or mark[v] != 0:
                continue
            x = v
            while x != 0 and mark[x] == 0:
                mark[x] = v
                x = best[x]
            if x != 0 and mark[x] == v:
                start = x
                break
        if start < 0:
            break
        k = cycles
        cycles += 1
        before[k] = component
        c = 0
        x = start
        while True:
            cycle_of[k, c] = x
            cycle_head[k, c] = from_word[best[x], x]
            cycle_mod[k, c] = to_word[best[x], x]
            c += 1
            x = best[x]
            if x == start:
                break
        cycle_size[k] = c
        inside = np.zeros(size, np.bool_)
        for i in range(c):
            inside[cycle_of[k, i]] = True
        for u in range(size):
            if not active[u] or inside[u]:
                continue
            into, out = -np.inf, -np.inf
            a, b, p, q = u, start, start, u
            for i in range(c):
                v = cycle_of[k, i]
                gain = score[u, v] - score[best[v], v]
                if gain > into:
                    into, a, b = gain, from_word[u, v], to_word[u, v]
                if score[v, u] > out:
                    out, p, q = score[v, u], from_word[v, u], to_word[v, u]
            score[u, start], from_word[u, start], to_word[u, start] = into, a, b
            score[start, u], from_word[start, u], to_word[start, u] = out, p, q
        for i in range(c):
            if cycle_of[k, i] != start:
                active[cycle_of[k, i]] = False
        for w in range(size):
            if inside[component[w]]:
                component[w] = start
    for v in range(1, size):
        if active[v]:
            heads[to_word[best[v], v]] = from_word[best[v], v]
    for k in range(cycles - 1, -1, -1):
        # the one word of the cycle that has a head so far is where the tree enters
        entered = -1
        for w in range(1, size):
            if heads[w] >= 0:
                for i in range(cycle_size[k]):
                    if before[k, w] == cycle_of[k, i]:
                        entered = i
        for i in range(cycle_size[k]):
            if i != entered:
                heads[cycle_mod[k, i]] = cycle_head[k, i]
    return heads
