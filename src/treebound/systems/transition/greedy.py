"""Greedy parsing: take the best allowed transition, one after another, from left to right (Nivre 2003).

With a linear model, one kernel does everything from features to trees. Any other classifier parses many sentences in
parallel: each sentence takes its next transition, and the classifier gets the instances of all sentences at once.
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
    """A transition system with its compiled features, its transitions, and the label of unattached words."""

    system: System
    cells: Cells
    classes: Classes
    root: int


@kernel(inline="always")
def best_class(classes, kinds, scores):
    """Return (kind, class) of the highest score among the allowed kinds. Ties go to the class that is listed first."""
    best, best_kind = -1, -1
    for kind in range(5):
        if kinds & (1 << kind):
            for i in range(classes.first[kind], classes.first[kind + 1]):
                if best < 0 or scores[i] > scores[best]:
                    best, best_kind = i, kind
    return best_kind, best


@kernel
def parse_greedily(machine, linear, words, c, heads, labels):
    """Write the trees of all sentences to heads and labels, int32[W] each, and return the scores of the sentences.

    c is working memory: a configuration that is large enough for every sentence. The score float64[S] of a sentence is
    the sum of the scores of its transitions. O(W T C).
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
    """Train for one epoch with a dynamic oracle (Goldberg & Nivre 2013); return (wrong transitions, new time).

    Among the transitions of least cost, the one with the highest score is the target. After a wrong transition, the
    parser follows its own choice with probability `explore`, and the target otherwise. `time` is the number of
    instances seen before this epoch, and the new time is the number after it. The time also determines the random
    numbers. `sums` gets the sum of all updates, each times the number of instances before it. O(W (n + T C)).
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
            target, least = _cheapest(system, c, classes, heads, words.labels[a:b], cost, scores)
            if _price(system, c, heads, words.labels[a:b], cost, kind, classes.label[taken]) > least:
                wrong += 1
                add(linear.weights, sums, rows, target, 1, time)
                add(linear.weights, sums, rows, taken, -1, time)
                if (finish((time + 1) * M1) & 0xFFFF) >= explore * 0x10000:
                    taken = target
            take(system, c, classes.kind[taken], classes.label[taken])
            kinds = allowed(system, c)
            time += 1
    return wrong, time


@kernel
def _price(system, c, heads, labels, cost, kind, label):
    """Return the cost of a transition, including 1 for a wrong label on an arc to the gold head.

    heads, labels  the gold tree, int32[n + 1] and int32[n]
    cost           result of `costs` for configuration c: the cost of each kind of transition without its label
    """
    if kind >= LEFT_ARC and cost[kind] < FORBIDDEN:
        d = dependent_of(system, c, kind)
        h = at(c, system.left[0] if kind == LEFT_ARC else system.right[0])
        if heads[d] == h and labels[d - 1] != label:
            return cost[kind] + 1
    return cost[kind]


@kernel
def _cheapest(system, c, classes, heads, labels, cost, scores):
    """Return (class, cost) of the transition of least cost. Ties go to the highest score.

    For heads, labels and cost, see `_price`; `scores` holds the score of each class.
    """
    best, least = 0, 2 * FORBIDDEN
    for i in range(len(scores)):
        price = _price(system, c, heads, labels, cost, classes.kind[i], classes.label[i])
        if price < least or (price == least and scores[i] > scores[best]):
            best, least = i, price
    return best, least


# --- any classifier ---


class Scorer(Protocol):
    """The scores that a classifier must provide to a parser."""

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return [K, C], the score of each class for instances int32[K, m]. A higher score is better."""
        ...


def parse_in_parallel(
    machine: Machine, scorer: Scorer, words: Words, batch: int = 1000
) -> tuple[np.ndarray, np.ndarray]:
    """Return (heads, labels), int32[W] each, of all sentences. The classifier gets up to `batch` instances at a time.

    A scorer may have a method `best`, which returns int[K], the class of highest score, at a lower cost than `scores`.
    All scores are then computed only for the instances for which that class is not allowed.
    """
    heads, labels = np.empty(len(words.heads), np.int32), np.empty(len(words.heads), np.int32)
    lengths = np.diff(words.offsets)
    for low in range(0, len(lengths), batch):
        sentences = np.arange(low, min(low + batch, len(lengths)))
        configurations = np.zeros((len(sentences), ROWS, int(lengths[sentences].max()) + 2), np.int32)
        for c, s in zip(configurations, sentences, strict=True):
            start(machine.system, c, int(lengths[s]), machine.root)
        while True:
            active, X = _waiting(machine, words, configurations, low)
            if not len(active):
                break
            undecided = np.arange(len(active))
            if (best := getattr(scorer, "best", None)) is not None:
                undecided = _follow(machine, configurations, active, best(X).astype(np.int64))
            if len(undecided):
                _advance(
                    machine, configurations, active[undecided], np.asarray(scorer.scores(X[undecided]), np.float64)
                )
        for c, s in zip(configurations, sentences, strict=True):
            a, b = words.offsets[s], words.offsets[s + 1]
            tree(c, heads[a:b], labels[a:b])
    return heads, labels


@kernel
def _waiting(machine, words, configurations, low):
    """Find the configurations that are not terminal; return their indices and their instances.

    Configuration i belongs to sentence low + i.
    """
    active = np.empty(len(configurations), np.int64)
    X = np.empty((len(configurations), len(machine.cells.function)), np.int32)
    count = 0
    for i in range(len(configurations)):
        if allowed(machine.system, configurations[i]):
            a, b = words.offsets[low + i], words.offsets[low + i + 1]
            extract(configurations[i], words.tokens[:, a:b], machine.cells, X[count])
            active[count] = i
            count += 1
    return active[:count], X[:count]


@kernel
def _follow(machine, configurations, active, best):
    """Take transition best[k] in the k-th active configuration if it is allowed; return each k for which it is not."""
    undecided = np.empty(len(active), np.int64)
    count = 0
    for k in range(len(active)):
        c, i = configurations[active[k]], best[k]
        kind = machine.classes.kind[i]
        if allowed(machine.system, c) & (1 << kind):
            take(machine.system, c, kind, machine.classes.label[i])
        else:
            undecided[count] = k
            count += 1
    return undecided[:count]


@kernel
def _advance(machine, configurations, active, scores):
    """Take the best allowed transition in every active configuration."""
    for k in range(len(active)):
        c = configurations[active[k]]
        kind, i = best_class(machine.classes, allowed(machine.system, c), scores[k])
        take(machine.system, c, kind, machine.classes.label[i])
