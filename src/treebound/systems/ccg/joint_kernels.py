"""Kernels of the joint model: compact charts, messages, the derivation with the most expected correct constituents.

Most edges of a chart are part of no complete derivation; decoders iterate over a chart without them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph
from treebound.support.jit import kernel
from treebound.systems.ccg.chain import forward_backward
from treebound.systems.ccg.packing import Chart
from treebound.systems.ccg.rule_features import LEAF

FAINTEST = -300.0  #: least log message relative to the word's largest one; impossible categories keep -inf


class Chain(NamedTuple):
    """Memory for messages of V variables over n words: `scale` is float64[n], the other arrays are float64[V]."""

    combined: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    local: np.ndarray
    scale: np.ndarray


@kernel
def compact(chart, unit):
    """Return the chart without unused edges and items, and the largest absolute weight of its edges. O(E).

    An edge or item is used if a complete derivation contains it. The order is kept. Weights are rounded to multiples of
    `unit`. The given chart must have a complete derivation. The `cell` of the new chart is empty.
    """
    graph = chart.graph
    items = len(graph.first) - 1
    used = np.zeros(items, np.bool_)
    used[0] = used[items - 1] = True
    edges, size = 0, 1
    for i in range(items - 1, 0, -1):
        if used[i]:
            size += 1
            edges += graph.first[i + 1] - graph.first[i]
            for e in range(graph.first[i], graph.first[i + 1]):
                used[graph.left[e]] = used[graph.right[e]] = True
    first, left, right = np.zeros(size + 1, np.int32), np.empty(edges, np.int32), np.empty(edges, np.int32)
    var, rule, weight = np.empty(edges, np.int32), np.empty(edges, np.int32), np.empty(edges, np.float64)
    category, head, state = np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int32)
    number, new_item, new_edge, largest = np.zeros(items, np.int32), 0, 0, 0.0
    for i in range(items):
        if not used[i]:
            continue
        number[i] = new_item
        category[new_item], head[new_item], state[new_item] = chart.category[i], chart.head[i], chart.state[i]
        for e in range(graph.first[i], graph.first[i + 1]):
            left[new_edge], right[new_edge] = number[graph.left[e]], number[graph.right[e]]
            var[new_edge], rule[new_edge], weight[new_edge] = (
                graph.var[e],
                chart.rule[e],
                np.rint(graph.weight[e] / unit) * unit,
            )
            largest = max(largest, abs(weight[new_edge]))
            new_edge += 1
        new_item += 1
        first[new_item] = new_edge
    cells = np.zeros((0, 0, 2), np.int32)
    return Chart(Hypergraph(first, left, right, var, weight), rule, category, head, state, cells), largest


@kernel
def _scale(first, message):
    """Shift log messages so that the largest message of every word is 0, and raise messages below FAINTEST to FAINTEST.

    Messages of -inf remain -inf. Word i has the messages first[i] .. first[i + 1] - 1.
    """
    for i in range(len(first) - 1):
        top = -np.inf
        for x in range(first[i], first[i + 1]):
            top = max(top, message[x])
        for x in range(first[i], first[i + 1]):
            if message[x] > -np.inf:
                message[x] = max(message[x] - top, FAINTEST)


@kernel
def chain_messages(emission, outside, choices, potential, memory, out):
    """Write the chain's log messages to out float64[V]; return False if no sequence of categories is possible.

    A message is the product f b e of forward sum, backward sum and emission.

    outside    float64[V], the chart's log messages, which are added to the emissions
    choices    Lattice of the variables
    potential  exponentials of the transitions
    memory     Chain, overwritten

    O(sum c_i c_i+1) for c_i categories of word i.
    """
    for x in range(len(out)):
        memory.combined[x] = emission[x] + outside[x]
    alpha, beta, local = memory.alpha, memory.beta, memory.local
    if forward_backward(memory.combined, choices, potential, alpha, beta, local, memory.scale) == -np.inf:
        return False
    for x in range(len(out)):
        out[x] = -np.inf
        if alpha[x] > 0.0 and beta[x] > 0.0:  # alpha is f times local, and local contains e o
            out[x] = np.log(alpha[x]) - np.log(local[x]) + np.log(beta[x]) + emission[x]
    _scale(choices.first, out)
    return True


@kernel
def chart_messages(belief, messages, first, out):
    """Write the log messages of the chart to out float64[V]: beliefs of variables, divided by incoming messages.

    first     int32[n + 1], word i has the variables first[i] .. first[i + 1] - 1
    belief    float64[V], probabilities of the variables
    messages  float64[V], log messages of the chain to the chart

    O(V).
    """
    for x in range(len(out)):
        out[x] = np.log(belief[x]) - messages[x] if belief[x] > 0.0 else -np.inf
    _scale(first, out)


@kernel
def most_expected(graph, rule, probability, messages, value, best):
    """Find, for each item, the edge whose subtree has the most expected correct constituents; write it to `best`. O(E).

    The expected number is the sum of `probability` over the items that a word or a combination makes.

    graph, rule  fields of the Chart
    messages     float64[V], log messages to the variables; variables with message -inf are not used
    probability  float64[I], probability of each item; items with probability 0 are not used
    value        float64[I], receives the expected number for each item
    best         int32[I], receives the edge of each item, or -1
    """
    value[0], best[0] = 0.0, -1
    for i in range(1, len(graph.first) - 1):
        top, arg = NEG_TEST, -1
        if probability[i] > 0.0:
            for e in range(graph.first[i], graph.first[i + 1]):
                v = graph.var[e]
                if v < len(messages) and messages[v] == -np.inf:
                    continue
                gain = value[graph.left[e]] + value[graph.right[e]]
                if rule[e] >= LEAF:
                    gain += probability[i]
                if gain > top:
                    top, arg = gain, e
        value[i] = top if arg >= 0 else NEG
        best[i] = arg
