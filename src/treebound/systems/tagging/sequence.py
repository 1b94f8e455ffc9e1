"""Linear chains over hashed features: exact Viterbi search of second order and the perceptron's update.

A feature owns one weight per tag: the row weights[base : base + tags], where base is its hash cut to the size of the
table. Rows of different features overlap; most of their entries are zero, so that the table is as good as one hashed
by feature and tag, and a row is a few consecutive cache lines.

A template of order 0 speaks about the words around position i and its tag, one of order 1 also about the tag of i - 1,
one of order 2 about those of i - 2 and i - 1. A tag sequence scores the sum of its features' weights at all positions.
The tags before the first word are the number of tags (`tags`), which no word has.

All sums are of integers and exact. Ties go to the candidate that is listed first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel

ORDERS = 3
PAD = 2  #: rows of padding before and after the words of a sentence


class SequenceTemplates(NamedTuple):
    """Compiled templates, sorted by order.

    seed    int64[T] start of each template's hash
    start   int32[T + 1] template t has atoms start[t] .. start[t + 1] - 1
    offset  int32[K] position of the word relative to the one that is tagged
    attr    int32[K] row of the token table
    first   int32[ORDERS + 1] templates of order o are first[o] .. first[o + 1] - 1
    """

    seed: np.ndarray
    start: np.ndarray
    offset: np.ndarray
    attr: np.ndarray
    first: np.ndarray


class Candidates(NamedTuple):
    """Lists of the tags that words may have; list g is tags[first[g] : first[g + 1]], ascending.

    first  int32[G + 1]
    tags   int32[first[G]]
    """

    first: np.ndarray
    tags: np.ndarray


class Words(NamedTuple):
    """The words of a training set, sentence after sentence.

    context  int64[W, T] of `contexts`
    offsets  int64[S + 1] sentence s has the words offsets[s] .. offsets[s + 1] - 1
    group    int32[W] the list of candidates of each
    gold     int32[W] its tag
    """

    context: np.ndarray
    offsets: np.ndarray
    group: np.ndarray
    gold: np.ndarray


class Table(NamedTuple):
    """int32[mask + 1 + tags]: weights of features, `tags` neighbours for each; mask: 2 ** bits - 1."""

    weights: np.ndarray
    mask: int
    tags: int


@kernel
def contexts(templates, rows, n):
    """int64[n, T]: what every template sees of the words around every position, hashed. O(n K).

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
    """First weight of the feature that joins a context with a number for the tags before (0: none)."""
    return finish((context ^ history) * M1) & mask


@kernel(inline="always")
def _history(before, last, tags):
    """A number from 1 for the two tags before a position; `before` is -1 where only the last one counts."""
    return (before + 1) * (tags + 2) + last + 1


@kernel
def best_tags(templates, context, group, candidates, table, gold, cost, out):
    """Write the best tag sequence of a sentence to out int32[n]; returns its score, an exact int64.

    context    int64[n, T] of `contexts`
    group      int32[n] the list of candidates of each word; its length is at least 1
    gold, cost int32[n]: every other tag than gold's scores `cost` more (training); empty: none does

    Dynamic program over pairs of neighbouring tags: O(n c^2 (c + T2 c + T1)) for c candidates a word and To templates
    of order o; templates of order 0 take O(n T0 c). Oracle: enumeration (tests/test_tagging.py).
    """
    n = len(group)
    weights, mask, tags = table
    first, last = templates.first, candidates.first
    widest = 1
    for i in range(n):
        widest = max(widest, last[group[i] + 1] - last[group[i]])
    back = np.empty((n, widest, widest), np.int16)
    value = np.zeros((widest, widest), np.int64)  # of the best sequence that ends in (tag before, tag)
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
    """Add `sign` to the weights of position i's features, and sign * time to their sums."""
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
    """One pass of the structured perceptron (Collins 2002) over the sentences in `order`; returns the wrong tags.

    sums     int64[len(weights)] of update * examples seen before it, so that the average is weights - sums / examples
    time     examples seen before this epoch
    cost     margin: see `best_tags`
    """
    context, offsets, group, gold = words
    out = np.empty(len(gold), np.int32)
    wrong = 0
    for s in order:
        a, b = offsets[s], offsets[s + 1]
        found, right = out[a:b], gold[a:b]
        best_tags(templates, context[a:b], group[a:b], candidates, table, right, cost, found)
        for i in range(b - a):
            if found[i] != right[i]:
                wrong += 1
            # the features of a position speak about its tag and the two before
            if (
                found[i] != right[i]
                or (i >= 1 and found[i - 1] != right[i - 1])
                or (i >= 2 and found[i - 2] != right[i - 2])
            ):
                _update(templates, context[a:b], right, i, table, sums, 1, time)
                _update(templates, context[a:b], found, i, table, sums, -1, time)
        time += 1
    return wrong


@kernel
def tag_sentences(templates, rows, starts, offsets, group, candidates, table):
    """int32[W]: the best tags of all sentences; sentence s has the columns starts[s] .. of `rows`, padding included."""
    out = np.empty(offsets[-1], np.int32)
    none = np.empty(0, np.int32)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        context = contexts(templates, rows[:, starts[s] :], b - a)
        best_tags(templates, context, group[a:b], candidates, table, none, 0, out[a:b])
    return out
