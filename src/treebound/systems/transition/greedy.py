"""Greedy parsing: the best transition that is allowed, one after the other, left to right (Nivre 2003).

With a linear model everything is one kernel, from features to trees. Any other classifier parses many sentences in
step: each takes its next transition, and the classifier sees the instances of all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel
from treebound.systems.transition.configuration import LEFT_ARC, ROWS, System, allowed, at, start, take, tree
from treebound.systems.transition.encoding import Classes
from treebound.systems.transition.extraction import Cells, Words, extract
from treebound.systems.transition.linear import add, add_up, find_rows
from treebound.systems.transition.oracles import FORBIDDEN, costs, dependent_of


class Machine(NamedTuple):
    """A transition system, what is seen of its configurations, its transitions, and the label of unattached words."""

    system: System
    cells: Cells
    classes: Classes
    root: int


@kernel(inline="always")
def best_class(classes, kinds, scores):
    """(kind, class) of the highest score among the kinds that are allowed; ties go to the class listed first."""
    best, best_kind = -1, -1
    for kind in range(5):
        if kinds & (1 << kind):
            for i in range(classes.first[kind], classes.first[kind + 1]):
                if best < 0 or scores[i] > scores[best]:
                    best, best_kind = i, kind
    return best_kind, best


@kernel
def parse_greedily(machine, linear, words, c, heads, labels):
    """Write the trees of all sentences to heads and labels, int32[W] each; c is long enough for all. O(W T C).

    Returns float64[S]: the sum of the scores of every sentence's transitions.
    """
    total = np.zeros(len(words.offsets) - 1)
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(len(machine.classes.label), np.float32)
    for s in range(len(words.offsets) - 1):
        a, b = words.offsets[s], words.offsets[s + 1]
        tokens = words.tokens[:, a:b]
        start(machine.system, c, b - a, machine.root)
        kinds = allowed(machine.system, c)
        while kinds:
            extract(c, tokens, machine.cells, x)
            find_rows(linear, x, rows)
            add_up(linear.weights, rows, scores)
            kind, i = best_class(machine.classes, kinds, scores)
            total[s] += scores[i]
            take(machine.system, c, kind, machine.classes.label[i])
            kinds = allowed(machine.system, c)
        tree(c, heads[a:b], labels[a:b])
    return total


@kernel
def explore_epoch(machine, linear, sums, words, order, c, explore, time):
    """One pass of training with a dynamic oracle (Goldberg & Nivre 2013); returns (wrong transitions, instances seen).

    The best transition that costs least is right. With the chance `explore` the parser goes on with its own choice,
    right or wrong. `time` as of `perceptron_epoch`; it also decides the random numbers. O(W (n + T C)).
    """
    system, classes = machine.system, machine.classes
    x = np.empty(len(machine.cells.function), np.int32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(len(classes.label), np.float32)
    cost = np.empty(5, np.int32)
    heads = np.full(c.shape[1], -1, np.int32)
    wrong = 0
    for s in order:
        a, b = words.offsets[s], words.offsets[s + 1]
        heads[1 : b - a + 1] = words.heads[a:b]
        start(system, c, b - a, machine.root)
        kinds = allowed(system, c)
        while kinds:
            extract(c, words.tokens[:, a:b], machine.cells, x)
            find_rows(linear, x, rows)
            add_up(linear.weights, rows, scores)
            kind, taken = best_class(classes, kinds, scores)
            costs(system, c, heads[: b - a + 1], cost)
            right, least = _cheapest(system, c, classes, heads, words.labels[a:b], cost, scores)
            if _price(system, c, heads, words.labels[a:b], cost, kind, classes.label[taken]) > least:
                wrong += 1
                add(linear.weights, sums, rows, right, 1, time)
                add(linear.weights, sums, rows, taken, -1, time)
                if (finish((time + 1) * M1) & 0xFFFF) >= explore * 0x10000:
                    taken = right
            take(system, c, classes.kind[taken], classes.label[taken])
            kinds = allowed(system, c)
            time += 1
    return wrong, time


@kernel
def _price(system, c, heads, labels, cost, kind, label):
    """Cost of a transition, a wrong label on an arc to the right head included."""
    if kind >= LEFT_ARC and cost[kind] < FORBIDDEN:
        d = dependent_of(system, c, kind)
        h = at(c, system.left[0] if kind == LEFT_ARC else system.right[0])
        if heads[d] == h and labels[d - 1] != label:
            return cost[kind] + 1
    return cost[kind]


@kernel
def _cheapest(system, c, classes, heads, labels, cost, scores):
    """(class, cost) of the transition that costs least; of several, of the one that scores most."""
    best, least = 0, 2 * FORBIDDEN
    for i in range(len(scores)):
        price = _price(system, c, heads, labels, cost, classes.kind[i], classes.label[i])
        if price < least or (price == least and scores[i] > scores[best]):
            best, least = i, price
    return best, least


# --- any classifier ---


class Scorer(Protocol):
    """What a classifier offers to a parser."""

    def scores(self, X: np.ndarray) -> np.ndarray:
        """[K, C] for instances int32[K, m]: the higher the better."""
        ...


def parse_in_step(machine: Machine, scorer: Scorer, words: Words, batch: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """(heads, labels) int32[W] each; the classifier sees up to `batch` instances at a time.

    One that has a method `best`, which gives int[K] the classes of highest score at less cost, is asked for all scores
    only of the instances where that class is not allowed.
    """
    heads, labels = np.empty(len(words.heads), np.int32), np.empty(len(words.heads), np.int32)
    lengths = np.diff(words.offsets)
    for low in range(0, len(lengths), batch):
        sentences = np.arange(low, min(low + batch, len(lengths)))
        several = np.zeros((len(sentences), ROWS, int(lengths[sentences].max()) + 2), np.int32)
        for c, s in zip(several, sentences, strict=True):
            start(machine.system, c, int(lengths[s]), machine.root)
        while True:
            active, X = _waiting(machine, words, several, low)
            if not len(active):
                break
            left = np.arange(len(active))
            if (best := getattr(scorer, "best", None)) is not None:
                left = _follow(machine, several, active, best(X).astype(np.int64))
            if len(left):
                _advance(machine, several, active[left], np.asarray(scorer.scores(X[left]), np.float64))
        for c, s in zip(several, sentences, strict=True):
            a, b = words.offsets[s], words.offsets[s + 1]
            tree(c, heads[a:b], labels[a:b])
    return heads, labels


@kernel
def _waiting(machine, words, several, low):
    """(numbers of configurations that are not terminal, their instances)."""
    active = np.empty(len(several), np.int64)
    X = np.empty((len(several), len(machine.cells.function)), np.int32)
    count = 0
    for i in range(len(several)):
        if allowed(machine.system, several[i]):
            a, b = words.offsets[low + i], words.offsets[low + i + 1]
            extract(several[i], words.tokens[:, a:b], machine.cells, X[count])
            active[count] = i
            count += 1
    return active[:count], X[:count]


@kernel
def _follow(machine, several, active, best):
    """Take the given class in every active configuration that allows it; the numbers of the others, int64."""
    left = np.empty(len(active), np.int64)
    count = 0
    for k in range(len(active)):
        c, i = several[active[k]], best[k]
        kind = machine.classes.kind[i]
        if allowed(machine.system, c) & (1 << kind):
            take(machine.system, c, kind, machine.classes.label[i])
        else:
            left[count] = k
            count += 1
    return left[:count]


@kernel
def _advance(machine, several, active, scores):
    """Take the best transition of every active configuration."""
    for k in range(len(active)):
        c = several[active[k]]
        kind, i = best_class(machine.classes, allowed(machine.system, c), scores[k])
        take(machine.system, c, kind, machine.classes.label[i])
