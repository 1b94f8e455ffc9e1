"""A dynamic program as an explicit acyclic hypergraph: inside pass, best tree, and outside pass with removal of edges.

Every backbone (`kernels.chart.backbones`) writes its deductions as hyperedges once per sentence. After that, the search
is independent of the backbone. A dynamic-program call is one linear pass over flat arrays, and the graph shrinks as the
gap closes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

NEG = -1e30  # means "impossible"; -inf would give NaN in sums
NEG_TEST = -1e29


class Hypergraph(NamedTuple):
    """Items in topological order; item 0 is the axiom with value 0, and the last item is the goal.

    - `first`: int32[I + 1]. The hyperedges of item i are first[i] .. first[i + 1] - 1. Item 0 has none.
    - `left`, `right`: int32[E]. Tail items; 0 if a deduction has fewer than two antecedents.
    - `var`: int32[E]. The variable that the deduction chooses. The chart defines the meaning of the numbers. In charts
      of dependencies, 0 .. A - 1 are arcs, A means "no variable", and larger numbers are parts (`kernels.bounded`).
    - `weight`: float64[E]. The score of the parts that the backbone scores itself, without the score of the variable.
    """

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    var: np.ndarray
    weight: np.ndarray


#: the graph for non-projective trees, which arborescences find without a hypergraph; it has the type of a graph, so
#: that kernels are compiled once for both kinds of trees
_NO_ITEMS = np.empty(0, np.int32)
NO_GRAPH = Hypergraph(_NO_ITEMS, _NO_ITEMS, _NO_ITEMS, _NO_ITEMS, np.empty(0))


@kernel
def inside(graph, score, value, best):
    """Compute the best derivation of every item and return the value of the goal. O(E).

    `score` float64[V] scores the variables and is 0 for "no variable". Write `value` float64[>= I] and `best` int32[>=
    I], the best edge, or -1 if the item is impossible. Ties go to the first edge.
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
    """Write the variables of the goal's best derivation to `out`.

    Return (sum of `graph.weight` over the edges of the derivation, number of variables).

    - `none`: the number that means "no variable".
    - `beyond`: if True, variables with numbers above `none` are written, too.
    - `stack`: int32[>= 2 n + 4]. Scratch.

    O(n).
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
    """Write the variables below `none` (the arcs) of the goal's best derivation to `out` int32[n].

    Return the sum of `graph.weight` over the edges of the derivation.
    """
    return best_variables(graph, none, best, out, stack, False)[0]


@kernel
def mark(graph, score, value, cut, outside, keep, var_max):
    """Make the outside pass: keep[e] is True if the best tree through edge e has a value above `cut`. O(E).

    `value` is the result of `inside`. A tree through a removed edge has a value of at most `cut`, so no better tree is
    lost. Write `outside` float64[>= I], `keep` bool[>= E] and `var_max` float64[V]. `var_max` contains the
    max-marginals of the variables that the kept edges choose. For other variables, it contains some value of at most
    `cut`, or NEG.

    Return (number of kept edges, number of kept items).
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
        if o <= NEG_TEST:  # no kept edge needs the item; this holds for most items once a good tree is known
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
    """Return the hypergraph of the kept edges and their items; `outside` and `keep` are the results of `mark`. O(E)."""
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
