"""From the scores of a sentence to its best tree: choose the backbone, bound the rest, search."""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.kernels.arcs import arcs_of_tree
from treebound.kernels.backbones import (
    CARRERAS,
    EISNER,
    GRANDPARENT_SIBLING,
    carreras_graph,
    eisner_graph,
    grandparent_sibling_graph,
)
from treebound.kernels.hypergraph import NEG, NEG_TEST, best_arcs, inside
from treebound.kernels.parts import (
    ADJACENT_SIBLING,
    GRANDCHILD,
    OUTERMOST_GRANDCHILD,
    SIBLING,
    list_parts,
    parts_of_tree,
)
from treebound.kernels.published import search_published
from treebound.kernels.search import LIMIT, Record, search

MAX_EDGES = 40_000_000  #: hyperedges that a backbone may use (20 bytes each) before it is not tried


@njit(cache=True, nogil=True)
def backbone_graph(backbone, index, parts, n, single_root, adjacent, outermost, grandchild, limit):
    """Hypergraph of a backbone (see `treebound.kernels.backbones`); empty if it would exceed `limit` edges."""
    if backbone == EISNER:
        return eisner_graph(index, n, single_root, limit)
    if backbone == CARRERAS:
        return carreras_graph(index, parts, n, single_root, adjacent, outermost, limit)
    return grandparent_sibling_graph(index, parts, n, single_root, adjacent, outermost, grandchild, limit)


@njit(cache=True, nogil=True)
def bounded_factors(backbone, index, parts, grandchild, sibling):
    """(e, f, phi) of the pair factors that the backbone leaves to the bound: grandchild parts, then sibling parts.

    Parts that score 0 are left out.
    """
    take_grandchild = backbone != GRANDPARENT_SIBLING
    size = len(sibling) + (len(grandchild) if take_grandchild else 0)
    e = np.empty(size, np.int32)
    f = np.empty(size, np.int32)
    phi = np.empty(size, np.float64)
    c = 0
    if len(grandchild) > 0 and take_grandchild:
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
def solve(backbone, index, parts, n, single_root, arc, adjacent, outermost, grandchild, sibling, unit, options, record):
    """Branch and bound for one sentence; family scores are float64 arrays in part order, empty where absent.

    Returns (heads int32[n + 1], value, bound, status, dp_calls, nodes, solved at root, Record).
    """
    A = len(arc)
    theta = np.zeros(A + 1, np.float64)
    theta[:A] = arc
    graph = backbone_graph(backbone, index, parts, n, single_root, adjacent, outermost, grandchild, MAX_EDGES)
    if len(graph.first) == 1:
        heads, value = fallback(index, parts, n, single_root, theta, adjacent, outermost, grandchild, sibling)
        z = np.zeros((0, 0), np.float64)
        return heads, value, np.inf, LIMIT, 1, 0, False, Record(z, z, np.zeros(0, np.int32), z)
    e, f, phi = bounded_factors(backbone, index, parts, grandchild, sibling)
    value, bound, arcs, status, dp, nodes, root_solved, kept = search(
        graph, n, index.mod, theta, e, f, phi, unit, options, record
    )
    return _heads(index, arcs, value, n), value, bound, status, dp, nodes, root_solved, kept


@njit(cache=True, nogil=True)
def solve_published(
    backbone, index, parts, n, single_root, arc, adjacent, outermost, grandchild, sibling, unit, max_dp_calls, max_nodes
):
    """As `solve`, with the paper's own search (`treebound.kernels.published`); it keeps no record."""
    A = len(arc)
    theta = np.zeros(A + 1, np.float64)
    theta[:A] = arc
    graph = backbone_graph(backbone, index, parts, n, single_root, adjacent, outermost, grandchild, MAX_EDGES)
    if len(graph.first) == 1:
        heads, value = fallback(index, parts, n, single_root, theta, adjacent, outermost, grandchild, sibling)
        return heads, value, np.inf, LIMIT, 1, 0, False
    e, f, phi = bounded_factors(backbone, index, parts, grandchild, sibling)
    first = np.arange(0, 2 * len(phi) + 1, 2).astype(np.int32)
    pairs = np.empty(2 * len(phi), np.int32)
    pairs[0::2] = e
    pairs[1::2] = f
    value, bound, arcs, status, dp, nodes, root_solved = search_published(
        graph, n, index.head, index.mod, theta, first, pairs, phi, unit, max_dp_calls, max_nodes
    )
    return _heads(index, arcs, value, n), value, bound, status, dp, nodes, root_solved


@njit(cache=True, nogil=True)
def fallback(index, parts, n, single_root, theta, adjacent, outermost, grandchild, sibling):
    """(heads, score) of the best first-order tree, for a sentence whose hypergraph would be too large. O(n^2 k)."""
    graph = eisner_graph(index, n, single_root, 2**62)
    value = np.empty(len(graph.first), np.float64)
    best = np.empty(len(graph.first), np.int32)
    arcs = np.zeros(n, np.int32)
    if inside(graph, theta, value, best) <= NEG_TEST:
        return _heads(index, arcs, NEG, n), NEG
    best_arcs(graph, len(index.head), best, arcs, np.empty(2 * n + 8, np.int32))
    heads = _heads(index, arcs, 0.0, n)
    into = arcs_of_tree(index, heads)
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
    return heads, score


@njit(cache=True, nogil=True)
def _heads(index, arcs, value, n):
    """int32[n + 1] heads of a tree given by its arcs; all 0 where there is none."""
    heads = np.zeros(n + 1, np.int32)
    heads[0] = -1
    if value > NEG / 2:
        for a in arcs:
            heads[index.mod[a]] = index.head[a]
    return heads
