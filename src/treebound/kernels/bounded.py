"""Around a search: the factors that are left to the bound, and a tree for sentences that are too large to search."""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.kernels.backbones import eisner_graph
from treebound.kernels.hypergraph import NEG, NEG_TEST, best_arcs, inside
from treebound.kernels.parts import (
    ADJACENT_SIBLING,
    GRANDCHILD,
    OUTERMOST_GRANDCHILD,
    SIBLING,
    list_parts,
    parts_of_tree,
)


@njit(cache=True, nogil=True)
def bounded_factors(index, parts, grandchild, sibling):
    """(e int32[F], f int32[F], phi float64[F]): grandchild parts, then sibling parts, without those that score 0.

    A family that is absent, or that the backbone scores, has no scores. O(F).
    """
    size = len(sibling) + len(grandchild)
    e = np.empty(size, np.int32)
    f = np.empty(size, np.int32)
    phi = np.empty(size, np.float64)
    c = 0
    if len(grandchild) > 0:
        arcs, _ = list_parts(GRANDCHILD, index, parts)
        for p in range(len(grandchild)):
            if grandchild[p] != 0.0:
                e[c], f[c], phi[c] = arcs[p, 0], arcs[p, 1], grandchild[p]
                c += 1
    if len(sibling) > 0:
        arcs, _ = list_parts(SIBLING, index, parts)
        for p in range(len(sibling)):
            if sibling[p] != 0.0:
                e[c], f[c], phi[c] = arcs[p, 0], arcs[p, 1], sibling[p]
                c += 1
    return e[:c], f[:c], phi[:c]


@njit(cache=True, nogil=True)
def fallback(index, parts, n, single_root, theta, adjacent, outermost, grandchild, sibling):
    """(arcs int32[n], score) of the best first-order tree under all its parts; no arcs and NEG where there is no tree.

    For a sentence whose hypergraph would be too large. O(n^2 k).
    """
    graph = eisner_graph(index, n, single_root, 2**62)
    value = np.empty(len(graph.first), np.float64)
    best = np.empty(len(graph.first), np.int32)
    arcs = np.zeros(n, np.int32)
    if inside(graph, theta, value, best) <= NEG_TEST:
        return arcs[:0], NEG
    best_arcs(graph, len(index.head), best, arcs, np.empty(2 * n + 8, np.int32))
    into = np.empty(n, np.int32)
    for a in arcs:
        into[index.mod[a] - 1] = a
    score = 0.0
    for a in into:
        score += theta[a]
    for p in parts_of_tree(ADJACENT_SIBLING, index, parts, into) if len(adjacent) > 0 else into[:0]:
        score += adjacent[p]
    for p in parts_of_tree(OUTERMOST_GRANDCHILD, index, parts, into) if len(outermost) > 0 else into[:0]:
        score += outermost[p]
    for p in parts_of_tree(GRANDCHILD, index, parts, into) if len(grandchild) > 0 else into[:0]:
        score += grandchild[p]
    for p in parts_of_tree(SIBLING, index, parts, into) if len(sibling) > 0 else into[:0]:
        score += sibling[p]
    return into, score
