"""Transition systems as data, and the two kernels that all of them share: which transitions are allowed, taking one.

A system says between which words LEFT-ARC and RIGHT-ARC draw their arcs. What happens to the dependent follows from
where it stands: from the buffer it is pushed, from the stack it is taken away.

    arc-eager     Nivre (2003), as Hall, Nivre & Nilsson (2006, section 2.2) state it
    arc-eager-rooted  the same with word 0 on the stack: the arc to a root is drawn like any other
    arc-standard  Nivre (2004), on the two topmost words of the stack
    arc-hybrid    Kuhlmann, Gomez-Rodriguez & Satta (2011)
    swap          arc-standard and SWAP (Nivre 2009): all trees, crossing ones too

The preconditions that the paper leaves open are ours. LEFT-ARC of a word that has a head is not allowed, nor is REDUCE
of one that has none: every word that is popped has a head, and a word that never gets one stays attached to 0.

A system may be restricted to trees with a single root (`single`). Where the stack is rooted, arcs from 0 then wait
until the buffer is empty. Arc-eager, whose unattached words are roots, takes the last of several ones back from the
stack into the buffer as soon as that is empty, and parses on without SHIFT (UNSHIFT, Nivre & Fernandez-Gonzalez 2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.core.registry import Registry
from treebound.support.jit import kernel

#: kinds of transitions; those from LEFT_ARC on have a label
SHIFT, REDUCE, SWAP, LEFT_ARC, RIGHT_ARC = range(5)
KINDS = ("SHIFT", "REDUCE", "SWAP", "LEFT-ARC", "RIGHT-ARC")

#: places of a configuration that an arc may join
T0, S0, S1 = range(3)

#: rows of a configuration, int32[ROWS, n + 2], whose columns 0..n are words unless said otherwise:
STACK = 0  # the stack from its bottom, by depth
BUFFER = 1  # the buffer from its end, so that the next word is the last of `SIZES[1]`
HEAD = 2  # NO_HEAD until there is one
LABEL = 3
LEFT, LEFT2 = 4, 5  # leftmost modifier to the left, and the one after it; NO_HEAD where there is none
RIGHT, RIGHT2 = 6, 7  # rightmost modifier to the right, and the one before it
LEFTS, RIGHTS = 8, 9  # how many modifiers there are on either side
LEFT_LABELS, RIGHT_LABELS = 10, 11  # their labels, as a set of bits (numbers modulo `SET`)
SIZES = 12  # columns 0 and 1: words on the stack and in the buffer; column 2: 1 once a word was taken back
ROWS = 13
SET = 31  #: bits of a set of labels


class System(NamedTuple):
    """One transition system.

    left, right  (head, dependent) of the arcs of LEFT-ARC and RIGHT-ARC, each one of T0, S0, S1
    reduce       whether there is REDUCE; then words on the stack may have a head
    swap         whether there is SWAP
    rooted       whether word 0 is at the bottom of the stack
    single       whether trees have one root; without effect on arc-eager-rooted, which draws its arcs from 0 at once
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
    """Upper bound of the number of transitions of a sentence of n words."""
    return (3 if system.single else 2) * n + (n * (n - 1) if system.swap else 0)


@kernel
def start(system, c, n, root_label):
    """Make c int32[ROWS, >= n + 2] the initial configuration, every word unattached with the label of roots. O(n)."""
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
    """The word at depth i of the stack (0 is the top), NO_HEAD if there is none."""
    return c[STACK, c[SIZES, 0] - 1 - i] if i < c[SIZES, 0] else NO_HEAD


@kernel(inline="always")
def ahead(c, i):
    """The i-th word of the buffer, NO_HEAD if there is none."""
    return c[BUFFER, c[SIZES, 1] - 1 - i] if i < c[SIZES, 1] else NO_HEAD


@kernel(inline="always")
def at(c, place):
    """The word at T0, S0 or S1, NO_HEAD if there is none."""
    return ahead(c, 0) if place == T0 else stacked(c, place - S0)


@kernel
def allowed(system, c):
    """Bits of the kinds that may be taken next (bit SHIFT, ...); 0 in a terminal configuration. O(1)."""
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
    """Apply a transition that is allowed. O(1)."""
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
    """The last unattached word from the stack into the buffer, if it is not the only one. O(1) amortised."""
    while c[SIZES, 0] > 0 and c[HEAD, stacked(c, 0)] != NO_HEAD:
        c[SIZES, 0] -= 1
    if c[SIZES, 0] > 1:  # the lowest word of the stack never has a head
        c[BUFFER, 0] = stacked(c, 0)
        c[SIZES, 0] -= 1
        c[SIZES, 1] = 1
        c[SIZES, 2] = 1


@kernel
def _push(c):
    """The next word onto the stack."""
    c[STACK, c[SIZES, 0]] = ahead(c, 0)
    c[SIZES, 0] += 1
    c[SIZES, 1] -= 1


@kernel
def _remove_second(c):
    """The word below the top of the stack, back to the front of the buffer."""
    top = c[SIZES, 0] - 1
    c[BUFFER, c[SIZES, 1]] = c[STACK, top - 1]
    c[SIZES, 1] += 1
    c[STACK, top - 1] = c[STACK, top]
    c[SIZES, 0] = top


@kernel
def _attach(c, h, d, label):
    """The arc h -> d, and what features ask about the modifiers of h. Arcs may come in any order (swap)."""
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
    """Write the arcs to heads and labels, int32[n] each; a word without a head is attached to 0."""
    for i in range(len(heads)):
        heads[i] = max(c[HEAD, i + 1], 0)
        labels[i] = c[LABEL, i + 1]


def configuration(words: int) -> np.ndarray:
    """int32[ROWS, words + 2], for sentences of up to so many words."""
    return np.zeros((ROWS, words + 2), np.int32)
