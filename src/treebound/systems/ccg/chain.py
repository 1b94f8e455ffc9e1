"""Log-linear chains over lexical categories: emissions, forward-backward, Viterbi, gradient.

A sequence of categories t_1 .. t_n of a sentence has the probability `exp(sum of e_i(t_i) + sum of g(t_i-1, t_i)) / Z`,
including the transitions into the first word and out of the last word (Clark & Curran 2004). The emissions e_i are sums
over hashed features of the words around i. Each feature has a row of weights, one weight for each category. The
transitions g are a separate table, whose last row and column are the border of the sentence.

Forward and backward sums are scaled at every word, so that the exponentials of transitions are computed once for all
sentences. Forbidden categories score -inf. The emissions are an argument: belief propagation and dual decomposition add
their messages to them. Oracle: enumeration (tests/test_ccg_supertagging.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel


class Lattice(NamedTuple):
    """The categories that the words of a sentence may have; tags[first[i] : first[i + 1]] are the categories of word i.

    first  int32[n + 1], for each word the index of its first category in `tags`, and C at the end
    tags   int32[C], the categories of all words, ascending within each word
    """

    first: np.ndarray
    tags: np.ndarray


class Features(NamedTuple):
    """The words of some sentences, with template hashes and allowed categories.

    context  int64[W, T], hash of the attributes that each template reads around every word;
    offsets  int64[S + 1]: sentence s has the words offsets[s] .. offsets[s + 1] - 1;
    group    int32[W], number of the list of categories that a word may have;
    lists    all these lists as a Lattice, in which list numbers take the place of words
    """

    context: np.ndarray
    offsets: np.ndarray
    group: np.ndarray
    lists: Lattice


class Weights(NamedTuple):
    """Weights of a chain, or counts of its features.

    table       float64[2^bits + tags], the weights of hashed features
    transition  float64[tags + 1, tags + 1], the weights of transitions
    mask        2^bits - 1
    """

    table: np.ndarray
    transition: np.ndarray
    mask: int


@kernel
def lattice(group, lists):
    """Return the lattice of a sentence, in which word i has the categories of list number group[i].

    group  int32[n], for each word the number of its list of categories
    lists  all lists of categories, as a Lattice with lists in the place of words

    O(C) for C categories of all words together.
    """
    first = np.zeros(len(group) + 1, np.int32)
    for i in range(len(group)):
        first[i + 1] = first[i] + lists.first[group[i] + 1] - lists.first[group[i]]
    tags = np.empty(first[-1], np.int32)
    for i in range(len(group)):
        tags[first[i] : first[i + 1]] = lists.tags[lists.first[group[i]] : lists.first[group[i] + 1]]
    return Lattice(first, tags)


@kernel
def emissions(context, choices, table, mask):
    """Return float64[C], the emission scores of all C categories in the lattice `choices`. O(C T) for T templates.

    context      int64[n, T], hash of the attributes that each template reads around every word
    table, mask  fields of the Weights
    """
    out = np.zeros(len(choices.tags), np.float64)
    for i in range(len(context)):
        for t in range(context.shape[1]):
            base = finish(context[i, t] * M1) & mask
            for x in range(choices.first[i], choices.first[i + 1]):
                out[x] += table[base + choices.tags[x]]
    return out


@kernel
def forward_backward(emission, choices, potential, alpha, beta, local, scale):
    """Return the log partition function, and fill four arrays so that alpha * beta holds the marginals.

    emission            float64[C], scores of the categories in the lattice `choices`
    potential           float64[tags + 1, tags + 1] exponentials of the transitions
    alpha, beta, local  float64[>= C]; local[x] = exp(emission - the word's largest)
    scale               float64[>= n]. The marginal of a pair (i - 1, i) is
                        alpha[y] potential[y, x] local[x] beta[x] / scale[i]

    Return -inf if no sequence is possible; the arrays are then undefined. O(sum c_i c_i+1), where word i has c_i
    categories.
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
    """Return the log partition function and the probabilities float64[C] of the categories in the lattice `choices`.

    potential holds the exponentials of the transitions. If no sequence is possible, return -inf and zeros.
    """
    c = len(choices.tags)
    alpha, beta, local = np.empty(c), np.empty(c), np.empty(c)
    log_z = forward_backward(emission, choices, potential, alpha, beta, local, np.empty(len(choices.first)))
    if log_z == -np.inf:
        return log_z, np.zeros(c)
    return log_z, alpha * beta


@kernel
def best_sequence(emission, choices, transition, out):
    """Write the best sequence to out int32[n], as indices into choices.tags, and return its score.

    Ties go to the first category. O(sum c_i c_i+1) for c_i categories of word i.
    """
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
    """Add the features of the gold categories `gold` int32[W] of all words to `weights`, whose arrays hold counts.

    O(W T) for W words and T templates.
    """
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
    """The arrays that `forward_backward` fills: `scale` is float64[n], and the others are float64[C]."""

    alpha: np.ndarray
    beta: np.ndarray
    local: np.ndarray
    scale: np.ndarray


@kernel
def add_expected(context, choices, potential, sums, counts):
    """Add the expected features of one sentence to `counts` (Weights).

    context    int64[n, T], hash of the attributes that each template reads around every word
    choices    Lattice of the sentence, with C categories, c_i of them for word i
    potential  exponentials of the transitions
    sums       the arrays that `forward_backward` filled for the sentence

    O(C T + sum c_i c_i+1).
    """
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
    """Add the expected features of all sentences to `counts` and return the sum of the log partition functions.

    weights, counts  Weights
    potential        exponentials of weights.transition
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
