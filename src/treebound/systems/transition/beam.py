"""Beam search over transitions and the structured perceptron that learns for it (Zhang & Clark 2008).

The beam holds the sequences of transitions that score most; those that have ended stay in it until all have. Training
updates where the gold sequence falls out of the beam (early update, Collins & Roark 2004) or where the best sequence is
ahead of it by most (max-violation, Huang, Fayong & Guo 2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel
from treebound.systems.transition.configuration import ROWS, System, allowed, most_transitions, start, take, tree
from treebound.systems.transition.extraction import extract
from treebound.systems.transition.linear import add, add_up, find_rows

ENDED = -1  #: in place of a transition


class Beam(NamedTuple):
    """Memory of a search with B sequences, over sentences of up to n words. Step k goes from half k % 2 to the other.

    tables  int32[2, B, ROWS, n + 2] configurations, the best first
    score   float64[2, B]
    size    int64[2] sequences in each half
    origin  int32[steps, B] which sequence of the half before each one continues
    taken   int32[steps, B] by which transition, or ENDED
    """

    tables: np.ndarray
    score: np.ndarray
    size: np.ndarray
    origin: np.ndarray
    taken: np.ndarray


def make_beam(system: System, width: int, words: int) -> Beam:
    """Of a number of sequences, for sentences of up to so many words. Memory O(width * words)."""
    steps = most_transitions(system, words) + 1
    return Beam(
        np.zeros((2, width, ROWS, words + 2), np.int32),
        np.zeros((2, width)),
        np.zeros(2, np.int64),
        np.zeros((steps, width), np.int32),
        np.zeros((steps, width), np.int32),
    )


@kernel
def _begin(machine, beam, n):
    start(machine.system, beam.tables[0, 0], n, machine.root)
    beam.score[0, 0] = 0.0
    beam.size[0] = 1


@kernel
def _insert(beam, k, count, score, i, j):
    """Sequence i continued by j, into step k's sorted list of `count` ones if it is good enough; the new count.

    Of equal ones those come first that were there first.
    """
    new, width = (k + 1) % 2, beam.score.shape[1]
    if count == width and score <= beam.score[new, count - 1]:
        return count
    place = min(count, width - 1)
    while place > 0 and score > beam.score[new, place - 1]:
        beam.score[new, place] = beam.score[new, place - 1]
        beam.origin[k, place] = beam.origin[k, place - 1]
        beam.taken[k, place] = beam.taken[k, place - 1]
        place -= 1
    beam.score[new, place], beam.origin[k, place], beam.taken[k, place] = score, i, j
    return min(count + 1, width)


@kernel
def _advance(machine, linear, tokens, beam, k):
    """Step k of all sequences; whether one of them has not ended after it. O(B (T C + n))."""
    now, new, width = k % 2, (k + 1) % 2, tokens.shape[1] + 2
    classes = machine.classes
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(len(classes.label), np.float32)
    count = 0
    for i in range(beam.size[now]):
        c, score = beam.tables[now, i], beam.score[now, i]
        kinds = allowed(machine.system, c)
        if kinds == 0:
            count = _insert(beam, k, count, score, i, ENDED)
            continue
        extract(c, tokens, machine.cells, x)
        find_rows(linear, x, rows)
        add_up(linear.weights, rows, scores)
        for j in range(len(scores)):
            if kinds & (1 << classes.kind[j]):
                count = _insert(beam, k, count, score + scores[j], i, j)
    beam.size[new] = count
    going = False
    for i in range(count):
        c, j = beam.tables[new, i], beam.taken[k, i]
        c[:, :width] = beam.tables[now, beam.origin[k, i], :, :width]
        if j != ENDED:
            take(machine.system, c, classes.kind[j], classes.label[j])
            going |= allowed(machine.system, c) != 0
    return going


@kernel
def parse_with_beam(machine, linear, words, beam, heads, labels):
    """Write the trees of the best sequences to heads and labels, int32[W] each; float64[S], their scores."""
    total = np.zeros(len(words.offsets) - 1)
    for s in range(len(total)):
        a, b = words.offsets[s], words.offsets[s + 1]
        _begin(machine, beam, b - a)
        k, going = 0, b > a
        while going:
            going = _advance(machine, linear, words.tokens[:, a:b], beam, k)
            k += 1
        total[s] = beam.score[k % 2, 0]
        tree(beam.tables[k % 2, 0], heads[a:b], labels[a:b])
    return total


@kernel
def _sequence(beam, k, place):
    """The transitions of the sequence at a place of the beam after step k, those after its end left out."""
    out = np.empty(k + 1, np.int32)
    length = k + 1
    for step in range(k, -1, -1):
        out[step] = beam.taken[step, place]
        if out[step] == ENDED:
            length = step
        place = beam.origin[step, place]
    return out[:length]


@kernel
def _credit(machine, linear, sums, tokens, sequence, since, step):
    """Add amount to the weights of a sequence's transitions from number `since`. step: (amount, time)."""
    c = np.zeros((ROWS, tokens.shape[1] + 2), np.int32)
    start(machine.system, c, tokens.shape[1], machine.root)
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    for k in range(len(sequence)):
        j = sequence[k]
        if k >= since:
            extract(c, tokens, machine.cells, x)
            find_rows(linear, x, rows)
            add(linear.weights, sums, rows, j, step[0], step[1])
        take(machine.system, c, machine.classes.kind[j], machine.classes.label[j])


