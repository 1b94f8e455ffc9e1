"""Beam search over transition sequences, and the structured perceptron that trains for it (Zhang & Clark 2008).

The beam holds the transition sequences with the highest scores. A sequence that has ended stays in the beam until all
sequences have ended. Training has two update rules. Early update learns where the gold sequence falls out of the beam
(Collins & Roark 2004). Max-violation learns where the lead of the best sequence over the gold sequence is largest
(Huang, Fayong & Guo 2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel
from treebound.systems.transition.configuration import ROWS, System, allowed, most_transitions, start, take, tree
from treebound.systems.transition.extraction import extract
from treebound.systems.transition.linear import add, add_up, find_rows

ENDED = -1  #: takes the place of a transition in a sequence that has ended


class Beam(NamedTuple):
    """The memory of a search with B sequences, over sentences of up to n words.

    Step k reads half k % 2 of `tables`, `score` and `size`, and writes the other half.

    tables  int32[2, B, ROWS, n + 2] configurations, the best one first;
    score   float64[2, B] score of each sequence;
    size    int64[2] number of sequences in each half;
    origin  int32[steps, B] the sequence of the previous half that each sequence continues;
    taken   int32[steps, B] the transition by which it continues, or ENDED.
    """

    tables: np.ndarray
    score: np.ndarray
    size: np.ndarray
    origin: np.ndarray
    taken: np.ndarray


def make_beam(system: System, width: int, words: int) -> Beam:
    """Return a beam of `width` sequences for sentences of up to `words` words. Memory O(width * words)."""
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
    """Insert sequence i, extended by transition class j, into the sorted list of step k if it fits; return the length.

    A sequence does not fit if the list is full of sequences that score as much or more. `count` is the length of the
    list before the insertion, and `score` the score of the extended sequence. Among equal scores, earlier insertions
    come first.
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
    """Make step k of all sequences, and return whether some sequence has not ended after this step.

    O(B (T C + n)) for T features and C classes.
    """
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
    """Write the trees of the best sequences to heads and labels, int32[W] each. Return their scores, float64[S]."""
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
    """Return the transitions of the sequence with index `place` in the beam after step k, up to its end."""
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
    """Add an amount to the weights of all transitions of a sequence from index `since` on.

    `step` is (amount, time), where time is the number of sentences seen before.
    """
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
    """Return the step after which the weights are updated, or -1 if the gold sequence is the best one at the end.

    The update lowers the best sequence of the beam after this step. If `early` is set, it is the step at which the gold
    sequence falls out of the beam, or the last step if it never does. Otherwise it is the step at which the lead of the
    best sequence over the gold sequence is largest.
    """
    n = tokens.shape[1]
    c = np.zeros((ROWS, n + 2), np.int32)
    start(machine.system, c, n, machine.root)
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(len(machine.classes.label), np.float32)
    _begin(machine, beam, n)
    k, place, going, gold_score = 0, 0, n > 0, 0.0
    worst, worst_step = -np.inf, -1
    while going or k < len(gold):
        going = _advance(machine, linear, tokens, beam, k)
        gold_move = gold[k] if k < len(gold) else ENDED
        if gold_move != ENDED:
            extract(c, tokens, machine.cells, x)
            find_rows(linear, x, rows)
            add_up(linear.weights, rows, scores)
            gold_score += scores[gold_move]
            take(machine.system, c, machine.classes.kind[gold_move], machine.classes.label[gold_move])
        new, before, place = (k + 1) % 2, place, -1
        for i in range(beam.size[new] if before >= 0 else 0):
            if beam.origin[k, i] == before and beam.taken[k, i] == gold_move:
                place = i
        if early and place < 0:
            return k
        if place != 0 and beam.score[new, 0] - gold_score >= worst:
            worst, worst_step = beam.score[new, 0] - gold_score, k
        k += 1
    if place == 0:
        return -1
    return k - 1 if early else worst_step


@kernel
def beam_epoch(machine, linear, sums, words, gold, order, beam, rule):
    """Train for one epoch of the structured perceptron over the sentences in `order`, and return the number of updates.

    gold  (int32[N] transitions of all derivations, int64[S + 1] start of each sentence's transitions); a sentence
          without transitions is skipped
    sums  float64[len(weights)], the sum of all updates, each times the number of sentences before it
    rule  (1 for early update or 0 for max-violation, number of sentences seen before this epoch)
    """
    sequences, starts = gold
    early, time = rule
    wrong = 0
    for s in order:
        a, b = words.offsets[s], words.offsets[s + 1]
        tokens, gold_moves = words.tokens[:, a:b], sequences[starts[s] : starts[s + 1]]
        time += 1
        if len(gold_moves) == 0:
            continue
        k = _violation(machine, linear, tokens, gold_moves, beam, early == 1)
        if k < 0:
            continue
        wrong += 1
        best_moves, gold_moves = _sequence(beam, k, 0), gold_moves[: k + 1]
        since = 0
        while since < min(len(best_moves), len(gold_moves)) and best_moves[since] == gold_moves[since]:
            since += 1
        _credit(machine, linear, sums, tokens, gold_moves, since, (1.0, time - 1.0))
        _credit(machine, linear, sums, tokens, best_moves, since, (-1.0, time - 1.0))
    return wrong
