"""Log-linear chains over lexical categories: emissions, forward-backward, Viterbi, gradient.

A sequence of categories t_1 .. t_n of a sentence has the probability exp(sum of e_i(t_i) + sum of g(t_i-1, t_i)) / Z,
the transitions into the first and out of the last word among them (Clark & Curran 2004). The emissions e_i are sums of
hashed features of the words around i, each a row of weights of which an entry belongs to a category; the transitions g
are a table of their own, whose last row and column stand for the border of the sentence.

Sums run over probabilities that are scaled at every word, so that the exponentials of transitions are taken once for
all sentences. What is forbidden scores -inf. The emissions are an argument: belief propagation and dual decomposition
add their messages to them. Oracle: enumeration (tests/test_ccg_supertagging.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel


class Lattice(NamedTuple):
    """The categories that the words of a sentence may have: those of word i are tags[first[i] : first[i + 1]].

    first int32[n + 1], tags int32[C] ascending within a word
    """

    first: np.ndarray
    tags: np.ndarray


class Features(NamedTuple):
    """Words of some sentences.

    context  int64[W, T] hashes of what the templates see around every word
    offsets  int64[S + 1]
    group    int32[W] numbers of the lists of categories that words may have, Lattices over all lists
    lists    Lattice of the lists
    """

    context: np.ndarray
    offsets: np.ndarray
    group: np.ndarray
    lists: Lattice


class Weights(NamedTuple):
    """table float64[2^bits + tags], transition float64[tags + 1, tags + 1] (or their exponentials), mask 2^bits - 1."""

    table: np.ndarray
    transition: np.ndarray
    mask: int


@kernel
def lattice(group, lists):
    """The lattice of a sentence from the lists of its words, int32[n]. O(C)."""
    first = np.zeros(len(group) + 1, np.int32)
    for i in range(len(group)):
        first[i + 1] = first[i] + lists.first[group[i] + 1] - lists.first[group[i]]
    tags = np.empty(first[-1], np.int32)
    for i in range(len(group)):
        tags[first[i] : first[i + 1]] = lists.tags[lists.first[group[i]] : lists.first[group[i] + 1]]
    return Lattice(first, tags)


@kernel
def emissions(context, choices, table, mask):
    """float64[C]: scores of the categories of every word without transitions. O(C T)."""
    out = np.zeros(len(choices.tags), np.float64)
    for i in range(len(context)):
        for t in range(context.shape[1]):
            base = finish(context[i, t] * M1) & mask
            for x in range(choices.first[i], choices.first[i + 1]):
                out[x] += table[base + choices.tags[x]]
    return out


@kernel
def forward_backward(emission, choices, potential, alpha, beta, local, scale):
    """Log partition function; afterwards alpha * beta is the marginal of every category. O(sum c_i c_i+1).

    potential  float64[tags + 1, tags + 1] exponentials of the transitions
    alpha, beta, local  float64[>= C]; local[x] = exp(emission - the word's largest)
    scale      float64[>= n]. alpha[y] potential[y, x] local[x] beta[x] / scale[i] is the marginal of a pair (i - 1, i)
    -inf where no sequence is possible: the arrays are then undefined.
    """
    first, tags = choices.first, choices.tags
    n, border = len(first) - 1, len(potential) - 1
    log_z = 0.0
    for i in range(n):
        a, b = first[i], first[i + 1]
        top = -np.inf
        for x in range(a, b):
            top = max(top, emission[x])
        if top == -np.inf:
            return -np.inf
        total = 0.0
        for x in range(a, b):
            s = 0.0
            if i == 0:
                s = potential[border, tags[x]]
            else:
                for y in range(first[i - 1], a):
                    s += alpha[y] * potential[tags[y], tags[x]]
            local[x] = np.exp(emission[x] - top)
            alpha[x] = s * local[x]
            total += alpha[x]
        if not total > 0.0:
            return -np.inf
        alpha[a:b] /= total
        scale[i] = total
        log_z += np.log(total) + top
    if n == 0:
        return 0.0
    total = 0.0
    for x in range(first[n - 1], first[n]):
        beta[x] = potential[tags[x], border]
        total += alpha[x] * beta[x]
    if not total > 0.0:
        return -np.inf
    beta[first[n - 1] : first[n]] /= total
    for i in range(n - 1, 0, -1):
        for y in range(first[i - 1], first[i]):
            s = 0.0
            for x in range(first[i], first[i + 1]):
                s += potential[tags[y], tags[x]] * local[x] * beta[x]
            beta[y] = s / scale[i]
    return log_z + np.log(total)


@kernel
def marginals(emission, choices, potential):
    """(log partition function, float64[C] probability of every category of every word); zeros where it is -inf."""
    c = len(choices.tags)
    alpha, beta, local = np.empty(c), np.empty(c), np.empty(c)
    log_z = forward_backward(emission, choices, potential, alpha, beta, local, np.empty(len(choices.first)))
    if log_z == -np.inf:
        return log_z, np.zeros(c)
    return log_z, alpha * beta


@kernel
def best_sequence(emission, choices, transition, out):
    """Score of the best sequence, whose numbers in choices.tags go to out int32[n]; ties to the first. O(sum c c')."""
    first, tags = choices.first, choices.tags
    n, border = len(first) - 1, len(transition) - 1
    if n == 0:
        return 0.0
    value = np.empty(len(tags), np.float64)
    back = np.zeros(len(tags), np.int32)
    for i in range(n):
        for x in range(first[i], first[i + 1]):
            if i == 0:
                value[x] = transition[border, tags[x]] + emission[x]
                continue
            top = -np.inf
            back[x] = first[i - 1]
            for y in range(first[i - 1], first[i]):
                score = value[y] + transition[tags[y], tags[x]]
                if score > top:
                    top = score
                    back[x] = y
            value[x] = top + emission[x]
    top, arg = -np.inf, first[n - 1]
    for x in range(first[n - 1], first[n]):
        score = value[x] + transition[tags[x], border]
        if score > top:
            top, arg = score, x
    for i in range(n - 1, -1, -1):
        out[i] = arg
        arg = back[arg]
    return top


@kernel
def count_gold(features, gold, weights):
    """Add the features of the sequences `gold` int32[W] to weights (table and transition as counts). O(W T)."""
    border = len(weights.transition) - 1
    for s in range(len(features.offsets) - 1):
        before = border
        for i in range(features.offsets[s], features.offsets[s + 1]):
            for t in range(features.context.shape[1]):
                weights.table[(finish(features.context[i, t] * M1) & weights.mask) + gold[i]] += 1.0
            weights.transition[before, gold[i]] += 1.0
            before = gold[i]
        if before != border:
            weights.transition[before, border] += 1.0


class Sums(NamedTuple):
    """What `forward_backward` leaves: float64[C], and scale float64[n]."""

    alpha: np.ndarray
    beta: np.ndarray
    local: np.ndarray
    scale: np.ndarray


@kernel
def add_expected(context, choices, potential, sums, counts):
    """Add the expected features of a sentence's sequences to `counts` (Weights). O(C T + sum c_i c_i+1)."""
    first, tags, border = choices.first, choices.tags, len(potential) - 1
    alpha, beta, n = sums.alpha, sums.beta, len(context)
    for i in range(n):
        for t in range(context.shape[1]):
            base = finish(context[i, t] * M1) & counts.mask
            for x in range(first[i], first[i + 1]):
                counts.table[base + tags[x]] += alpha[x] * beta[x]
        for x in range(first[i], first[i + 1]):
            if i == 0:
                counts.transition[border, tags[x]] += alpha[x] * beta[x]
                continue
            flow = sums.local[x] * beta[x] / sums.scale[i]
            for y in range(first[i - 1], first[i]):
                counts.transition[tags[y], tags[x]] += alpha[y] * potential[tags[y], tags[x]] * flow
    for x in range(first[n - 1], first[n]):
        counts.transition[tags[x], border] += alpha[x] * beta[x]


@kernel
def expect(features, weights, potential, counts):
    """Add the expected features of all sequences to `counts`; returns the sum of the log partition functions.

    weights, counts  Weights; potential: exponentials of weights.transition
    """
    total = 0.0
    for s in range(len(features.offsets) - 1):
        a, b = features.offsets[s], features.offsets[s + 1]
        if a == b:
            continue
        context = features.context[a:b]
        choices = lattice(features.group[a:b], features.lists)
        c = len(choices.tags)
        alpha, beta, local, scale = np.empty(c), np.empty(c), np.empty(c), np.empty(b - a)
        emission = emissions(context, choices, weights.table, weights.mask)
        total += forward_backward(emission, choices, potential, alpha, beta, local, scale)
        add_expected(context, choices, potential, Sums(alpha, beta, local, scale), counts)
    return total
