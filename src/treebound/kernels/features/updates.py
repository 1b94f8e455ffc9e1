"""Weight updates of online learners over hashed features, and the log-linear training step of the pruner."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.features.memory import prefetch
from treebound.kernels.features.scoring import AHEAD, arc_features, score_arcs, score_pairs, word_lines
from treebound.kernels.features.templates import unpacked_arcs
from treebound.support.jit import kernel

BLOCK = 1 << 18  #: number of arcs that the pruner scores at a time, which is enough for a sentence of 512 words


@kernel
def merge(slots, signs, rates, count, scratch, weights, sums):
    """Merge equal slots of the difference of two feature lists, in place, and add up their signs. O(count).

    The difference is `slots` and `signs` (1 or -1 times a count). `scratch` float32[table] is 0 before and after the
    call, where the table holds all weights. Return (number of distinct slots with a non-zero value, sum of rate *
    value^2, inner product of weights and values). The values are written to `signs`, and the rate of each slot to
    `rates`. The cache lines of `sums`, which an update needs next, are prefetched.
    """
    for i in range(count):
        prefetch(scratch, slots[min(i + AHEAD, count - 1)])
        scratch[slots[i]] += signs[i]
    c = 0
    norm, margin = 0.0, 0.0
    for i in range(count):
        v = scratch[slots[i]]
        if v != 0.0:
            scratch[slots[i]] = 0.0
            slots[c] = slots[i]
            signs[c] = v
            rates[c] = rates[i]
            norm += rates[c] * v * v
            prefetch(weights, slots[c])
            prefetch(sums, slots[c])
            c += 1
    for i in range(c):
        margin += weights[slots[i]] * signs[i]
    return c, norm, margin


@kernel
def step(weights, sums, settled, slots, signs, rates, count, size):
    """Add update = size * rates * signs to the weights of the slots, and settled * update to the sums.

    `settled` is the share of the average that was settled before this update: for a mean over examples, the number of
    earlier examples. The average of the weights is weights - sums / total, where `total` is the final value of
    `settled`.
    """
    for i in range(count):
        d = size * rates[i] * signs[i]
        weights[slots[i]] += np.float32(d)
        sums[slots[i]] += settled * d


@kernel
def largest_mean(weights, sums, total):
    """Return the largest absolute value of the averages weights - sums / total. O(number of weights)."""
    largest = 0.0
    for i in range(len(weights)):
        largest = max(largest, abs(weights[i] - sums[i] / total))
    return largest


@kernel
def round_means(weights, sums, total, unit):
    """Return int32[table]: the integers nearest to `unit` times the averages weights - sums / total."""
    rounded = np.empty(len(weights), np.int32)
    for i in range(len(weights)):
        rounded[i] = np.int32(np.rint(unit * (weights[i] - sums[i] / total)))
    return rounded


class AdaGrad(NamedTuple):
    """The state of AdaGrad: float32 weights, their float32 sums of squared gradients, and the learning rate."""

    weights: np.ndarray
    squares: np.ndarray
    rate: float


@kernel
def pruner_step(arc_templates, tokens, tag, gold, learner, out):
    """Make an AdaGrad step on the log-likelihood of each word's gold head among all heads; return the loss.

    - `gold`: int32[n + 1] heads.
    - `out`: an Output for the features of one arc, with sign 1.

    A long sentence takes several steps, one for each block of its words. Memory is limited to BLOCK arcs.
    """
    n = len(gold) - 1
    loss = 0.0
    size = max(1, BLOCK // n)
    for first in range(1, n + 1, size):
        loss += _step_of_words(arc_templates, tokens, tag, gold, first, min(first + size, n + 1), learner, out)
    return loss


@kernel
def _step_of_words(arc_templates, tokens, tag, gold, low, end, learner, out):
    """Make the AdaGrad step on the words low .. end - 1; return the loss."""
    weights, squares, rate = learner
    n = len(gold) - 1
    head, mod = arcs_into(low, end, n)
    scores = score_arcs(arc_templates, tokens, tag, head, mod, weights, out.place.mask)
    A = len(head)
    top = np.full(n + 1, -1e300)
    for a in range(A):
        top[mod[a]] = max(top[mod[a]], scores[a])
    total = np.zeros(n + 1)
    for a in range(A):
        total[mod[a]] += np.exp(scores[a] - top[mod[a]])
    loss = 0.0
    single, first = np.empty(1, np.int32), np.int64(0)
    for a in range(A):
        p = np.exp(scores[a] - top[mod[a]]) / total[mod[a]]
        g = -p
        if gold[mod[a]] == head[a]:
            g += 1.0
            loss -= np.log(max(p, 1e-12))
        if abs(g) < 0.01:
            continue
        single[0] = a
        c = arc_features(arc_templates, tokens, tag, single, head, mod, out, first)
        for i in range(c):
            s = out.slots[i]
            squares[s] += g * g
            weights[s] += np.float32(rate * g / np.sqrt(squares[s] + 1e-8))
    return loss


@kernel
def arcs_into(low, end, n):
    """Return (head, mod) int32 of all arcs into the words low .. end - 1, in canonical order."""
    A = n * (end - low)
    head = np.empty(A, np.int32)
    mod = np.empty(A, np.int32)
    a = 0
    for h in range(n + 1):
        for m in range(min(h, end) - 1, low - 1, -1):
            head[a], mod[a] = h, m
            a += 1
        for m in range(max(h + 1, low), end):
            head[a], mod[a] = h, m
            a += 1
    return head, mod


@kernel
def all_arcs(n):
    """Return (head, mod) int32 of all arcs in canonical order."""
    return arcs_into(1, n + 1, n)


@kernel
def best_heads(templates, tokens, tag, weights, mask, k, within):
    """Return bool[n + 1, n + 1] (head first): the candidate heads of every word. O(n^2 (T + k)).

    The candidates are the k best heads, except heads whose score is more than `within` below the best one. Ties go to
    the lower head. The scores of about BLOCK arcs are in memory at a time.

    `templates` are the packed templates of arcs, without templates for the words in between.
    """
    n = len(tag) - 1
    of_arcs = unpacked_arcs(templates)[0]
    words = word_lines(of_arcs, tokens, n, weights, mask)
    allowed = np.zeros((n + 1, n + 1), np.bool_)
    size = max(1, BLOCK // n)
    for low in range(1, n + 1, size):
        end = min(low + size, n + 1)
        head, mod = arcs_into(low, end, n)
        scores = score_pairs(of_arcs[2], words, tokens, head, mod, weights, mask)[0]
        table = np.full((end - low, n + 1), -np.inf)
        for a in range(len(head)):
            table[mod[a] - low, head[a]] = scores[a]
        for m in range(low, end):
            remaining = table[m - low]
            threshold = -np.inf
            for i in range(k):
                best = 0  # numpy's argmax is not used, because compiled code that calls it imports scipy
                for h in range(1, n + 1):
                    if remaining[h] > remaining[best]:
                        best = h
                if i == 0:
                    threshold = remaining[best] - within
                if remaining[best] < threshold:
                    break
                allowed[best, m] = True
                remaining[best] = -np.inf
    return allowed
