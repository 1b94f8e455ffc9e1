"""Weight updates of online learners over hashed features, and the pruner's log-linear step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.scoring import arc_features, score_arcs
from treebound.kernels.features.templates import unpacked_arcs
from treebound.support.jit import kernel


@kernel
def merge(slots, signs, rates, count, scratch):
    """Merge equal slots of a feature difference, in place; scratch float32[table] is 0 and left so.

    Returns (distinct slots with a non-zero value, sum of rate * value^2). Values are left in `signs`, the rate of each
    slot where it stands first in `rates`. O(count).
    """
    for i in range(count):
        scratch[slots[i]] += signs[i]
    c = 0
    norm = 0.0
    for i in range(count):
        v = scratch[slots[i]]
        if v != 0.0:
            scratch[slots[i]] = 0.0
            slots[c] = slots[i]
            signs[c] = v
            rates[c] = rates[i]
            norm += rates[c] * v * v
            c += 1
    return c, norm


@kernel
def margin(weights, slots, signs, count):
    """Inner product of the weights and a merged feature difference."""
    total = 0.0
    for i in range(count):
        total += weights[slots[i]] * signs[i]
    return total


@kernel
def step(weights, sums, time, slots, signs, rates, count, size):
    """weights += size * rates * difference; sums += time * update: the average is weights - sums / total time."""
    for i in range(count):
        d = size * rates[i] * signs[i]
        weights[slots[i]] += np.float32(d)
        sums[slots[i]] += time * d


@kernel
def largest_mean(weights, sums, examples):
    """Largest absolute value of the averages, weights - sums / examples. O(table)."""
    largest = 0.0
    for i in range(len(weights)):
        largest = max(largest, abs(weights[i] - sums[i] / examples))
    return largest


@kernel
def round_means(weights, sums, examples, unit):
    """int32[table]: the integers nearest to unit times the averages. O(table)."""
    rounded = np.empty(len(weights), np.int32)
    for i in range(len(weights)):
        rounded[i] = np.int32(np.rint(unit * (weights[i] - sums[i] / examples)))
    return rounded


class AdaGrad(NamedTuple):
    """weights float32[table], squares float32[table] sums of squared gradients, learning rate."""

    weights: np.ndarray
    squares: np.ndarray
    rate: float


@kernel
def pruner_step(arc_templates, tokens, tag, gold, learner, out):
    """One AdaGrad step on the log-likelihood of each word's gold head among all heads; returns the loss.

    gold  int32[n + 1] heads
    out   Output for the features of one arc, of sign 1
    """
    weights, squares, rate = learner
    n = len(gold) - 1
    head, mod = all_arcs(n)
    scores = score_arcs(arc_templates, tokens, tag, head, mod, weights, out.place.mask)
    A = len(head)
    top = np.full(n + 1, -1e300)
    for a in range(A):
        top[mod[a]] = max(top[mod[a]], scores[a])
    total = np.zeros(n + 1)
    for a in range(A):
        total[mod[a]] += np.exp(scores[a] - top[mod[a]])
    loss = 0.0
    one, first = np.empty(1, np.int32), np.int64(0)
    for a in range(A):
        p = np.exp(scores[a] - top[mod[a]]) / total[mod[a]]
        g = -p
        if gold[mod[a]] == head[a]:
            g += 1.0
            loss -= np.log(max(p, 1e-12))
        if abs(g) < 0.01:
            continue
        one[0] = a
        c = arc_features(arc_templates, tokens, tag, one, head, mod, out, first)
        for i in range(c):
            s = out.slots[i]
            squares[s] += g * g
            weights[s] += np.float32(rate * g / np.sqrt(squares[s] + 1e-8))
    return loss


@kernel
def all_arcs(n):
    """(head, mod) int32 of all arcs in canonical order."""
    A = n * n
    head = np.empty(A, np.int32)
    mod = np.empty(A, np.int32)
    a = 0
    for h in range(n + 1):
        for m in range(h - 1, 0, -1):
            head[a], mod[a] = h, m
            a += 1
        for m in range(h + 1, n + 1):
            head[a], mod[a] = h, m
            a += 1
    return head, mod


@kernel
def best_heads(templates, tokens, tag, weights, mask, k, within):
    """bool[n + 1, n + 1] (head first): the k best heads of every word, ties to the lower head; of these, the ones that
    score at most `within` less than the best one. O(n^2 (T + k)).

    templates  those of arcs, packed
    """
    n = len(tag) - 1
    head, mod = all_arcs(n)
    scores = score_arcs(unpacked_arcs(templates)[0], tokens, tag, head, mod, weights, mask)
    table = np.full((n + 1, n + 1), -np.inf)
    for a in range(len(head)):
        table[mod[a], head[a]] = scores[a]
    allowed = np.zeros((n + 1, n + 1), np.bool_)
    for m in range(1, n + 1):
        left = table[m]
        least = left[np.argmax(left)] - within
        for _ in range(k):
            best = np.argmax(left)
            if left[best] < least:
                break
            allowed[best, m] = True
            left[best] = -np.inf
    return allowed
