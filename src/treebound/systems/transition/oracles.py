"""Oracles: functions that give the transitions that lead to the gold tree.

A static oracle gives one derivation of the tree. A dynamic oracle gives the cost of every transition in any
configuration: the number of words whose gold head the transition makes unreachable (Goldberg & Nivre 2012, 2013). It is
exact if arcs that are reachable one by one are also reachable together. This holds for arc-eager and arc-hybrid with
projective trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.support.jit import kernel
from treebound.systems.transition.configuration import (
    BUFFER,
    HEAD,
    LABEL,
    LEFT_ARC,
    LEFTS,
    REDUCE,
    RIGHT_ARC,
    RIGHTS,
    S1,
    SHIFT,
    SIZES,
    STACK,
    SWAP,
    T0,
    System,
    ahead,
    allowed,
    at,
    most_transitions,
    stacked,
    start,
    take,
)

#: cost of a transition that is not allowed
FORBIDDEN = 1 << 20


class Gold(NamedTuple):
    """A gold tree with the data that oracles read, int32[n + 1] each.

    heads     head of every word; heads[0] = -1;
    labels    label of every word;
    modifiers number of modifiers of every word;
    first     leftmost modifier of every word, or n + 1 if the word has no modifiers;
    rank      position of every word in the projective order: left modifiers, the word, right modifiers (Nivre 2009).
    """

    heads: np.ndarray
    labels: np.ndarray
    modifiers: np.ndarray
    first: np.ndarray
    rank: np.ndarray


@kernel
def understand(heads, labels):
    """Return the `Gold` of a tree, given int32[n] heads (0 is the root) and labels of its words. O(n)."""
    n = len(heads)
    head, label = np.full(n + 1, NO_HEAD, np.int32), np.full(n + 1, NO_HEAD, np.int32)
    head[1:], label[1:] = heads, labels
    modifiers, rank = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    first, sibling = np.full(n + 1, n + 1, np.int32), np.full(n + 1, n + 1, np.int32)
    for m in range(n, 0, -1):
        modifiers[head[m]] += 1
        sibling[m], first[head[m]] = first[head[m]], m
    following = first.copy()
    done = np.zeros(n + 1, np.bool_)
    word, place = 0, 0
    while True:
        m = following[word]
        if m > word and not done[word]:
            done[word], rank[word] = True, place
            place += 1
        elif m <= n:
            following[word] = sibling[m]
            word = m
        elif word > 0:
            word = head[word]
        else:
            return Gold(head, label, modifiers, first, rank)


@kernel
def next_kind(system, c, gold):
    """Return the kind of the next transition of the static oracle, or -1 if it has none. O(1).

    The label of an arc is the gold label of its dependent. Arc-eager reduces as late as possible. In the other systems,
    an arc waits until its dependent has all its modifiers. A swap is taken as soon as the projective order requires it.
    """
    kinds = allowed(system, c)
    for kind in (LEFT_ARC, RIGHT_ARC):
        if kinds & (1 << kind):
            head, dependent = system.left if kind == LEFT_ARC else system.right
            d = at(c, dependent)
            complete = system.reduce or c[LEFTS, d] + c[RIGHTS, d] == gold.modifiers[d]
            if gold.heads[d] == at(c, head) and complete:
                return kind
    s0, s1, t0 = stacked(c, 0), stacked(c, 1), ahead(c, 0)
    if kinds & (1 << REDUCE):
        h = gold.heads[t0]
        if gold.first[t0] < s0 or (h < s0 and (h > 0 or system.rooted)):
            return REDUCE
    if kinds & (1 << SWAP) and gold.rank[s0] < gold.rank[s1]:
        return SWAP
    return SHIFT if kinds & (1 << SHIFT) else -1


@kernel
def dependent_of(system, c, kind):
    """Return the dependent of the arc that a transition draws, or NO_HEAD if it draws no arc."""
    if kind < LEFT_ARC:
        return NO_HEAD
    return at(c, system.left[1] if kind == LEFT_ARC else system.right[1])


@kernel
def derive(system, c, gold, root_label):
    """Return the static oracle's derivation of a tree, and whether the derivation rebuilds the tree. O(T).

    The derivation is int32[T, 2] kinds and labels, with label -1 for a transition without one. c is working memory:
    any configuration that is large enough.
    """
    n = len(gold.heads) - 1
    start(system, c, n, root_label)
    moves = np.empty((most_transitions(system, n), 2), np.int32)
    count = 0
    while True:
        kind = next_kind(system, c, gold)
        if kind < 0:
            break
        d = dependent_of(system, c, kind)
        moves[count, 0], moves[count, 1] = kind, gold.labels[d] if d > 0 else -1
        take(system, c, kind, moves[count, 1])
        count += 1
    rebuilt = allowed(system, c) == 0
    for m in range(1, n + 1):
        rebuilt &= max(c[HEAD, m], 0) == gold.heads[m] and c[LABEL, m] == gold.labels[m]
    return moves[:count], rebuilt


@kernel
def costs(system, c, heads, out):
    """Write the cost of each kind of transition to out int32[5]: the number of gold heads that it makes unreachable.

    heads int32[n + 1] belong to a projective tree. A word without a head counts as attached to 0, where it stays if it
    gets no head. A wrong label, which costs 1 on an arc to the gold head, is not included. The costs hold for
    arc-eager and arc-hybrid. O(n). Oracle: enumeration of all continuations (tests/test_transition_oracles.py).
    """
    kinds = allowed(system, c)
    out[:] = 0
    s0, s1, t0 = stacked(c, 0), stacked(c, 1), ahead(c, 0)
    to_s0, to_t0, head_on_stack = 0, 0, False
    if s0 != NO_HEAD:
        for i in range(c[SIZES, 1]):  # gold modifiers that s0 can still get from the buffer
            to_s0 += heads[c[BUFFER, i]] == s0
    if t0 != NO_HEAD:
        for i in range(c[SIZES, 0]):  # gold modifiers, or the gold head, that the next word can get from the stack
            word = c[STACK, i]
            to_t0 += heads[word] == t0 and c[HEAD, word] == NO_HEAD
            # arc-hybrid can still draw s0 -> t0 after SHIFT; arc-eager leaves t0 attached to 0 without an arc
            head_on_stack |= heads[t0] == word and (word > 0 if system.reduce else word != s0)
    out[SHIFT] += to_t0 + head_on_stack
    out[REDUCE] += to_s0
    if kinds & (1 << LEFT_ARC):
        h = heads[s0]
        lost = h > t0 or (h == 0 if system.reduce else h == s1)
        out[LEFT_ARC] += to_s0 + lost
    if kinds & (1 << RIGHT_ARC):
        if system.right[1] == T0:
            h = heads[t0]
            out[RIGHT_ARC] += to_t0 + (h != s0 and (h > t0 or h == 0 or head_on_stack))
        else:
            out[RIGHT_ARC] += to_s0 + (t0 != NO_HEAD and heads[s0] >= t0)
    for kind in range(5):
        if not kinds & (1 << kind):
            out[kind] = FORBIDDEN
    return out


def has_dynamic_oracle(system: System) -> bool:
    """Return whether `costs` is exact for a system."""
    return system.left[0] == T0 and system.right[0] <= S1
