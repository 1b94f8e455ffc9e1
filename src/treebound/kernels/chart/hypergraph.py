"""A dynamic program as an explicit acyclic hypergraph: inside, best tree, outside with removal of what cannot win.

Every backbone (`kernels.chart.backbones`) writes its deductions as hyperedges once per sentence. From then on the
search knows no backbone: a DP call is one linear pass over flat arrays, and the graph shrinks as the gap closes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

NEG = -1e30  # "impossible"; -inf would give NaN in sums
NEG_TEST = -1e29


class Hypergraph(NamedTuple):
    """Items in topological order; item 0 is the axiom of value 0, the last item is the goal.

    first   int32[I + 1]  hyperedges of item i are first[i] .. first[i + 1] - 1 (item 0 has none)
    left    int32[E]      tail items; 0 where a deduction has fewer than two antecedents
    right   int32[E]
    var     int32[E]      the variable that the deduction chooses; which number stands for what, the chart knows: of
                          dependencies 0 .. A - 1 are arcs, A is none, what lies above are parts (`kernels.bounded`)
    weight  float64[E]    score of the parts that the backbone handles itself, without the variable's own
    """

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    var: np.ndarray
    weight: np.ndarray


#: stands for all trees over the arcs, which arborescences find without a hypergraph; a value, so that kernels that take
#: a graph are compiled once for both kinds of trees
_NO_ITEMS = np.empty(0, np.int32)
NO_GRAPH = Hypergraph(_NO_ITEMS, _NO_ITEMS, _NO_ITEMS, _NO_ITEMS, np.empty(0))


@kernel
def inside(graph, score, value, best):
    """Best derivation of every item, ties to the first edge; score float64[V] of the variables, 0 of none.

    OUT value float64[>= I], best int32[>= I] (edge, -1 where impossible). Returns the goal's value. O(E).
    """
    first, left, right, var, weight = graph.first, graph.left, graph.right, graph.var, graph.weight
    value[0] = 0.0
    best[0] = -1
    items = len(first) - 1
    for i in range(1, items):
        top = NEG_TEST
        arg = np.int64(-1)
        for e in range(np.uint64(first[i]), np.uint64(first[i + 1])):
            x = weight[e] + score[np.uint64(var[e])] + value[np.uint64(left[e])] + value[np.uint64(right[e])]
            if x > top:
                top = x
                arg = np.int64(e)
        value[i] = top if arg >= 0 else NEG
        best[i] = arg
    return value[items - 1] if items > 1 else NEG


@kernel
def best_variables(graph, none, best, out, stack, beyond=True):
    """Variables of the goal's best derivation into `out`; returns (sum of the edges' own weights, how many variables).

    none is the number that stands for none; variables with larger numbers are wanted if `beyond`.
    stack int32[>= 2 n + 4] is scratch. O(n).
    """
    top = 1
    stack[0] = len(graph.first) - 2
    c = 0
    local = 0.0
    while top > 0:
        top -= 1
        e = best[stack[top]]
        local += graph.weight[e]
        if graph.var[e] < none or (beyond and graph.var[e] > none):
            out[c] = graph.var[e]
            c += 1
        if graph.left[e] > 0:
            stack[top] = graph.left[e]
            top += 1
        if graph.right[e] > 0:
            stack[top] = graph.right[e]
            top += 1
    return local, c


@kernel
def best_arcs(graph, none, best, out, stack):
    """Its variables below `none` (arcs) into `out` int32[n]; returns the sum of the edges' own weights."""
    return best_variables(graph, none, best, out, stack, False)[0]


@kernel
def mark(graph, score, value, cut, outside, keep, var_max):
    """Outside pass: keep[e] tells whether the best tree through edge e has a value > cut.

    value as left by `inside`. A tree through a removed edge has a value <= cut: removing the edge loses no better tree.
    OUT outside float64[>= I], keep bool[>= E], var_max float64[V]: max-marginals of the variables as far as kept edges
    lead to them, of others something <= cut, or NEG.
    Returns (kept edges, kept items). O(E).
    """
    first, left, right, var, weight = graph.first, graph.left, graph.right, graph.var, graph.weight
    items = len(first) - 1
    outside[:items] = NEG
    outside[items - 1] = 0.0
    keep[: len(left)] = False
    var_max[:] = NEG
    edges = 0
    kept_items = 1
    for i in range(items - 1, 0, -1):
        o = outside[i]
        if o <= NEG_TEST:  # nothing that is kept needs the item: most of a sentence, once there is a good tree
            continue
        any_kept = False
        for e in range(np.uint64(first[i]), np.uint64(first[i + 1])):
            x_left, x_right, v = np.uint64(left[e]), np.uint64(right[e]), np.uint64(var[e])
            x = o + weight[e] + score[v]
            through = x + value[x_left] + value[x_right]
            if through > var_max[v]:
                var_max[v] = through
            if through > cut and through > NEG_TEST:
                keep[e] = any_kept = True
                edges += 1
                if x + value[x_right] > outside[x_left]:
                    outside[x_left] = x + value[x_right]
                if x + value[x_left] > outside[x_right]:
                    outside[x_right] = x + value[x_left]
        if any_kept:
            kept_items += 1
    return edges, kept_items


@kernel
def compact(graph, outside, keep, edges, items):
    """The hypergraph of the kept edges and of the items that still have one; outside, keep as left by `mark`. O(E)."""
    first, left, right, var, weight = graph.first, graph.left, graph.right, graph.var, graph.weight
    new_first = np.empty(items + 1, np.int32)
    new_left = np.empty(edges, np.int32)
    new_right = np.empty(edges, np.int32)
    new_var = np.empty(edges, np.int32)
    new_weight = np.empty(edges, np.float64)
    number = np.zeros(len(first) - 1, np.int32)
    new_first[0] = 0
    i_new = 1
    c = 0
    for i in range(1, len(first) - 1):
        if outside[i] <= NEG_TEST:
            continue
        begin = c
        for e in range(np.uint64(first[i]), np.uint64(first[i + 1])):
            if keep[e]:
                new_left[c] = number[left[e]]
                new_right[c] = number[right[e]]
                new_var[c] = var[e]
                new_weight[c] = weight[e]
                c += 1
        if c > begin:
            number[i] = i_new
            new_first[i_new] = begin
            i_new += 1
    new_first[i_new] = c
    return Hypergraph(new_first[: i_new + 1], new_left[:c], new_right[:c], new_var[:c], new_weight[:c])
