"""Packed charts by CKY: all derivations of a sentence as one hypergraph over its lexical categories.

An item is a category over a span, with a head and a state. The head is a lexical category of a word (a variable). The
state records how the item was made. The normal form of Eisner (1996) needs it: a result of composition must not be the
functor of another step in the same direction. So does the limit on unary steps, of which at most `DEPTH` follow one
another.

Items are numbered cell by cell, shorter spans first, so that edges lead from smaller numbers to larger ones. Item 0 is
the axiom, the last item is the goal. Oracle: enumeration by the rules in plain Python (tests/test_ccg_charts.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.hypergraph import Hypergraph
from treebound.kernels.features.hashing import M1
from treebound.support.jit import kernel
from treebound.systems.ccg.grammar import (
    BACKWARD,
    BACKWARD_COMPOSITION,
    FORWARD,
    FORWARD_COMPOSITION,
)
from treebound.systems.ccg.rule_features import GOAL, LEAF, UNARY

DEPTH = 2
#: states of items: PLAIN after a word or a binary step that is no composition, RAISED + d after d + 1 unary steps
PLAIN, COMPOSED_FORWARD, COMPOSED_BACKWARD, RAISED = range(4)
STATES = 8
DONE, TOO_LARGE = 0, 1


class Workspace(NamedTuple):
    """Memory for building charts of up to M edges.

    category, head, state, first  int32[M + 2], category, head, state and first edge of each item;
    left, right, var, rule        int32[M + 1], tail items, variable and rule of each edge; weight is float64[M + 1];
    parent                        int32[M + 1], the item of each edge of a cell before edges are sorted by item;
    cell_*                        other columns of the edges of a cell before sorting;
    key, place                    int64[4 M], int32[4 M]: hash table from category, state and head to the items of a
                                  cell
    """

    category: np.ndarray
    head: np.ndarray
    state: np.ndarray
    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    var: np.ndarray
    rule: np.ndarray
    weight: np.ndarray
    parent: np.ndarray
    cell_left: np.ndarray
    cell_right: np.ndarray
    cell_rule: np.ndarray
    key: np.ndarray
    place: np.ndarray


class Chart(NamedTuple):
    """A chart of V variables.

    graph                  hypergraph of the chart; an edge without a variable has the number V instead;
    rule                   int32[E], for each edge: number of a binary rule, UNARY minus number of a unary rule, LEAF,
                           or GOAL;
    category, head, state  int32[I], category, head variable and state of each item; 0 for axiom and goal;
    cell                   int32[n + 1, n + 1, 2]: words i .. j - 1 have the items cell[i, j, 0] .. cell[i, j, 1] - 1
    """

    graph: Hypergraph
    rule: np.ndarray
    category: np.ndarray
    head: np.ndarray
    state: np.ndarray
    cell: np.ndarray


def workspace(limit: int) -> Workspace:
    """Return the memory for charts of up to `limit` edges, about 70 bytes per edge."""
    edges, size = limit + 1, 1 << max(7, (2 * limit).bit_length())
    items = [np.zeros(edges + 1, np.int32) for _ in range(4)]
    of_edges = [np.zeros(edges, np.int32) for _ in range(4)]
    of_cells = [np.zeros(edges, np.int32) for _ in range(4)]
    keys = [np.zeros(size, np.int64), np.zeros(size, np.int32)]
    return Workspace._make([*items, *of_edges, np.zeros(edges), *of_cells, *keys])


@kernel(inline="always")
def _find(ws, size, key):
    """Return the slot that holds the key of an item in the hash table of the cell, or the empty slot for a new key."""
    place = ((key * M1) >> 33) & (size - 1)
    while ws.key[place] >= 0 and ws.key[place] != key:
        place = (place + 1) & (size - 1)
    return place


@kernel
def _item(ws, size, begin, count, category, head, state):
    """Find the item with a category, head and state in a cell, and add the item if the cell lacks it.

    The cell has the items begin .. count - 1 and a hash table of `size` slots, which grows with the cell. Return
    (number of the item, new `count`, new `size`).
    """
    key = ((np.int64(category) * STATES + state) << 32) | head
    place = _find(ws, size, key)
    if ws.key[place] >= 0:
        return ws.place[place], count, size
    ws.key[place], ws.place[place] = key, count
    ws.category[count], ws.head[count], ws.state[count] = category, head, state
    if 2 * (count - begin) > size and 2 * size <= len(ws.key):
        size *= 2
        ws.key[:size] = -1
        for i in range(begin, count + 1):
            stored = ((np.int64(ws.category[i]) * STATES + ws.state[i]) << 32) | ws.head[i]
            target = _find(ws, size, stored)
            ws.key[target], ws.place[target] = stored, i
    return count, count + 1, size


@kernel(inline="always")
def _state(kind, left, right):
    """Return the state of the item that a combination makes of two items with the states `left` and `right`.

    `kind` is the kind of the combination. Return -1 if the normal form forbids the combination.
    """
    if left == COMPOSED_FORWARD and kind in (FORWARD, FORWARD_COMPOSITION):
        return -1
    if right == COMPOSED_BACKWARD and kind in (BACKWARD, BACKWARD_COMPOSITION):
        return -1
    if kind == FORWARD_COMPOSITION:
        return COMPOSED_FORWARD
    return COMPOSED_BACKWARD if kind == BACKWARD_COMPOSITION else PLAIN


@kernel
def _combine(ws, tables, cell, i, j, begin, unknown):
    """Combine all pairs of neighbouring items that together span words i .. j - 1, and write the edges of their cell.

    Return (number after the last item, edges of the cell, size of the cell's hash table, unknown pairs). The number of
    edges is -1 if there are too many. Pairs of categories that the tables do not know are written to `unknown` int64[*]
    while there is space.
    """
    count, edges, size, missing = begin, 0, 64, 0
    ws.key[:size] = -1
    capacity = len(ws.cell_rule)
    for k in range(i + 1, j):
        for left in range(cell[i, k, 0], cell[i, k, 1]):
            for right in range(cell[k, j, 0], cell[k, j, 1]):
                pair = (np.int64(ws.category[left]) << 32) | ws.category[right]
                place = ((pair * M1) >> 40) & (len(tables.key) - 1)
                while tables.key[place] >= 0 and tables.key[place] != pair:
                    place = (place + 1) & (len(tables.key) - 1)
                if tables.key[place] < 0:
                    if missing < len(unknown):
                        unknown[missing] = pair
                        missing += 1
                    continue
                for rule in range(tables.pair[place, 0], tables.pair[place, 1]):
                    state = _state(tables.kind[rule], ws.state[left], ws.state[right])
                    if state < 0:
                        continue
                    if begin + edges >= capacity - 1:
                        return count, -1, size, missing
                    head = ws.head[right] if tables.head[rule] else ws.head[left]
                    item, count, size = _item(ws, size, begin, count, tables.result[rule], head, state)
                    ws.parent[edges], ws.cell_rule[edges] = item, rule
                    ws.cell_left[edges], ws.cell_right[edges] = left, right
                    edges += 1
    return count, edges, size, missing


@kernel
def _change(ws, tables, begin, count, edges, size):
    """Apply unary steps to the items begin .. count - 1 of a cell, which has `edges` edges.

    `size` is the size of the cell's hash table. Return (number after the last item, edges of the cell). The number of
    edges is -1 if there are too many.
    """
    start = begin
    for depth in range(DEPTH):
        end = count
        for i in range(start, end):
            for u in range(tables.unary_first[ws.category[i]], tables.unary_first[ws.category[i] + 1]):
                if begin + edges >= len(ws.cell_rule) - 1:
                    return count, -1
                item, count, size = _item(ws, size, begin, count, tables.unary_result[u], ws.head[i], RAISED + depth)
                ws.parent[edges], ws.cell_rule[edges] = item, UNARY - u
                ws.cell_left[edges], ws.cell_right[edges] = i, 0
                edges += 1
        start = end
    return count, edges


@kernel
def _sorted_in(ws, begin, count, edges, written, no_variable):
    """Append the `edges` edges of a cell to the `written` edges of the chart, grouped by item in a stable order.

    The cell has the items begin .. count - 1. An edge that is not a leaf gets the number `no_variable` as its variable.
    Return the new number of edges of the chart.
    """
    for i in range(begin, count + 1):
        ws.first[i] = 0
    for e in range(edges):
        ws.first[ws.parent[e]] += 1
    end = written
    for i in range(begin, count):
        size = ws.first[i]
        ws.first[i] = end
        end += size
    for e in range(edges):
        place = ws.first[ws.parent[e]]
        ws.first[ws.parent[e]] += 1
        ws.left[place], ws.right[place], ws.rule[place] = ws.cell_left[e], ws.cell_right[e], ws.cell_rule[e]
        ws.var[place] = ws.cell_left[e] if ws.cell_rule[e] == LEAF else no_variable
        if ws.cell_rule[e] == LEAF:
            ws.left[place] = 0
    for i in range(count, begin, -1):  # the edges of an item end at the first edge of the next item
        ws.first[i] = ws.first[i - 1]
    ws.first[begin] = written
    return end


@kernel
def build(sentence, tables, ws, limit, unknown):
    """Build a chart without scores; return (DONE or TOO_LARGE, items, edges, unknown pairs, `cell` of the `Chart`).

    limit    largest number of edges; a larger chart is given up
    unknown  int64[*], receives pairs of categories that the tables do not know, while there is space. The chart lacks
             all combinations of unknown pairs

    O(n^3 c^2) for c items per cell.
    """
    n, no_variable = len(sentence.form), len(sentence.category)
    cell = np.zeros((n + 1, n + 1, 2), np.int32)
    ws.category[0], ws.head[0], ws.state[0], ws.first[0], ws.first[1] = 0, 0, 0, 0, 0
    count, written, missing = 1, 0, 0
    limit = min(limit, len(ws.rule) - 1)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j, begin = i + length, count
            if length == 1:
                edges, size = sentence.first[i + 1] - sentence.first[i], 64
                ws.key[:size] = -1
                if written + edges > limit:
                    return TOO_LARGE, count, written, missing, cell
                for e in range(edges):
                    v = sentence.first[i] + e
                    item, count, size = _item(ws, size, begin, count, sentence.category[v], v, PLAIN)
                    ws.parent[e], ws.cell_rule[e], ws.cell_left[e], ws.cell_right[e] = item, LEAF, v, 0
            else:
                count, edges, size, missing_here = _combine(ws, tables, cell, i, j, begin, unknown[missing:])
                missing += missing_here
            if edges >= 0:
                count, edges = _change(ws, tables, begin, count, edges, size)
            if edges < 0 or written + edges > limit:
                return TOO_LARGE, count, written, missing, cell
            written = _sorted_in(ws, begin, count, edges, written, no_variable)
            cell[i, j, 0], cell[i, j, 1] = begin, count
    goal = 0
    for i in range(cell[0, n, 0], cell[0, n, 1]):
        if tables.root[ws.category[i]] and written < limit:
            ws.left[written], ws.right[written], ws.var[written], ws.rule[written] = i, 0, no_variable, GOAL
            written, goal = written + 1, goal + 1
    ws.category[count], ws.head[count], ws.state[count] = 0, 0, 0
    ws.first[count] = written - goal
    ws.first[count + 1] = written
    return DONE, count + 1, written, missing, cell
