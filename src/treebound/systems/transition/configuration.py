"""Transition systems as data, with the two kernels that all of them share: `allowed` and `take`.

A system states between which words LEFT-ARC and RIGHT-ARC draw arcs. The place of the dependent determines what happens
to it: a dependent in the buffer is pushed onto the stack, and a dependent on the stack is removed.

    arc-eager     Nivre (2003), as stated by Hall, Nivre & Nilsson (2006, section 2.2)
    arc-eager-rooted  the same with word 0 on the stack: the arc from 0 to a root is drawn like any other arc
    arc-standard  Nivre (2004), on the two topmost words of the stack
    arc-hybrid    Kuhlmann, Gomez-Rodriguez & Satta (2011)
    swap          arc-standard with SWAP (Nivre 2009): all trees, also with crossing arcs

Some preconditions are our choice, where the paper leaves them open. LEFT-ARC is not allowed for a dependent that has a
head, and REDUCE is not allowed for a word without a head. So every word that is popped has a head, and a word that
never gets a head remains attached to 0.

A system may be restricted to trees with a single root (`single`). In arc-standard, arc-hybrid and swap, arcs from 0
then wait until the buffer is empty. In arc-eager, unattached words are roots. If several remain when the buffer is
empty, the last one moves back into the buffer, and parsing continues without SHIFT (UNSHIFT, Nivre & Fernandez-Gonzalez
2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.core.registry import Registry
from treebound.support.jit import kernel

#: kinds of transitions; LEFT_ARC and RIGHT_ARC have a label
SHIFT, REDUCE, SWAP, LEFT_ARC, RIGHT_ARC = range(5)
KINDS = ("SHIFT", "REDUCE", "SWAP", "LEFT-ARC", "RIGHT-ARC")

#: places of a configuration that an arc may join: the next word of the buffer, and the two topmost words of the stack
T0, S0, S1 = range(3)

#: rows of a configuration, int32[ROWS, n + 2]; the columns 0..n are words, except in the rows with another comment
STACK = 0  # the stack from its bottom, by depth
BUFFER = 1  # the buffer in reverse order: the next word is the last of the c[SIZES, 1] entries
HEAD = 2  # the head of a word, NO_HEAD until the word is attached
LABEL = 3
LEFT, LEFT2 = 4, 5  # leftmost and second leftmost modifier to the left; NO_HEAD if missing
RIGHT, RIGHT2 = 6, 7  # rightmost and second rightmost modifier to the right; NO_HEAD if missing
LEFTS, RIGHTS = 8, 9  # number of modifiers on the left and on the right
LEFT_LABELS, RIGHT_LABELS = 10, 11  # labels of the modifiers on each side, as a set of bits (label modulo `SET`)
SIZES = 12  # columns 0 and 1: number of words on the stack and in the buffer; column 2: 1 after UNSHIFT, else 0
ROWS = 13
SET = 31  #: number of bits in a set of labels


class System(NamedTuple):
    """A transition system, described by the places of its arcs and its kinds of transitions.

    left, right  places (head, dependent) of the words that LEFT-ARC and RIGHT-ARC join. A place is T0 (next word),
                 S0 (top of the stack) or S1 (below the top)
    reduce       whether the system has REDUCE; then words on the stack may have a head
    swap         whether the system has SWAP
    rooted       whether word 0 is at the bottom of the stack
    single       whether trees have a single root; no effect on arc-eager-rooted, which draws arcs from 0 immediately
    """

    left: tuple[int, int]
    right: tuple[int, int]
    reduce: bool
    swap: bool
    rooted: bool
    single: bool = False


SYSTEMS: Registry[System] = Registry("transition system")
SYSTEMS.register("arc-eager", System((T0, S0), (S0, T0), True, False, False))
SYSTEMS.register("arc-eager-rooted", System((T0, S0), (S0, T0), True, False, True))
SYSTEMS.register("arc-standard", System((S0, S1), (S1, S0), False, False, True))
SYSTEMS.register("arc-hybrid", System((T0, S0), (S1, S0), False, False, True))
SYSTEMS.register("swap", System((S0, S1), (S1, S0), False, True, True))


@kernel
def most_transitions(system, n):
    """Return an upper bound on the number of transitions for a sentence of n words."""
    return (3 if system.single else 2) * n + (n * (n - 1) if system.swap else 0)


@kernel
def start(system, c, n, root_label):
    """Set c int32[ROWS, >= n + 2] to the initial configuration: all words unattached, with the root label. O(n)."""
    for i in range(n + 1):
        c[HEAD, i] = c[LEFT, i] = c[LEFT2, i] = c[RIGHT, i] = c[RIGHT2, i] = NO_HEAD
        c[LABEL, i] = root_label
        c[LEFTS, i] = c[RIGHTS, i] = c[LEFT_LABELS, i] = c[RIGHT_LABELS, i] = 0
        c[BUFFER, i] = n - i
    c[STACK, 0] = 0
    c[SIZES, 0] = 1 if system.rooted else 0
    c[SIZES, 1] = n
    if n > 0:
        c[SIZES, 2] = 0


@kernel(inline="always")
def stacked(c, i):
    """Return the word at depth i of the stack (0 is the top), or NO_HEAD if the stack is not that deep."""
    return c[STACK, c[SIZES, 0] - 1 - i] if i < c[SIZES, 0] else NO_HEAD


@kernel(inline="always")
def ahead(c, i):
    """Return word i of the buffer (0 is the next word), or NO_HEAD if the buffer is too short."""
    return c[BUFFER, c[SIZES, 1] - 1 - i] if i < c[SIZES, 1] else NO_HEAD


@kernel(inline="always")
def at(c, place):
    """Return the word at T0 (next word), S0 (top of the stack) or S1 (below it), or NO_HEAD if that place is empty."""
    return ahead(c, 0) if place == T0 else stacked(c, place - S0)


@kernel
def allowed(system, c):
    """Return the allowed kinds of transitions as bits: bit k is set if kind k is allowed.

    The result is 0 for a terminal configuration. O(1).
    """
    kinds = 0
    s0, s1, t0 = stacked(c, 0), stacked(c, 1), ahead(c, 0)
    if t0 != NO_HEAD:
        if not system.single or c[SIZES, 2] == 0 or s0 == NO_HEAD:
            kinds |= 1 << SHIFT
        if system.reduce and s0 > 0 and c[HEAD, s0] != NO_HEAD:
            kinds |= 1 << REDUCE
    if system.swap and 0 < s1 < s0:
        kinds |= 1 << SWAP
    for kind in (LEFT_ARC, RIGHT_ARC):
        head, dependent = system.left if kind == LEFT_ARC else system.right
        h, d = at(c, head), at(c, dependent)
        waits = h == 0 and t0 != NO_HEAD and system.single and not system.reduce
        if h != NO_HEAD and d > 0 and c[HEAD, d] == NO_HEAD and not waits:
            kinds |= 1 << kind
    return kinds


@kernel
def take(system, c, kind, label):
    """Apply an allowed transition, given by its kind and label, to configuration c. O(1)."""
    if kind == SHIFT:
        _push(c)
    elif kind == REDUCE:
        c[SIZES, 0] -= 1
    elif kind == SWAP:
        _remove_second(c)
    else:
        head, dependent = system.left if kind == LEFT_ARC else system.right
        _attach(c, at(c, head), at(c, dependent), label)
        if dependent == T0:
            _push(c)
        elif dependent == S0:
            c[SIZES, 0] -= 1
        else:
            _remove_second(c)
            c[SIZES, 1] -= 1
    if system.single and system.reduce and not system.rooted and c[SIZES, 1] == 0:
        _take_back(c)


@kernel
def _take_back(c):
    """Move the last unattached word of the stack back into the buffer, unless no other word of the stack is unattached.

    O(1) amortised.
    """
    while c[SIZES, 0] > 0 and c[HEAD, stacked(c, 0)] != NO_HEAD:
        c[SIZES, 0] -= 1
    if c[SIZES, 0] > 1:  # the lowest word of the stack never has a head
        c[BUFFER, 0] = stacked(c, 0)
        c[SIZES, 0] -= 1
        c[SIZES, 1] = 1
        c[SIZES, 2] = 1


@kernel
def _push(c):
    """Push the next word of the buffer onto the stack."""
    c[STACK, c[SIZES, 0]] = ahead(c, 0)
    c[SIZES, 0] += 1
    c[SIZES, 1] -= 1


@kernel
def _remove_second(c):
    """Move the second word of the stack to the front of the buffer."""
    top = c[SIZES, 0] - 1
    c[BUFFER, c[SIZES, 1]] = c[STACK, top - 1]
    c[SIZES, 1] += 1
    c[STACK, top - 1] = c[STACK, top]
    c[SIZES, 0] = top


@kernel
def _attach(c, h, d, label):
    """Add the arc h -> d and update the modifiers of h that features read. Arcs may come in any order (swap)."""
    c[HEAD, d] = h
    c[LABEL, d] = label
    if d < h:
        outer, inner, count, labels = LEFT, LEFT2, LEFTS, LEFT_LABELS
    else:
        outer, inner, count, labels = RIGHT, RIGHT2, RIGHTS, RIGHT_LABELS
    c[count, h] += 1
    c[labels, h] |= 1 << (label % SET)
    if c[outer, h] == NO_HEAD or (d < c[outer, h]) == (d < h):
        c[inner, h] = c[outer, h]
        c[outer, h] = d
    elif c[inner, h] == NO_HEAD or (d < c[inner, h]) == (d < h):
        c[inner, h] = d


@kernel
def tree(c, heads, labels):
    """Write the tree of a configuration to heads and labels, int32[n] each. A word without a head is attached to 0."""
    for i in range(len(heads)):
        heads[i] = max(c[HEAD, i + 1], 0)
        labels[i] = c[LABEL, i + 1]


def configuration(words: int) -> np.ndarray:
    """Return an empty configuration, int32[ROWS, words + 2], for sentences of up to `words` words."""
    return np.zeros((ROWS, words + 2), np.int32)
