"""Linear chains over hashed features: exact second-order Viterbi search, and the perceptron's update.

A feature owns one weight per tag: the row weights[base : base + tags], where base is its hash reduced to the size of
the table. Rows of different features overlap. Most of their entries are zero, so the table is as good as one with a
hash of feature and tag, and a row occupies few consecutive cache lines.

A template of order 0 reads the words around position i and its tag. A template of order 1 also reads the tag of
i - 1, and a template of order 2 the tags of i - 2 and i - 1. The score of a tag sequence is the sum of its features'
weights at all positions. The tags before the first word have the number `tags`, which is no tag of a word.

All sums are exact, because weights are integers. Ties go to the candidate that is listed first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel

ORDERS = 3
PAD = 2  #: number of padding words before and after a sentence


class SequenceTemplates(NamedTuple):
    """The T compiled templates of a tagger, sorted by order, with K atoms in all.

    The order of a template is the number of previous tags that it reads.

    seed    int64[T], initial hash of each template;
    start   int32[T + 1]: template t has the atoms start[t] .. start[t + 1] - 1;
    offset  int32[K], position of each atom's word relative to the tagged word;
    attr    int32[K], row of the token table that each atom reads;
    first   int32[ORDERS + 1]: templates of order o are first[o] .. first[o + 1] - 1.
    """

    seed: np.ndarray
    start: np.ndarray
    offset: np.ndarray
    attr: np.ndarray
    first: np.ndarray


class Candidates(NamedTuple):
    """Lists of the tags that words may have. List g is tags[first[g] : first[g + 1]], in ascending order.

    first  int32[G + 1]
    tags   int32[first[G]]
    """

    first: np.ndarray
    tags: np.ndarray


class Words(NamedTuple):
    """The words of a training set, sentence by sentence.

    context  int64[W, T], the hashes that `contexts` returns;
    offsets  int64[S + 1]: sentence s has the words offsets[s] .. offsets[s + 1] - 1;
    group    int32[W], number of the candidate list of each word;
    gold     int32[W], gold tag of each word.
    """

    context: np.ndarray
    offsets: np.ndarray
    group: np.ndarray
    gold: np.ndarray


class Table(NamedTuple):
    """The weights of features, int32[mask + 1 + tags], where `mask` is 2 ** bits - 1.

    Each feature has `tags` adjacent weights.
    """

    weights: np.ndarray
    mask: int
    tags: int


@kernel
def contexts(templates, rows, n):
    """Return int64[n, T], the hash of the attributes that each template reads around each position. O(n K).

    rows int64[attributes, n + 2 * PAD]; word i (from 0) is column PAD + i.
    """
    out = np.empty((n, len(templates.seed)), np.int64)
    for i in range(n):
        for t in range(len(templates.seed)):
            x = templates.seed[t]
            for k in range(templates.start[t], templates.start[t + 1]):
                x = (x ^ rows[templates.attr[k], PAD + i + templates.offset[k]]) * M1
            out[i, t] = x
    return out


@kernel(inline="always")
def _base(context, history, mask):
    """Return the index of the first weight of a feature.

    context  hash of the attributes around the word
    history  result of `_history` for the tags before the word; 0 if the feature reads no tags
    """
    return finish((context ^ history) * M1) & mask


@kernel(inline="always")
def _history(before, last, tags):
    """Return a number, at least 1, for the two tags before a position. `before` is -1 if only the tag `last` counts."""
    return (before + 1) * (tags + 2) + last + 1


@kernel
def best_tags(templates, context, group, candidates, table, gold, cost, out):
    """Write the best tag sequence of a sentence to out int32[n], and return its score, an exact int64.

    context    int64[n, T], the hashes that `contexts` returns
    group      int32[n], at least 1 word: number of the candidate list of each word
    gold       int32[n], gold tags in training; empty outside training
    cost       number that training adds to the score of every tag except the gold tag

    Dynamic program over pairs of neighbouring tags. O(n c^2 (c + T2 c + T1)) for c candidates per word and To templates
    of order o; templates of order 0 take O(n T0 c). Oracle: enumeration (tests/test_tagging.py).
    """
    n = len(group)
    weights, mask, tags = table
    first, last = templates.first, candidates.first
    widest = 1
    for i in range(n):
        widest = max(widest, last[group[i] + 1] - last[group[i]])
    back = np.empty((n, widest, widest), np.int16)
    value = np.zeros((widest, widest), np.int64)  # score of the best sequence that ends in (tag before, tag)
    fresh = np.empty((widest, widest), np.int64)
    unary = np.empty(widest, np.int64)
    local = np.empty(widest, np.int64)
    pair = np.empty(widest, np.int64)
    boundary = np.full(1, tags, np.int32)
    before, previous = boundary, boundary  # candidates of positions i - 2 and i - 1
    for i in range(n):
        current = candidates.tags[last[group[i]] : last[group[i] + 1]]
        c = len(current)
        for b in range(c):
            unary[b] = cost if len(gold) and current[b] != gold[i] else 0
        for t in range(first[0], first[1]):
            base = _base(context[i, t], 0, mask)
            for b in range(c):
                unary[b] += weights[base + current[b]]
        for a in range(len(previous)):
            for b in range(c):
                local[b] = unary[b]
                fresh[a, b] = -(1 << 62)
            for t in range(first[1], first[2]):
                base = _base(context[i, t], _history(-1, previous[a], tags), mask)
                for b in range(c):
                    local[b] += weights[base + current[b]]
            for z in range(len(before)):
                pair[:c] = local[:c]
                for t in range(first[2], first[3]):
                    base = _base(context[i, t], _history(before[z], previous[a], tags), mask)
                    for b in range(c):
                        pair[b] += weights[base + current[b]]
                for b in range(c):
                    score = value[z, a] + pair[b]
                    if score > fresh[a, b]:
                        fresh[a, b] = score
                        back[i, a, b] = z
        value, fresh = fresh, value
        before, previous = previous, current
    if n == 0:
        return 0
    top_a, top_b = 0, 0
    for a in range(len(before)):
        for b in range(len(previous)):
            if value[a, b] > value[top_a, top_b]:
                top_a, top_b = a, b
    score = value[top_a, top_b]
    for i in range(n - 1, -1, -1):
        out[i] = candidates.tags[last[group[i]] + top_b]
        top_a, top_b = back[i, top_a, top_b], top_a
    return score


@kernel
def _update(templates, context, sequence, i, table, sums, sign, time):
    """Update the weights of the features of a tag sequence at position i: add `sign` to each.

    `sums`, which serves to compute averages, gets sign * time, where time is the number of examples so far.
    """
    weights, mask, tags = table
    last = sequence[i - 1] if i >= 1 else tags
    before = sequence[i - 2] if i >= 2 else tags
    for order in range(ORDERS):
        history = 0 if order == 0 else _history(-1 if order == 1 else before, last, tags)
        for t in range(templates.first[order], templates.first[order + 1]):
            slot = _base(context[i, t], history, mask) + sequence[i]
            weights[slot] += sign
            sums[slot] += sign * time


@kernel
def train_epoch(templates, words, order, candidates, table, sums, cost, time):
    """Train for one epoch of the structured perceptron (Collins 2002), and return the number of wrong tags.

    order    numbers of the sentences, in the order of training;
    sums     int64[len(weights)], the sum of all updates, each times the number of examples before it, so that the
             average of the weights is weights - sums / examples;
    time     number of examples seen before this epoch;
    cost     margin (see `best_tags`).
    """
    context, offsets, group, gold = words
    out = np.empty(len(gold), np.int32)
    wrong = 0
    for s in order:
        a, b = offsets[s], offsets[s + 1]
        predicted, target = out[a:b], gold[a:b]
        best_tags(templates, context[a:b], group[a:b], candidates, table, target, cost, predicted)
        for i in range(b - a):
            if predicted[i] != target[i]:
                wrong += 1
            # the features of a position read its tag and the two tags before it
            if (
                predicted[i] != target[i]
                or (i >= 1 and predicted[i - 1] != target[i - 1])
                or (i >= 2 and predicted[i - 2] != target[i - 2])
            ):
                _update(templates, context[a:b], target, i, table, sums, 1, time)
                _update(templates, context[a:b], predicted, i, table, sums, -1, time)
        time += 1
    return wrong


@kernel
def tag_sentences(templates, rows, starts, offsets, group, candidates, table):
    """Return int32[W], the best tags of all sentences.

    rows     the token tables of all sentences side by side; the table of sentence s begins at column starts[s] and
             has padding on both sides
    offsets  int64[S + 1]: sentence s has the words offsets[s] .. offsets[s + 1] - 1
    """
    out = np.empty(offsets[-1], np.int32)
    none = np.empty(0, np.int32)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        context = contexts(templates, rows[:, starts[s] :], b - a)
        best_tags(templates, context, group[a:b], candidates, table, none, 0, out[a:b])
    return out
