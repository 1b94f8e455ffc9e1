"""Feature `attachment`: the head, preposition and argument of a prepositional phrase, also under coordination.

Zhang et al. (2014), section 4 and Figure 6. Treebanks have two structures. In the first, the argument depends on
the preposition, which depends on the head of the phrase. In the second, as in Universal Dependencies, the preposition
depends on the argument, which depends on the head of the phrase. If arguments are coordinated, all conjuncts count as
arguments, up to MOST.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import head_of
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import (
    COORDINATOR,
    LOWER,
    MOST,
    PUNCTUATION,
    TAG,
    begin,
    join,
    put,
)


@kernel
def see(ints, view, w):
    """Describe how preposition w is attached: write integers to view.seen and return their number.

    The integers are the kind of attachment (1: the argument depends on the preposition; 2: the preposition depends on
    the argument), the head of the phrase, and the arguments. `ints` holds the tree.
    """
    seen, h = view.seen, head_of(ints, w)
    seen[0], seen[1], count = 1, h, 2
    m = ints[ints[at.FIRST] + w]
    while m != NONE and count < MOST + 2:
        if view.words[COORDINATOR, m]:
            c = ints[ints[at.FIRST] + m]
            while c != NONE and count < MOST + 2:
                count = _argument(view, c, count)
                c = ints[ints[at.NEXT] + c]
        else:
            count = _argument(view, m, count)
        m = ints[ints[at.NEXT] + m]
    if count > 2 or h == 0:
        return count
    seen[0], seen[1], seen[2], count = 2, head_of(ints, h), h, 3
    m = ints[ints[at.LAST] + h]
    while m != NONE and m > h and count < MOST + 2:
        c = ints[ints[at.FIRST] + m]
        while c != NONE and not view.words[COORDINATOR, c]:
            c = ints[ints[at.NEXT] + c]
        if c != NONE:
            count = _argument(view, m, count)
        m = ints[ints[at.BEFORE] + m]
    return count


@kernel(inline="always")
def _argument(view, m, count):
    if view.words[PUNCTUATION, m]:
        return count
    view.seen[count] = m
    return count + 1


@kernel
def name(code, view, w, count):
    """Write the feature hashes of preposition w to view.names and return their number.

    Each feature joins one argument with the preposition and the head of the phrase. Argument and head are read as forms
    or as tags, in all four combinations. `code` is the number of the global feature, and `count` is the result of
    `see`.
    """
    words, governor, i = view.words, view.seen[1], 0
    way = join(join(begin(code, 0), view.seen[0]), words[LOWER, w])
    for k in range(2, count):
        m = view.seen[k]
        i = put(view, i, join(join(join(way, 1), words[LOWER, governor]), words[LOWER, m]))
        i = put(view, i, join(join(join(way, 2), words[LOWER, governor]), words[TAG, m]))
        i = put(view, i, join(join(join(way, 3), words[TAG, governor]), words[LOWER, m]))
        i = put(view, i, join(join(join(way, 4), words[TAG, governor]), words[TAG, m]))
    return i