@kernel
def _violation(machine, linear, tokens, gold, beam, early):
    """The step after which to learn from the best sequence of the beam, -1 where that is the gold one."""
    n = tokens.shape[1]
    c = np.zeros((ROWS, n + 2), np.int32)
    start(machine.system, c, n, machine.root)
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(len(machine.classes.label), np.float32)
    _begin(machine, beam, n)
    k, place, going, gold_score = 0, 0, n > 0, 0.0
    worst, found = -np.inf, -1
    while going or k < len(gold):
        going = _advance(machine, linear, tokens, beam, k)
        right = gold[k] if k < len(gold) else ENDED
        if right != ENDED:
            extract(c, tokens, machine.cells, x)
            find_rows(linear, x, rows)
            add_up(linear.weights, rows, scores)
            gold_score += scores[right]
            take(machine.system, c, machine.classes.kind[right], machine.classes.label[right])
        new, before, place = (k + 1) % 2, place, -1
        for i in range(beam.size[new] if before >= 0 else 0):
            if beam.origin[k, i] == before and beam.taken[k, i] == right:
                place = i
        if early and place < 0:
            return k
        if place != 0 and beam.score[new, 0] - gold_score >= worst:
            worst, found = beam.score[new, 0] - gold_score, k
        k += 1
    if place == 0:
        return -1
    return k - 1 if early else found


@kernel
def beam_epoch(machine, linear, sums, words, gold, order, beam, rule):
    """One pass of the structured perceptron over the sentences in `order`; returns how many were updated.

    gold  (int32[N] transitions of all derivations, int64[S + 1] where each sentence's begin); those without are skipped
    sums  float64[len(weights)] of update * sentences seen before it
    rule  (early update: 1, or max-violation: 0; sentences seen before this pass)
    """
    sequences, starts = gold
    early, time = rule
    wrong = 0
    for s in order:
        a, b = words.offsets[s], words.offsets[s + 1]
        tokens, right = words.tokens[:, a:b], sequences[starts[s] : starts[s + 1]]
        time += 1
        if len(right) == 0:
            continue
        k = _violation(machine, linear, tokens, right, beam, early == 1)
        if k < 0:
            continue
        wrong += 1
        found, right = _sequence(beam, k, 0), right[: k + 1]
        since = 0
        while since < min(len(found), len(right)) and found[since] == right[since]:
            since += 1
        _credit(machine, linear, sums, tokens, right, since, (1.0, time - 1.0))
        _credit(machine, linear, sums, tokens, found, since, (-1.0, time - 1.0))
    return wrong
