"""Hashed features of the steps of a derivation (Clark & Curran 2007, sections 5.3 and 6.2), their scores and gradients.

A lexical category has features with its word and its tag. A unary step, or a root category, has a feature by itself and
features with the word and the tag of its head. A combination has these features:

- the rule, by itself and with the word and the tag of the head;
- the rule with word or tag of the left head and word or tag of the right head;
- the rule and the head with the number of words, punctuation marks and verbs between both heads;
- as in the hybrid model of the paper, the dependency: lexical category of the functor's head, argument slot, words or
  tags of functor and argument.

An item knows the head's lexical category but not the arguments that are still open. A dependency is therefore counted
when a functor takes an argument, not when the argument is passed on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel
from treebound.systems.ccg.grammar import OTHER

MOST = 20  #: largest number of features of a step
LEAF, GOAL = -1, -2  #: rule numbers of leaves and roots; unary rule u has UNARY - u
UNARY = -16


class Sentence(NamedTuple):
    """A sentence and the lexical categories that its words may have, which are the variables of its chart.

    form, tag       int64[n], hashes of words and tags;
    marks, verbs    int32[n + 1], number of punctuation marks and verbs before a word;
    first           int32[n + 1]: word i has the variables first[i] .. first[i + 1] - 1;
    category, word  int32[V], lexical category and word of each variable
    """

    form: np.ndarray
    tag: np.ndarray
    marks: np.ndarray
    verbs: np.ndarray
    first: np.ndarray
    category: np.ndarray
    word: np.ndarray


@kernel(inline="always")
def _join(x, y):
    """Return the hash of x and y together, where x is a hash and y a further value."""
    return (x ^ y) * M1


@kernel
def leaf_slots(sentence, tables, variable, mask, out):
    """Write the weight indices of the features of a leaf to `out` int64[MOST], and return the number of indices.

    variable  variable of the leaf, which determines word and lexical category
    mask      number of weights minus 1
    """
    i, x = sentence.word[variable], _join(tables.category_hash[sentence.category[variable]], 1)
    out[0] = finish(_join(x, sentence.form[i])) & mask
    out[1] = finish(_join(x, sentence.tag[i])) & mask
    return 2


@kernel
def single_slots(sentence, rule_hash, head, mask, out):
    """Write the weight indices of the features of a unary step or a root to `out`, and return the number of indices.

    rule_hash  hash of the unary rule or of the root category
    head       variable of the constituent's head
    mask       number of weights minus 1
    """
    i, x = sentence.word[head], _join(rule_hash, 2)
    out[0] = finish(x) & mask
    out[1] = finish(_join(x, sentence.form[i])) & mask
    out[2] = finish(_join(x, sentence.tag[i])) & mask
    return 3


@kernel
def binary_slots(sentence, tables, rule, left, right, mask, out):
    """Write the weight indices of the features of a combination to `out`, and return the number of indices.

    rule         number of the binary rule
    left, right  variables of the heads of both constituents
    mask         number of weights minus 1
    """
    a, b = sentence.word[left], sentence.word[right]
    wa, wb, pa, pb = sentence.form[a], sentence.form[b], sentence.tag[a], sentence.tag[b]
    w, p = (wb, pb) if tables.head[rule] else (wa, pa)
    x = _join(tables.rule_hash[rule], 3)
    out[0] = finish(x) & mask
    out[1] = finish(_join(x, w)) & mask
    out[2] = finish(_join(x, p)) & mask
    left_word, left_tag = _join(x, wa), _join(x, pa)
    out[3] = finish(_join(left_word, wb)) & mask
    out[4] = finish(_join(left_word, pb)) & mask
    out[5] = finish(_join(left_tag, wb)) & mask
    out[6] = finish(_join(left_tag, pb)) & mask
    between = _join(x, 16 + min(b - a - 1, 3))
    marks = _join(x, 32 + min(sentence.marks[b] - sentence.marks[a + 1], 3))
    verbs = _join(x, 48 + min(sentence.verbs[b] - sentence.verbs[a + 1], 2))
    out[7] = finish(_join(between, w)) & mask
    out[8] = finish(_join(between, p)) & mask
    out[9] = finish(_join(marks, w)) & mask
    out[10] = finish(_join(marks, p)) & mask
    out[11] = finish(_join(verbs, w)) & mask
    out[12] = finish(_join(verbs, p)) & mask
    if tables.kind[rule] == OTHER:
        return 13
    forward = tables.kind[rule] % 2 == 1
    functor = left if forward else right
    y = _join(tables.category_hash[sentence.category[functor]], 64 + tables.slot[rule])
    wf, pf, wo, po = (wa, pa, wb, pb) if forward else (wb, pb, wa, pa)
    out[13] = finish(_join(_join(y, wf), wo)) & mask
    out[14] = finish(_join(_join(y, wf), po)) & mask
    out[15] = finish(_join(_join(y, pf), wo)) & mask
    out[16] = finish(_join(_join(y, pf), po)) & mask
    return 17


@kernel
def step_slots(sentence, tables, chart, edge, mask, out):
    """Write the weight indices of the features of a chart edge to `out`, and return the number of indices.

    mask  number of weights minus 1
    """
    rule, left = chart.rule[edge], chart.graph.left[edge]
    if rule >= 0:
        right = chart.graph.right[edge]
        return binary_slots(sentence, tables, rule, chart.head[left], chart.head[right], mask, out)
    if rule == LEAF:
        return leaf_slots(sentence, tables, chart.graph.var[edge], mask, out)
    if rule == GOAL:
        return single_slots(sentence, tables.category_hash[chart.category[left]], chart.head[left], mask, out)
    return single_slots(sentence, tables.unary_hash[UNARY - rule], chart.head[left], mask, out)


@kernel
def total(weights, slots, count):
    """Return the sum of the weights at the first `count` slots."""
    x = 0.0
    for k in range(count):
        x += weights[slots[k]]
    return x


@kernel
def _used(graph):
    """Return bool[I]: whether a complete derivation uses each item. Without such a derivation, all are True."""
    items = len(graph.first) - 1
    used = np.zeros(items, np.bool_)
    used[items - 1] = True
    if graph.first[items - 1] == graph.first[items]:
        used[:] = True
    for i in range(items - 1, 0, -1):
        if used[i]:
            for e in range(graph.first[i], graph.first[i + 1]):
                used[graph.left[e]] = used[graph.right[e]] = True
    return used


@kernel
def score_steps(sentence, tables, chart, weights):
    """Write the scores of the E edges of a chart to chart.graph.weight. O(E).

    Edges that no complete derivation uses have score 0: they are most of the edges, and features are the largest cost.
    Without a complete derivation all edges are scored, for fragments.
    """
    slots = np.empty(MOST, np.int64)
    used, graph = _used(chart.graph), chart.graph
    for i in range(1, len(graph.first) - 1):
        for e in range(graph.first[i], graph.first[i + 1]):
            graph.weight[e] = 0.0
            if used[i]:
                count = step_slots(sentence, tables, chart, e, len(weights) - 1, slots)
                graph.weight[e] = total(weights, slots, count)


@kernel
def expect_steps(sentence, tables, chart, inner, outer, score, counts):
    """Add the features of every step, times its probability, to counts float64[2^bits]. O(E).

    score         float64[V + 1], scores of the variables, followed by 0 for edges without a variable
    inner, outer  float64[I] each, the logarithms of inside sums and the probabilities of items
                  (`kernels.chart.marginals.log_inside_outside`)
    """
    graph = chart.graph
    slots = np.empty(MOST, np.int64)
    for i in range(1, len(graph.first) - 1):
        if outer[i] < 1e-12:
            continue
        for e in range(graph.first[i], graph.first[i + 1]):
            x = graph.weight[e] + score[graph.var[e]] + inner[graph.left[e]] + inner[graph.right[e]] - inner[i]
            p = outer[i] * np.exp(x)
            if p < 1e-12:
                continue
            count = step_slots(sentence, tables, chart, e, len(counts) - 1, slots)
            for k in range(count):
                counts[slots[k]] += p
